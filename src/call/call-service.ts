// The API's interface to calls: start one, answer a provider's webhooks, drain. The folders above use nothing else
// of a call.

import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';

export interface StartCall {
  organizationId: string;
  /** Null if a user who has logged in started it. */
  apiKeyId: string | null;
  apiKeyCreatedBy: string;
  /** As the client named it: an agent or one of its triggers. */
  agent: { type: 'workflow_uuid' | 'trigger_path'; identifier: string };
  /** Test runs use the draft and the template variables. */
  mode: 'production' | 'test';
  phoneNumber: string;
  initialContext: Record<string, unknown>;
  configurationId: string | null;
  fromPhoneNumberId: string | null;
  /** The client's idempotency key; null without one. */
  idempotencyKey: string | null;
}

/** A call that tests an agent: its draft, or the published version without one. */
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
  /** A run that was created without a call; null makes one. */
  runId: string | null;
  /** Null: the organization's test number. */
  phoneNumber: string | null;
}

export interface StartedCall {
  runId: string;
  runName: string;
}

export interface CallService {
  /** Errors in the order of contract §6.1. If the provider refuses, the run is stored and completed. A repeated
   *  request with its key gets the first one's answer; a key of a different request throws START_KEY_REUSED. */
  start(request: StartCall): Promise<StartedCall>;
  /** The same for a call that tests an agent. */
  startTest(request: TestCall): Promise<StartedCall>;
  /** Ends a run's call, on this or another node; returns the run. A run that was never dialled is closed; a
   *  completed one is unchanged. Throws RUN_NOT_FOUND, RUN_WITHOUT_CALL, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run>;
  /** Sends DTMF digits in a call that talks, on this or another node. Throws RUN_NOT_FOUND, CALL_NOT_TALKING,
   *  DIGITS_UNSUPPORTED, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  sendDigits(wanted: { organizationId: string; runId: string; digits: string }): Promise<void>;
  /** An inbound call's webhook. Refusals are markup with status 200. With `workflowId`, the
   *  deprecated route: the workflow selects the agent and the organization. */
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  /** The answer URL of a call that we placed. Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  answer(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** A status or answered-by callback; with the id of a transfer instead of a run's, one about its destination. Throws
   *  WEBHOOK_SIGNATURE. An unknown run is ignored. */
  event(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** The same of a route that names no run. */
  accountEvent(provider: ProviderName, request: ProviderRequest): Promise<WebhookReply>;
  readonly activeCalls: number;
}
