// Rate limit of an account's dials: the limit of its configuration, else the one that its provider enforces. Calls that
// clients start wait for their turn here; campaigns claim calls at the same rate (campaign/dispatcher.ts).

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Store } from '../../../store/store.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';

/** Longest wait for a turn. A client waits for the answer to its start, which includes the provider's answer to the
 *  dial. */
const WAIT_MS_MAX = 5_000;

interface Line {
  configuration: Pick<TelephonyConfiguration, 'id' | 'callsPerSecond'>;
  provider: TelephonyProvider;
}

/** Calls per second of the account; null: any number. */
export function callsPerSecondOf({ configuration, provider }: Line): number | null {
  return configuration.callsPerSecond ?? provider.capabilities.callsPerSecond ?? null;
}

export class AccountPace {
  readonly #store: Pick<Store, 'telephony'>;
  readonly #clock: Clock;

  constructor({ store, clock }: { store: Pick<Store, 'telephony'>; clock: Clock }) {
    this.#store = store;
    this.#clock = clock;
  }

  /** Waits until the account may dial; resolves with true if the dial had to wait. Throws PROVIDER_CAPACITY at once
   *  if the next turn is more than 5 s ahead, and STORE_UNAVAILABLE. */
  async turn(line: Line): Promise<boolean> {
    const callsPerSecond = callsPerSecondOf(line);
    if (callsPerSecond === null) return false;
    const wanted = { callsPerSecond, waitMsMax: WAIT_MS_MAX };
    const waitMs = await this.#store.telephony.takeDialTurn(line.configuration.id, wanted);
    if (waitMs === undefined) {
      const reason = `the account's ${callsPerSecond} calls a second are used up for the next ${WAIT_MS_MAX / 1_000} s`;
      throw new GatewayError('PROVIDER_CAPACITY', { provider: line.provider.name, reason });
    }
    if (waitMs === 0) return false;
    await new Promise<void>((resolve) => this.#clock.after(waitMs, resolve));
    return true;
  }
}
