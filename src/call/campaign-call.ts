// A campaign's calls as the campaign room sees them: over what they go out, what their runs are made of,
// how they are placed, and what became of one whose dial was under way when the process was killed.
// A dial is sent once; whether it arrived is asked, never tried.

import { codeOf, GatewayError } from '../errors.ts';
import { callsRefused, callsStarted } from '../metrics.ts';
import type { Campaign } from '../model/campaign.ts';
import { requireUsable } from '../model/json-limits.ts';
import { type CallStatus, isTerminal } from '../model/provider.ts';
import type { Run } from '../model/run.ts';
import type { Workflow, WorkflowVersion } from '../model/workflow.ts';
import { deadlineSignal } from '../std/deadline.ts';
import type { Claim } from '../store/contact-store.ts';
import type { NewRun } from '../store/new-run.ts';
import type { ConfigurationSummary } from '../store/store.ts';
import type { TelephonyProvider } from '../telephony/provider.ts';
import { outboundContext } from './context.ts';
import type { CallDeps } from './deps.ts';
import { lineOf } from './line.ts';
import { dial, noteCreated, noteDialled, type Placement } from './place.ts';
import type { Roster } from './roster.ts';
import { findOutboundLine, type OutboundLine, type Route } from './route.ts';
import { closeFailed } from './unconnected.ts';
import { watchForMedia } from './watch.ts';

/** After a dial without a clear answer: when the provider is asked whether it has the call. */
const LOOKS_MS = [1_000, 5_000, 15_000];
const ASK_MS = 10_000;

/** `placed`: the telephone rings. `put-off`: certainly nothing was placed, and it may be tried again.
 *  `closed`: the run is completed, its outcome says how. */
export type Placed = 'placed' | 'put-off' | 'closed';

/** What all calls of a campaign have in common, for a moment. */
export interface CampaignLine extends OutboundLine {
  campaign: Campaign;
  workflow: Workflow;
  version: WorkflowVersion;
}

/** What the campaign room asks for. */
export type CampaignDesk = Pick<
  CampaignCalls,
  'takesCalls' | 'line' | 'runOf' | 'place' | 'fateOf'
>;

export class CampaignCalls {
  readonly #deps: CallDeps;
  readonly #roster: Roster;
  readonly #takesCalls: () => boolean;

