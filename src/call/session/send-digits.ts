// Sends DTMF digits to the far end of a connected call at a client's request, for voice menus. If the provider can send
// them, any node may ask it; if not, the node with the call sends the tones.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Store } from '../../store/store.ts';
import type { CallRoute, ProviderHangUp } from '../end/closing/provider-hang-up.ts';
import type { CallRegistry } from './call-registry.ts';

const SEND_MS_MAX = 5_000;

export interface DigitRequestsDeps {
  store: Pick<Store, 'runs'>;
  registry: Pick<CallRegistry, 'session'>;
  hangUps: Pick<ProviderHangUp, 'routeOf'>;
  clock: Clock;
}

export interface DigitsWanted {
  organizationId: string;
  runId: string;
  /** 0-9 * # A-D, `w` for a pause. */
  digits: string;
}

export class DigitRequests {
  readonly #deps: DigitRequestsDeps;

  constructor(deps: DigitRequestsDeps) {
    this.#deps = deps;
  }

  /** Sends the digits. Throws RUN_NOT_FOUND, CALL_NOT_TALKING, DIGITS_UNSUPPORTED, DIGITS_WAITING,
   *  CALL_OUT_OF_REACH, PROVIDER_* codes. */
  async send({ organizationId, runId, digits }: DigitsWanted): Promise<void> {
    const { store, hangUps } = this.#deps;
    const run = await store.runs.get(organizationId, runId);
    if (run === undefined) throw new GatewayError('RUN_NOT_FOUND');
    if (run.state !== 'running') throw new GatewayError('CALL_NOT_TALKING');
    const route = await hangUps.routeOf(run);
    if (route === undefined || run.providerCallId === null)
      throw new GatewayError('CALL_OUT_OF_REACH');
    if (route.provider.capabilities.digitsOut === 'tones') this.#sendTones(runId, digits, route);
    else await this.#request(run.providerCallId, digits, route);
    this.#deps.registry.session(runId)?.note({ type: 'digits.sent', digits });
  }

  #sendTones(runId: string, digits: string, { provider }: CallRoute): void {
    const session = this.#deps.registry.session(runId);
    if (session === undefined) {
      throw new GatewayError('DIGITS_UNSUPPORTED', { provider: provider.name });
    }
    session.press(digits);
  }

  async #request(callId: string, digits: string, route: CallRoute): Promise<void> {
    const deadline = deadlineSignal(this.#deps.clock, SEND_MS_MAX, 'send digits');
    try {
      const { provider, configuration } = route;
      const { credentials } = configuration;
      await provider.control.sendDigits?.(credentials, callId, digits, deadline.signal);
    } finally {
      deadline.done();
    }
  }
}
