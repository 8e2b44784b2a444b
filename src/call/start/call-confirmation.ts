// Asks a provider about a call whose webhook does not prove its content. Requests about one call are limited: the
// sender of unsigned or repeated webhooks must not use up the account's request budget.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { isTerminal } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type {
  CallSnapshot,
  HostedProvider,
  ProviderEvent,
} from '../../telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';

/** Deadline of one confirmation with its retries: the provider waits for our reply meanwhile. */
const CONFIRM_MS = 4_000;
/** Time in which a new call is looked for again: it may be missing in the provider's lists at first. A provider
 *  gives up on a reply after about two seconds. */
const LISTED_MS = 1_500;
const ATTEMPTS_MAX = 4;
/** Pause before the second attempt; each further pause is twice as long. */
const PAUSE_MS = 200;
/** Burst of confirmations for one call; a call has about ten state changes. */
const BURST_MAX = 20;
/** Time in which one more confirmation becomes possible. */
const REFILL_MS = 10_000;
/** Calls whose confirmations are counted, more than a process holds. Beyond, the oldest is removed. */
const CALLS_MAX = 10_000;

export interface AskedCall {
  provider: HostedProvider;
  configuration: { id: string; credentials: ProviderCredentials };
  callId: string;
}

export type CallStep = Omit<Extract<ProviderEvent, { kind: 'status' }>, 'kind'>;

/** A run, and the provider and configuration of its call. */
export interface ProviderCall {
  run: Run;
  configuration: TelephonyConfiguration;
  provider: HostedProvider;
}

interface Allowance {
  left: number;
  atMs: number;
}

export class CallConfirmation {
  readonly #clock: Clock;
  readonly #log: Log;
  /** Allowances by configuration and call, least recently asked first. */
  readonly #allowances = new Map<string, Allowance>();

  constructor({ clock, log }: { clock: Clock; log: Log }) {
    this.#clock = clock;
    this.#log = log;
  }

  /** `event` as far as the provider confirms it; undefined if it does not. Throws PROVIDER_*. */
  async confirmed(
    { run, configuration, provider }: ProviderCall,
    event: CallStep & { kind: 'status' },
  ): Promise<(CallStep & { kind: 'status' }) | undefined> {
    const { callId, status } = event;
    if (run.providerCallId !== null && run.providerCallId !== callId) return undefined;
    if (run.state === 'completed') return undefined;
    const found = await this.look({ provider, configuration, callId });
    if (found === undefined || found.status !== status) {
      const facts = { runId: run.id, status, found: found?.status ?? 'none' };
      this.#log.warn(facts, 'status not confirmed by the provider');
    }
    if (found === undefined) {
      // A provider may delete a call at its end; only the provider and the gateway know its id.
      const isEnd = isTerminal(status) && run.providerCallId === callId;
      return isEnd ? { ...event, durationS: null, raw: { confirmed_status: 'gone' } } : undefined;
    }
    const raw = { confirmed_status: found.status };
    return { ...event, status: found.status, durationS: found.durationS, raw };
  }

  /** Whether the call may be asked about again at this moment. */
  mayAsk(call: AskedCall): boolean {
    return this.#allowance(call).left >= 1;
  }

  /** Looks the call up at its provider; undefined if the provider does not know it. Throws PROVIDER_*:
   *  PROVIDER_CAPACITY also if the call was asked about too often. */
  async look(call: AskedCall): Promise<CallSnapshot | undefined> {
    return this.#within(call, (signal) => ask(call, signal));
  }

  /** Looks up a call that began a moment ago, with retries for LISTED_MS. Otherwise as `look`. */
  async lookForNew(call: AskedCall): Promise<CallSnapshot | undefined> {
    const startedMs = this.#clock.monotonicMs();
    return this.#within(call, async (signal) => {
      for (let attempt = 1; ; attempt += 1) {
        const found = await ask(call, signal);
        const pauseMs = PAUSE_MS * 2 ** (attempt - 1);
        const isLate = this.#clock.monotonicMs() - startedMs + pauseMs > LISTED_MS;
        if (found !== undefined || isLate || attempt === ATTEMPTS_MAX) return found;
        await this.#pause(pauseMs);
      }
    });
  }

  async #within<T>(call: AskedCall, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    this.#count(call);
    const { signal, done } = deadlineSignal(this.#clock, CONFIRM_MS, 'confirm a call');
    try {
      return await work(signal);
    } finally {
      done();
    }
  }

  /** Counts one request. Throws PROVIDER_CAPACITY. */
  #count(call: AskedCall): void {
    const { provider } = call;
    const key = keyOf(call);
    const { left, atMs } = this.#allowance(call);
    this.#allowances.delete(key);
    this.#allowances.set(key, { left: left < 1 ? left : left - 1, atMs });
    const [oldest] = this.#allowances.keys();
    if (this.#allowances.size > CALLS_MAX && oldest !== undefined) this.#allowances.delete(oldest);
    if (left >= 1) return;
    const reason = 'too many webhooks about one call';
    throw new GatewayError('PROVIDER_CAPACITY', { provider: provider.name, reason });
  }

  /** The call's allowance at this moment. */
  #allowance(call: AskedCall): Allowance {
    const nowMs = this.#clock.monotonicMs();
    const before = this.#allowances.get(keyOf(call)) ?? { left: BURST_MAX, atMs: nowMs };
    const left = Math.min(BURST_MAX, before.left + (nowMs - before.atMs) / REFILL_MS);
    return { left, atMs: nowMs };
  }

  #pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.#clock.after(ms, resolve);
    });
  }
}

function keyOf({ configuration, callId }: AskedCall): string {
  return `${configuration.id} ${callId}`;
}

function ask(
  { provider, configuration, callId }: AskedCall,
  signal: AbortSignal,
): Promise<CallSnapshot | undefined> {
  return provider.control.getCall(configuration.credentials, callId, signal);
}
