// The API's interface to calls: start a call, answer a provider's webhooks, drain. Folders above use only this
// interface.

import type { ProviderName } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { ProviderRequest, WebhookReply } from '../telephony/provider/provider.ts';
import type { StartCall, StartedCall, TestCall } from './start/setup/call-start.ts';
import type { StartedWebCall, WebCall } from './start/setup/web-call.ts';

export interface CallService {
  /** Starts a call. Throws errors in the order of contract §6.1. If the provider refuses, the run is stored and
   *  completed. A repeated request with the same key gets the answer of the first; the same key with a different
   *  request throws START_KEY_REUSED. */
  start(request: StartCall): Promise<StartedCall>;
  /** Starts a test call, with the same rules as `start`. */
  startTest(request: TestCall): Promise<StartedCall>;
  /** Starts a call from a browser, which waits for its page's socket. Throws the errors of `start` for agents and
   *  limits. */
  startWeb(request: WebCall): Promise<StartedWebCall>;
  /** Ends a run's call, on this or another node; returns the run. A run that was never dialled is closed; a
   *  completed one is unchanged. Throws RUN_NOT_FOUND, RUN_WITHOUT_CALL, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  hangUp(wanted: { organizationId: string; runId: string }): Promise<Run>;
  /** Sends DTMF digits in a connected call, on this or another node. Throws RUN_NOT_FOUND, CALL_NOT_TALKING,
   *  DIGITS_UNSUPPORTED, CALL_ELSEWHERE, CALL_OUT_OF_REACH, PROVIDER_* codes. */
  sendDigits(wanted: { organizationId: string; runId: string; digits: string }): Promise<void>;
  /** Answers an inbound call's webhook. Refusals are markup with status 200. `workflowId` is set by the deprecated
   *  route only: the workflow then selects the agent and the organization. */
  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply>;
  /** Answers the answer URL of a call that we placed. Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  answer(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Answers a provider that asks what to do with a call whose media have ended: another process goes on with it, or it
   *  ends. Throws WEBHOOK_SIGNATURE, RUN_NOT_FOUND. */
  resume(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Answers a provider that asks what to do next with a caller who waits for a place. Throws WEBHOOK_SIGNATURE,
   *  RUN_NOT_FOUND. */
  wait(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Handles a status or answered-by callback. With a transfer id instead of a run id, the callback is about the
   *  transfer's destination. Ignores unknown runs. Throws WEBHOOK_SIGNATURE. */
  event(provider: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply>;
  /** Handles a callback of a route that names no run, as `event` does. */
  accountEvent(provider: ProviderName, request: ProviderRequest): Promise<WebhookReply>;
  readonly activeCalls: number;
}
