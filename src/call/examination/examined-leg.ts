// Provider requests of an examination call over REST. Every request has a deadline.

import type { CallStatus } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { HostedProvider } from '../../telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';
import { callbackUrls } from '../start/setup/callback-urls.ts';
import type { AgentLines } from './examination-agent.ts';

/** Ring time of an examination call, in seconds. */
export const EXAMINATION_RING_S = 30;
/** Longest call, in seconds. The provider ends it then: nothing else does if this process dies. */
const CALL_S = 60;
const DIAL_MS_MAX = 15_000;
const COMMAND_MS_MAX = 10_000;

export interface ExaminationOrder {
  /** The call's id, in the place of a run's id. */
  id: string;
  organizationId: string;
  provider: HostedProvider;
  credentials: ProviderCredentials;
  /** Caller id, in the provider's format. */
  from: string | null;
  to: string;
  lines: AgentLines;
  publicUrl: string;
}

export class ExaminedLeg {
  readonly #order: ExaminationOrder;
  readonly #clock: Clock;

  constructor(order: ExaminationOrder, clock: Clock) {
    this.#order = order;
    this.#clock = clock;
  }

  /** The provider's id of the call. Throws PROVIDER_*. */
  async dial(): Promise<string> {
    const { id, provider, credentials, from, to, publicUrl } = this.#order;
    const { answerUrl, statusUrl, answeredByUrl } = callbackUrls(publicUrl, provider, id);
    const request = {
      runId: id,
      from,
      to,
      answerUrl,
      statusUrl,
      answeredByUrl,

      ringS: EXAMINATION_RING_S,
      callS: CALL_S,
    };
    const { callId } = await this.#within(DIAL_MS_MAX, (signal) =>
      provider.control.dial(credentials, request, signal),
    );
    return callId;
  }

  /** Hangs up. Throws PROVIDER_*. */
  hangUp(callId: string): Promise<void> {
    const { provider, credentials } = this.#order;
    return this.#within(COMMAND_MS_MAX, (signal) =>
      provider.control.hangUp(credentials, callId, signal),
    );
  }

  /** Status of the call; undefined: the provider does not know the call. Throws PROVIDER_*. */
  async status(callId: string): Promise<CallStatus | undefined> {
    const { provider, credentials } = this.#order;
    const call = await this.#within(COMMAND_MS_MAX, (signal) =>
      provider.control.getCall(credentials, callId, signal),
    );
    return call?.status;
  }

  /** Sends DTMF digits. Throws PROVIDER_*. */
  async sendDigits(callId: string, digits: string): Promise<void> {
    const { provider, credentials } = this.#order;
    await this.#within(COMMAND_MS_MAX, async (signal) =>
      provider.control.sendDigits?.(credentials, callId, digits, signal),
    );
  }

  async #within<T>(ms: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, done } = deadlineSignal(this.#clock, ms, 'a request of an examination call');
    try {
      return await ask(signal);
    } finally {
      done();
    }
  }
}
