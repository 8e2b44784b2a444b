// A campaign's calls as the campaign room sees them: over what they go out, what their runs are made of,
// how they are placed, and what became of one whose dial got no clear answer, or was under way when the
// process was killed. A dial is sent once; whether it arrived is asked, never tried.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import { callsRefused, callsStarted } from '../../metrics/metrics.ts';
import type { Campaign } from '../../model/campaign.ts';
import { requireUsable } from '../../model/json-limits.ts';
import { type CallStatus, isTerminal } from '../../model/provider.ts';
import type { Run } from '../../model/run.ts';
import type { Workflow, WorkflowVersion } from '../../model/workflow.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { ClaimedAttempt } from '../../store/campaigns/contact-store.ts';
import type { NewRun } from '../../store/runs/new-run.ts';
import { type Line, providerCallOf } from '../closing/provider-hang-up.ts';
import type { CallRegistry, UnconnectedCall } from '../connect/call-registry.ts';
import { closeFailed } from '../connect/end-unconnected.ts';
import { startMediaWatchdog } from '../connect/media-watchdog.ts';
import { outboundContext } from '../setup/call-context.ts';
import type { CallDeps } from '../setup/call-deps.ts';
import { type DialRequestOfRun, dial, noteCreated, noteDialled } from './dial.ts';
import { findOutboundTrunk, type OutboundTrunk } from './outbound-route.ts';

const ASK_MS = 10_000;

/** `placed`: the telephone rings. `put-off`: the provider has no room. `fault`: it was not reached, certainly
 *  nothing was placed. `in-doubt`: it failed, and the telephone may ring. `refused`: by the provider, the run is
 *  completed. `closed`: so it is, as the dial was not fit to be sent. */
export type Placed = 'placed' | 'put-off' | 'fault' | 'in-doubt' | 'refused' | 'closed';

/** What a provider says of a call: its status; `there`: it has the call, and the run goes on with it; `none`:
 *  its list does not have the call; `unknowable`: it keeps no list, or shows it to nobody. */
export type Fate = CallStatus | 'there' | 'none' | 'unknowable';

/** What all calls of a campaign have in common, for a moment. */
export interface CampaignRoute extends OutboundTrunk {
  campaign: Campaign;
  workflow: Workflow;
  version: WorkflowVersion;
}

/** What the campaign room asks for. */
export type CampaignCallService = Pick<
  CampaignCalls,
  'takesCalls' | 'line' | 'runOf' | 'place' | 'outcomeAfterCrash'
>;

export class CampaignCalls {
  readonly #deps: CallDeps;
  readonly #roster: CallRegistry;
  readonly #takesCalls: () => boolean;

  constructor(deps: CallDeps, roster: CallRegistry, takesCalls: () => boolean) {
    this.#deps = deps;
    this.#roster = roster;
    this.#takesCalls = takesCalls;
  }

  /** Whether this process has room for one more call at this moment. */
  get takesCalls(): boolean {
    return this.#takesCalls();
  }