  constructor(deps: CallDeps, roster: Roster, takesCalls: () => boolean) {
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
  async line(campaign: Campaign): Promise<CampaignLine> {
    const { workflows } = this.#deps.store;
    const { organizationId, workflowId, configurationId } = campaign;
    const workflow = await workflows.get(organizationId, workflowId);
    if (workflow?.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
    const version = await workflows.published(workflowId);
    if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
    const line = await findOutboundLine(this.#deps, { organizationId, configurationId });
    return { campaign, workflow, version: requireUsable(version), ...line };
  }

  /** Caller ids take turns. */
  runOf(line: CampaignLine, claim: Claim, sourceKey: string): NewRun {
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
  async place(line: CampaignLine, claim: Claim, run: Run): Promise<Placed> {
    const { configuration, provider } = line;
    const route = { configuration, provider, from: callerOf(line, claim) };
    const placement = { run, route, to: claim.phoneNumber };
    const call = { run, configuration, provider };
    const since = new Date(this.#deps.clock.now());
    callsStarted.inc({ provider: provider.name, direction: 'outbound' });
    this.#roster.ring(call);
    watchForMedia(this.#deps, this.#roster, call);
    try {
      await noteDialled(this.#deps, run, await dial(this.#deps, placement));
    } catch (error) {
      const code = codeOf(error) ?? 'UNEXPECTED';
      callsRefused.inc({ code });
      if (code === 'PROVIDER_CAPACITY' || code === 'PROVIDER_FAILED') {
        this.#roster.drop(run.id);
        return 'put-off';
      }
      this.#deps.log.warn({ err: error, runId: run.id }, 'call of a campaign not placed yet');
      if (!REFUSALS.has(code) && (await this.#isThere(placement, since))) return 'placed';
      this.#roster.drop(run.id);
      await this.#noteCreated(placement);
      await closeFailed(this.#deps, call, error);
      return 'closed';
    }
    await this.#noteCreated(placement);
    return 'placed';
  }

  /** A store that is away makes no call a failure whose telephone rings. */
  async #noteCreated(placement: Placement): Promise<void> {
    try {
      await noteCreated(this.#deps, placement);
    } catch (error) {
      this.#deps.log.error({ err: error, runId: placement.run.id }, 'call not in its log');
    }
  }

  /** What became of a call that nobody had answered when our process stopped; one that is still up is
   *  hung up. Undefined if the provider knows of none. Throws PROVIDER_* if it cannot say. */
  async fateOf(run: Run): Promise<CallStatus | undefined> {
    const line = await lineOf(this.#deps, run);
    if (line === undefined) return undefined;
    const { provider, configuration } = line;
    const callId = run.providerCallId ?? (await this.#findLost(run, configuration, provider));
    if (callId === undefined) return undefined;
    const { signal, done } = deadlineSignal(this.#deps.clock, ASK_MS, 'look up the call');
    try {
      const { control } = provider;
      const snapshot = await control.getCall(configuration.credentials, callId, signal);
      if (snapshot === undefined || isTerminal(snapshot.status)) return snapshot?.status;
      await control.hangUp(configuration.credentials, callId, signal);
      return 'canceled';
    } finally {
      done();
    }
  }

  async #findLost(
    run: Run,
    configuration: ConfigurationSummary,
    provider: TelephonyProvider,
  ): Promise<string | undefined> {
    const { caller_number: from, called_number: to } = run.initialContext;
    const ends = { from: typeof from === 'string' ? from : null, to: String(to) };
    const callId = await this.#find({ run, configuration, provider, ends, since: run.createdAt });
    if (callId !== undefined) await noteDialled(this.#deps, run, { callId, metadata: {} });
    return callId;
  }

  /** Whether the call is there although the provider did not say so: its webhooks may come, or it is in
   *  the provider's list. */
  async #isThere(placement: Placement, since: Date): Promise<boolean> {
    const { run, route, to } = placement;
    const { configuration, provider, from } = route;
    const ends = { from, to };
    for (const ms of LOOKS_MS) {
      await new Promise<void>((resolve) => this.#deps.clock.after(ms, resolve));
      try {
        const current = await this.#deps.store.runs.find(run.id);
        if (current?.providerCallId != null || current?.state !== 'initialized') return true;
        const callId = await this.#find({ run, configuration, provider, ends, since });
        if (callId === undefined) continue;
        await this.#noteCreated(placement);
        await noteDialled(this.#deps, run, { callId, metadata: {} });
        return true;
      } catch (error) {
        this.#deps.log.warn({ err: error, runId: run.id }, 'call not looked up');
      }
    }
    return false;
  }

  /** The oldest call between the two that belongs to no other run. */
  async #find(wanted: {
    run: Run;
    configuration: Route['configuration'];
    provider: TelephonyProvider;
    ends: { from: string | null; to: string };
    since: Date;
  }): Promise<string | undefined> {
    const { run, configuration, provider, ends, since } = wanted;
    const { signal, done } = deadlineSignal(this.#deps.clock, ASK_MS, 'find the call');
    try {
      const from = ends.from === null ? null : provider.formatAddress(ends.from);
      const to = provider.formatAddress(ends.to);
      const { control } = provider;
      const calls = await control.findCalls(configuration.credentials, { from, to, since }, signal);
      for (const { callId } of (calls ?? []).toReversed()) {
        const owner = await this.#deps.store.runs.findByProviderCall(configuration.id, callId);
        if (owner === undefined || owner.id === run.id) return callId;
      }
      return undefined;
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

function callerOf({ callers }: CampaignLine, { attemptId }: Claim): string | null {
  if (callers.length === 0) return null;
  const turn = Number(BigInt(attemptId) % BigInt(callers.length));
  return callers[turn]?.addressNormalized ?? null;
}
