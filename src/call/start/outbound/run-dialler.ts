// Dials a run's call, watches it, and closes the run if the provider refuses.

import { codeOf, type ErrorCode, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsRefused, callsStarted } from '../../../metrics/metrics.ts';
import type { Run } from '../../../model/run.ts';
import type { Store } from '../../../store/store.ts';
import { isUncertain } from '../../../telephony/provider/rest-failure.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import type { AccountPace } from './account-pace.ts';
import type { ProviderDial } from './dial.ts';
import type { DialRequestOfRun } from './dial-record.ts';

export interface RunDiallerDeps {
  store: Pick<Store, 'runs'>;
  dial: ProviderDial;
  pace: AccountPace;
  connect: Pick<ConnectServices, 'watchdog' | 'unconnected'>;
  log: Log;
}

export class RunDialler {
  readonly #deps: RunDiallerDeps;

  constructor(deps: RunDiallerDeps) {
    this.#deps = deps;
  }

  /** Dials. If it throws CALL_NOT_PLACED or CALL_UNCERTAIN, the run is stored and completed. */
  async dial(placement: DialRequestOfRun): Promise<void> {
    const { dial, pace, connect, log } = this.#deps;
    const { run, route } = placement;
    const { configuration, provider } = route;
    callsStarted.inc({ provider: provider.name, direction: 'outbound' });
    const call = { run, configuration, provider };
    connect.watchdog.dialled(call);
    try {
      await dial.record.created(placement);
      const hasWaited = await pace.turn(route);
      if (hasWaited && !(await this.#isInitialized(run))) return; // The run was hung up meanwhile.
      await dial.record.dialled(run, await dial.send(placement));
    } catch (error) {
      // The provider's answer to the dial is late or lost, but the call exists.
      if (!(await this.#isInitialized(run))) return;
      callsRefused.inc({ code: codeOf(error) ?? 'UNEXPECTED' });
      log.warn({ err: error, runId: run.id }, 'call not placed');
      await connect.unconnected.fail(call, error);
      const reason = error instanceof GatewayError ? error.message : 'unexpected error';
      throw notPlaced(run, { reason, code: codeOf(error) ?? null }, error);
    }
  }

  /** Whether the run is still initialized. True also if the store cannot be read. */
  async #isInitialized({ id }: Run): Promise<boolean> {
    const { store, log } = this.#deps;
    try {
      const current = await store.runs.find(id);
      return current === undefined || current.state === 'initialized';
    } catch (error) {
      log.error({ err: error, runId: id }, 'run not read');
      return true;
    }
  }
}

/** Error for a call that was not placed: CALL_UNCERTAIN if `code` says that it may have been. Its facts name the stored
 *  run, so that the client finds the outcome. */
export function notPlaced(
  { id, name }: Run,
  { reason, code }: { reason: string; code: ErrorCode | null },
  cause?: unknown,
): GatewayError {
  const facts = { reason, runId: id, runName: name };
  return new GatewayError(isUncertain(code) ? 'CALL_UNCERTAIN' : 'CALL_NOT_PLACED', facts, cause);
}
