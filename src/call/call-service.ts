// What the API asks of calls: start one, answer a provider's webhooks, drain. The interface only; the
// folders above see nothing else of a call.

import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';

export interface StartCall {
  organizationId: string;
  /** Null if a user who has logged in started it. */
  apiKeyId: string | null;
  apiKeyCreatedBy: string;
  /** What the caller named: an agent or one of its triggers. */
  agent: { type: 'workflow_uuid' | 'trigger_path'; identifier: string };
  /** Test runs use the draft and the template variables. */
  mode: 'production' | 'test';
  phoneNumber: string;
  initialContext: Record<string, unknown>;
  configurationId: string | null;
  fromPhoneNumberId: string | null;
  /** By this a request that comes again is known; null if the client gave none. */
  idempotencyKey: string | null;
}

/** A call to try an agent out: its draft, or what is published if there is none. */
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
  /** Errors in the order of contract §6.1. On a refusal by the provider the run is kept, completed. A
   *  request that comes again with its key gets the first one's answer; a key of another request
   *  throws START_KEY_REUSED. */
  start(request: StartCall): Promise<StartedCall>;
  /** The same for a call to try an agent out. */
  startTest(request: TestCall): Promise<StartedCall>;
  /** Ends a run's call, here or on another node; the run as it is then. One that was never dialled is
   *  closed, one that is completed already stays. Throws RUN_NOT_FOUND, RUN_WITHOUT_CALL, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run>;
  /** Presses keys in a call that talks, here or on another node. Throws RUN_NOT_FOUND, CALL_NOT_TALKING,
   *  DIGITS_UNSUPPORTED, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  sendDigits(wanted: { organizationId: string; runId: string; digits: string }): Promise<void>;
  /** An inbound call's webhook. Refusals are markup with status 200. With `workflowId`, the
   *  deprecated route: the workflow selects the agent and the organization. */
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  /** The answer URL of a call that we placed. Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  answer(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** A status or answered-by callback. Throws WEBHOOK_SIGNATURE. An unknown run is ignored. */
  event(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  readonly activeCalls: number;
}
