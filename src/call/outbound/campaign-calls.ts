// A campaign's calls as the campaign room sees them: over what they go out (campaign-plans.ts), and how they are
// placed. A dial is sent once; whether it arrived is asked, never tried.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import { callsRefused, callsStarted } from '../../metrics/metrics.ts';
import type { Run } from '../../model/run.ts';
import type { ClaimedAttempt } from '../../store/campaigns/contact-store.ts';
import type { CallRegistry, UnconnectedCall } from '../connect/call-registry.ts';
import { closeFailed } from '../connect/end-unconnected.ts';
import { startMediaWatchdog } from '../connect/media-watchdog.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { CampaignPlans, type CampaignRoute, callerOf, REFUSALS } from './campaign-plans.ts';
import { type DialRequestOfRun, dial, noteCreated, noteDialled } from './dial.ts';

/** `placed`: the telephone rings. `put-off`: the provider has no room. `fault`: it was not reached, certainly
 *  nothing was placed. `in-doubt`: it failed, and the telephone may ring. `refused`: by the provider, the run is
 *  completed. `closed`: so it is, as the dial was not fit to be sent. */
export type Placed = 'placed' | 'put-off' | 'fault' | 'in-doubt' | 'refused' | 'closed';

/** A dial for an attempt that another process has claimed, and whose run it has made. */
export interface ClaimedDial {
  attemptId: string;
  runId: string;
  organizationId: string;
  configurationId: string;
  /** The caller id, normalized; null: whatever the far side shows by itself. */
  from: string | null;
  to: string;
}

/** What the campaign room asks for. */
export type CampaignCallService = Pick<
  CampaignCalls,
  'takesCalls' | 'line' | 'runOf' | 'place' | 'outcomeAfterCrash'
>;

export class CampaignCalls extends CampaignPlans {
  readonly #deps: CallDeps;
  readonly #roster: CallRegistry;
  readonly #takesCalls: () => boolean;

  constructor(deps: CallDeps, roster: CallRegistry, takesCalls: () => boolean) {
    super(deps);
    this.#deps = deps;
    this.#roster = roster;
    this.#takesCalls = takesCalls;
  }

  /** Whether this process has room for one more call at this moment. */
  get takesCalls(): boolean {
    return this.#takesCalls();
  }

  /** Never rejects for what the provider does. */
  place(line: CampaignRoute, claim: ClaimedAttempt, run: Run): Promise<Placed> {
    const { configuration, provider } = line;
    const route = { configuration, provider, from: callerOf(line, claim) };
    return this.placeRun({ run, route, to: claim.phoneNumber });
  }

  /** The run is this process's from then on. A doubt is stored here: the process that asked may be gone by then,
   *  and the next one would dial again. Throws STORE_UNAVAILABLE before anything is sent. */
  async placeClaimed(dial: ClaimedDial): Promise<Placed> {
    const { store, providers, log } = this.#deps;
    const { attemptId, runId, organizationId, configurationId, from, to } = dial;
    if (!this.takesCalls) return 'put-off';
    await store.runs.adopt(runId);
    const run = await store.runs.find(runId);
    const configuration = await store.telephony.getConfiguration(organizationId, configurationId);
    const provider = configuration && providers.byName(configuration.provider);
    if (run?.state !== 'initialized' || configuration === undefined || provider === undefined) {
      return 'fault';
    }
    const placed = await this.placeRun({ run, route: { configuration, provider, from }, to });
    if (placed === 'in-doubt') {
      await store.contacts.doubt(attemptId).catch((error: unknown) => {
        log.error({ err: error, attemptId }, 'doubt about a dial not stored');
      });
    }
    return placed;
  }

  /** Never rejects for what the provider does. */
  async placeRun(placement: DialRequestOfRun): Promise<Placed> {
    const { run, route } = placement;
    const { configuration, provider } = route;
    const call = { run, configuration, provider };
    callsStarted.inc({ provider: provider.name, direction: 'outbound' });
    this.#roster.addRinging(call);
    startMediaWatchdog(this.#deps, this.#roster, call);
    try {
      await noteDialled(this.#deps, run, await dial(this.#deps, placement));
    } catch (error) {
      return this.#unplaced(call, placement, error);
    }
    await this.#noteCreated(placement);
    return 'placed';
  }

  async #unplaced(
    call: UnconnectedCall,
    placement: DialRequestOfRun,
    error: unknown,
  ): Promise<Exclude<Placed, 'placed'>> {
    const { id: runId } = placement.run;
    const code = codeOf(error) ?? 'UNEXPECTED';
    callsRefused.inc({ code });
    if (code === 'PROVIDER_CAPACITY' || UNSENT.has(code)) {
      this.#roster.removeUnconnected(runId);
      return code === 'PROVIDER_CAPACITY' ? 'put-off' : 'fault';
    }
    this.#deps.log.warn({ err: error, runId }, 'call of a campaign not placed, or not known to be');
    if (!REFUSALS.has(code)) {
      // The run stays open: whoever picks up is talked to.
      await this.#noteDoubt(placement, { code, message: messageOf(error) });
      return 'in-doubt';
    }
    await this.#noteCreated(placement);
    this.#roster.removeUnconnected(runId);
    await closeFailed(this.#deps, call, error);
    return code === 'CONTEXT_OVERSIZED' ? 'closed' : 'refused';
  }

  /** A store that is away makes no call a failure whose telephone rings. */
  async #noteCreated(placement: DialRequestOfRun): Promise<void> {
    try {
      await noteCreated(this.#deps, placement);
    } catch (error) {
      this.#deps.log.error({ err: error, runId: placement.run.id }, 'call not in its log');
    }
  }

  /** Unless the call has come while we waited for the answer to its dial. */
  async #noteDoubt(
    placement: DialRequestOfRun,
    fault: { code: string; message: string },
  ): Promise<void> {
    const { id: runId } = placement.run;
    try {
      const run = await this.#deps.store.runs.find(runId);
      if (run?.state !== 'initialized') return;
      await noteCreated(this.#deps, placement);
      const runLog = await this.#deps.events.open(runId);
      runLog.append({ type: 'fault', ...fault, fatal: false }, 0);
    } catch (error) {
      this.#deps.log.error({ err: error, runId }, 'doubt about a call not in its log');
    }
  }
}

/** The request did not leave. */
const UNSENT = new Set(['PROVIDER_FAILED', 'PBX_NOT_CONNECTED']);

function messageOf(error: unknown): string {
  return error instanceof GatewayError ? error.message : 'unexpected error';
}
