// The API's interface to calls: start a call, answer a provider's webhooks, drain. Folders above use only this
// interface.

import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';

export interface StartCall {
  organizationId: string;
  /** API key of the client; null if a logged-in user started the call. */
  apiKeyId: string | null;
  apiKeyCreatedBy: string;
  /** The agent or trigger, as the client named it. */
  agent: { type: 'workflow_uuid' | 'trigger_path'; identifier: string };
  /** `test`: the run uses the draft and the template variables. */
  mode: 'production' | 'test';
  phoneNumber: string;
  initialContext: Record<string, unknown>;
  configurationId: string | null;
  fromPhoneNumberId: string | null;
  /** The client's idempotency key; null without one. */
  idempotencyKey: string | null;
}

/** A test call of an agent: of its draft, or of the published version if it has no draft. */
export interface TestCall
  extends Pick<
    StartCall,
    | 'organizationId'
    | 'apiKeyId'
    | 'apiKeyCreatedBy'
    | 'configurationId'
    | 'fromPhoneNumberId'
    | 'idempotencyKey'
  > {
  workflowId: string;
  /** A run that was created without a call; null creates one. */
  runId: string | null;
  /** Number to call; null: the organization's test number. */
  phoneNumber: string | null;
}

export interface StartedCall {
  runId: string;
  runName: string;
  /** Template variables of the agent that have no value in the call's context; absent if all have one. */
  variablesWithoutValue?: string[];
}

export interface CallService {
  /** Starts a call. Throws errors in the order of contract §6.1. If the provider refuses, the run is stored and
   *  completed. A repeated request with the same key gets the answer of the first; the same key with a different
   *  request throws START_KEY_REUSED. */
  start(request: StartCall): Promise<StartedCall>;
  /** Starts a test call, with the same rules as `start`. */
  startTest(request: TestCall): Promise<StartedCall>;
  /** Ends a run's call, on this or another node; returns the run. A run that was never dialled is closed; a
   *  completed one is unchanged. Throws RUN_NOT_FOUND, RUN_WITHOUT_CALL, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run>;
  /** Sends DTMF digits in a connected call, on this or another node. Throws RUN_NOT_FOUND, CALL_NOT_TALKING,
   *  DIGITS_UNSUPPORTED, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  sendDigits(wanted: { organizationId: string; runId: string; digits: string }): Promise<void>;
  /** Answers an inbound call's webhook. Refusals are markup with status 200. `workflowId` is set by the deprecated
   *  route only: the workflow then selects the agent and the organization. */
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  /** Answers the answer URL of a call that we placed. Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  answer(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Handles a status or answered-by callback. With a transfer id instead of a run id, the callback is about the
   *  transfer's destination. Ignores unknown runs. Throws WEBHOOK_SIGNATURE. */
  event(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Handles a callback of a route that names no run, as `event` does. */
  accountEvent(provider: ProviderName, request: ProviderRequest): Promise<WebhookReply>;
  readonly activeCalls: number;
}
