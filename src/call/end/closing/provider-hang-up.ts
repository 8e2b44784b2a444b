// Hang-up of a call at its provider: the only place that sends the request, with one deadline and retries within it.
// Works wherever the call is held: in this process, on another node, or nowhere.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { type ProviderName, providerName } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal, withDeadline } from '../../../std/deadline.ts';
import type { Store } from '../../../store/store.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';
import { sendRepeatedly } from '../../../telephony/provider/repeated-command.ts';

/** Deadline of a hang-up with its retries. A provider answers within a second; a closing does not wait longer. */
const HANG_UP_MS_MAX = 5_000;

/** The provider of a call, and what of its configuration calls need: nothing where it has none (`WITHOUT_ACCOUNT`). */
export interface CallRoute {
  provider: TelephonyProvider;
  configuration: Pick<TelephonyConfiguration, 'credentials'>;
}

export interface ConfiguredRoute extends CallRoute {
  configuration: TelephonyConfiguration;
}

/** Stands for the configuration of calls of a direct provider. */
export const WITHOUT_ACCOUNT: CallRoute['configuration'] = { credentials: {} };

export interface ProviderHangUpDeps {
  store: Pick<Store, 'telephony'>;
  providers: { byName(name: ProviderName): TelephonyProvider | undefined };
  clock: Clock;
  log: Log;
}

export class ProviderHangUp {
  readonly #deps: ProviderHangUpDeps;

  constructor(deps: ProviderHangUpDeps) {
    this.#deps = deps;
  }

  /** Hangs up. Has no effect on a call that is over. Throws PROVIDER_* codes, TIMED_OUT. */
  async hangUp({ provider, configuration }: CallRoute, callId: string): Promise<void> {
    const { clock } = this.#deps;
    const { credentials } = configuration;
    const deadline = deadlineSignal(clock, HANG_UP_MS_MAX, 'hang up');
    try {
      const hangUp = () => provider.control.hangUp(credentials, callId, deadline.signal);
      const asked = sendRepeatedly(clock, hangUp, deadline.signal);
      await withDeadline(clock, HANG_UP_MS_MAX, 'hang up', asked);
    } finally {
      deadline.done();
    }
  }

  /** Hangs up, best effort, a call that is closed in any case. Never rejects. */
  async attempt(route: CallRoute, callId: string, runId?: string): Promise<void> {
    try {
      await this.hangUp(route, callId);
    } catch (error) {
      this.#deps.log.warn({ err: error, runId, callId }, 'call not hung up at its provider');
    }
  }

  /** Hangs up a run's call. Throws what `hangUp` throws, and CALL_OUT_OF_REACH if the call's provider is unknown. */
  async hangUpRun(run: Run): Promise<void> {
    const { providerCallId } = run;
    const route = providerCallId === null ? undefined : await this.routeOf(run);
    if (providerCallId === null || route === undefined) throw new GatewayError('CALL_OUT_OF_REACH');
    await this.hangUp(route, providerCallId);
  }

  /** The provider and configuration of the run's call; undefined if the provider is not built, or the
   *  configuration is deleted. */
  async routeOf({
    organizationId,
    configurationId,
    mode,
  }: Run): Promise<ConfiguredRoute | undefined> {
    const { store, providers } = this.#deps;
    const name = providerName.safeParse(mode);
    const provider = name.success ? providers.byName(name.data) : undefined;
    if (provider === undefined || configurationId === null) return undefined;
    const configuration = await store.telephony.getConfiguration(organizationId, configurationId);
    return configuration && { provider, configuration };
  }
}