  /** Throws what says why no call can go out: AGENT_*, TELEPHONY_NOT_CONFIGURED, CONFIGURATION_*,
   *  PROVIDER_NOT_BUILT, CALLER_ID_NOT_FOUND. */
  async line(campaign: Campaign): Promise<CampaignRoute> {
    const { workflows } = this.#deps.store;
    const { organizationId, workflowId, configurationId } = campaign;
    const workflow = await workflows.get(organizationId, workflowId);
    if (workflow?.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
    const version = await workflows.published(workflowId);
    if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
    const line = await findOutboundTrunk(this.#deps, { organizationId, configurationId });
    return { campaign, workflow, version: requireUsable(version), ...line };
  }

  /** Caller ids take turns. */
  runOf(line: CampaignRoute, claim: ClaimedAttempt, sourceKey: string): NewRun {
    const { campaign, version, configuration, provider } = line;
    const again = claim.number - 1;
    return {
      organizationId: campaign.organizationId,
      workflowId: campaign.workflowId,
      definitionId: version.id,
      campaignId: campaign.id,
      name: `WR-CAMPAIGN-${campaign.id}-${claim.attemptId}`,
      mode: provider.name,
      callType: 'outbound',
      configurationId: configuration.id,
      providerCallId: null,
      initialContext: {
        ...outboundContext({
          client: claim.variables,
          provider: provider.name,
          configurationId: configuration.id,
          from: callerOf(line, claim),
          to: claim.phoneNumber,
        }),
        campaign_id: campaign.id,
        source_uuid: `${sourceKey}_row_${claim.rowNumber}${again === 0 ? '' : `_retry_${again}`}`,
        ...(claim.retryReason === null
          ? {}
          : { is_retry: true, retry_attempt: again, retry_reason: claim.retryReason }),
      },
      gatheredContext: { provider: provider.name, triggered_by: 'campaign' },
      logs: {},
    };
  }

  /** Never rejects for what the provider does. */
  async place(line: CampaignRoute, claim: ClaimedAttempt, run: Run): Promise<Placed> {
    const { configuration, provider } = line;
    const route = { configuration, provider, from: callerOf(line, claim) };
    const placement = { run, route, to: claim.phoneNumber };
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

  /** What became of a call of which we know nothing, or that rang when our process stopped; such a one is hung
   *  up. Throws PROVIDER_* and STORE_UNAVAILABLE if nobody can say now. */
  async outcomeAfterCrash(run: Run): Promise<Fate> {
    const line = await providerCallOf(this.#deps, run);
    if (line === undefined) return 'unknowable';
    try {
      return await this.#askFate(run, line);
    } catch (error) {
      if (REFUSALS.has(codeOf(error) ?? '')) return 'unknowable';
      throw error;
    }
  }

  async #askFate(run: Run, line: Line): Promise<Fate> {
    const { providerCallId } = run;
    const found =
      providerCallId === null ? await this.#find(run, line) : { callId: providerCallId };
    if (typeof found === 'string') return found;
    const { callId } = found;
    if (providerCallId === null) await noteDialled(this.#deps, run, { callId, metadata: {} });
    if (run.state !== 'completed') return 'there';
    return this.#asking('look up the call', async (signal) => {
      const { control } = line.provider;
      const { credentials } = line.configuration;
      const snapshot = await control.getCall(credentials, callId, signal);
      if (snapshot === undefined) return 'unknowable';
      if (isTerminal(snapshot.status)) return snapshot.status;
      await control.hangUp(credentials, callId, signal);
      return 'canceled';
    });
  }

  /** The oldest call between the two that belongs to no other run. */
  async #find(
    run: Run,
    { provider, configuration }: Line,
  ): Promise<{ callId: string } | 'none' | 'unknowable'> {
    const { caller_number: from, called_number: to } = run.initialContext;
    const wanted = {
      from: typeof from === 'string' ? provider.formatAddress(from) : null,
      to: provider.formatAddress(String(to)),
      since: run.createdAt,
    };
    return this.#asking('find the call', async (signal) => {
      const calls = await provider.control.findCalls(configuration.credentials, wanted, signal);
      if (calls === undefined) return 'unknowable';
      for (const { callId } of calls.toReversed()) {
        const owner = await this.#deps.store.runs.findByProviderCall(configuration.id, callId);
        if (owner === undefined || owner.id === run.id) return { callId };
      }
      return 'none';
    });
  }

  async #asking<T>(what: string, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, done } = deadlineSignal(this.#deps.clock, ASK_MS, what);
    try {
      return await ask(signal);
    } finally {
      done();
    }
  }
}

/** Nothing was placed, and nothing will be if it is tried again. */
const REFUSALS = new Set([
  'PROVIDER_DESTINATION',
  'PROVIDER_AUTH',
  'PROVIDER_REFUSED',
  'CONTEXT_OVERSIZED',
]);
/** The request did not leave. */
const UNSENT = new Set(['PROVIDER_FAILED', 'PBX_NOT_CONNECTED']);

function messageOf(error: unknown): string {
  return error instanceof GatewayError ? error.message : 'unexpected error';
}

function callerOf({ callers }: CampaignRoute, { attemptId }: ClaimedAttempt): string | null {
  if (callers.length === 0) return null;
  const turn = Number(BigInt(attemptId) % BigInt(callers.length));
  return callers[turn]?.addressNormalized ?? null;
}
