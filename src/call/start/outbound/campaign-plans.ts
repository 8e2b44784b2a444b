// A campaign's route and run data, and the outcome of calls whose dial got no clear answer or was in progress when a
// process was killed. Places no calls: any process may use it.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Campaign } from '../../../model/campaign.ts';
import { requireUsable } from '../../../model/json-limits.ts';
import { type CallStatus, isTerminal } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { Workflow, WorkflowVersion } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { ClaimedAttempt } from '../../../store/campaigns/dial-attempts.ts';
import type { NewRun } from '../../../store/runs/run-insertion.ts';
import type { Store } from '../../../store/store.ts';
import type { ConfiguredRoute, ProviderHangUp } from '../../end/closing/provider-hang-up.ts';
import { outboundContext } from '../setup/call-context.ts';
import type { DialRecord } from './dial.ts';
import type { OutboundRoutes, OutboundTrunk } from './outbound-route.ts';

const ASK_MS = 10_000;

/** The provider's report of a call: its status; `there`: the provider has the call, and the run continues with it;
 *  `none`: its list does not have the call; `unknowable`: it has no list, or none that the gateway can read. */
export type Fate = CallStatus | 'there' | 'none' | 'unknowable';

/** Data that a campaign's calls share at a moment. */
export interface CampaignRoute extends OutboundTrunk {
  campaign: Campaign;
  workflow: Workflow;
  version: WorkflowVersion;
}

export interface CampaignPlanDeps {
  store: Pick<Store, 'workflows' | 'runs'>;
  routes: OutboundRoutes;
  record: DialRecord;
  hangUps: ProviderHangUp;
  clock: Clock;
  log: Log;
}

export class CampaignPlans {
  readonly #deps: CampaignPlanDeps;

  constructor(deps: CampaignPlanDeps) {
    this.#deps = deps;
  }

  /** The campaign's route. Throws the reason why no call can be placed: AGENT_*, TELEPHONY_NOT_CONFIGURED,
   *  CONFIGURATION_*, PROVIDER_NOT_BUILT, CALLER_ID_NOT_FOUND. */
  async routeOf(campaign: Campaign): Promise<CampaignRoute> {
    const { workflows } = this.#deps.store;
    const { organizationId, workflowId: id, configurationId } = campaign;
    const finding = this.#deps.routes.findTrunk({ organizationId, configurationId });
    finding.catch(() => undefined); // If the agent is refused, the result is not awaited.
    const found = await workflows.findAgent({ organizationId, id }, ['published']);
    // The workflow's row gives the reason why there is no version.
    const workflow = found?.workflow ?? (await workflows.get(organizationId, id));
    if (workflow?.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
    if (found === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
    const version = requireUsable(found.version);
    return { campaign, workflow, version, ...(await finding) };
  }

  /** Data of an attempt's run. Caller ids are used in turn. */
  runOf(route: CampaignRoute, claim: ClaimedAttempt, sourceKey: string): NewRun {
    const { campaign, version, configuration, provider } = route;
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
          from: callerOf(route, claim),
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

  /** Determines the outcome of a call whose state is unknown, or that rang when its process stopped; the latter is
   *  hung up. Throws PROVIDER_* and STORE_UNAVAILABLE if the outcome cannot be determined now. */
  async outcomeAfterCrash(run: Run): Promise<Fate> {
    const route = await this.#deps.hangUps.routeOf(run);
    if (route === undefined) return 'unknowable';
    try {
      return await this.#askFate(run, route);
    } catch (error) {
      if (REFUSALS.has(codeOf(error) ?? '')) return 'unknowable';
      throw error;
    }
  }

  async #askFate(run: Run, route: ConfiguredRoute): Promise<Fate> {
    const { providerCallId } = run;
    const found =
      providerCallId === null ? await this.#find(run, route) : { callId: providerCallId };
    if (typeof found === 'string') return found;
    const { callId } = found;
    if (providerCallId === null) await this.#deps.record.dialled(run, { callId, metadata: {} });
    if (run.state !== 'completed') return 'there';
    const { provider, configuration } = route;
    const snapshot = await this.#asking('look up the call', (signal) =>
      provider.control.getCall(configuration.credentials, callId, signal),
    );
    if (snapshot === undefined) return 'unknowable';
    if (isTerminal(snapshot.status)) return snapshot.status;
    await this.#deps.hangUps.hangUp(route, callId);
    return 'canceled';
  }

  /** The oldest call between the two numbers that belongs to no other run. */
  async #find(
    run: Run,
    { provider, configuration }: ConfiguredRoute,
  ): Promise<{ callId: string } | 'none' | 'unknowable'> {
    const { caller_number: from, called_number: to } = run.initialContext;
    const wanted = {
      runId: run.id,
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

/** Codes after which nothing was placed and another attempt would not help. */
export const REFUSALS: ReadonlySet<string> = new Set([
  'PROVIDER_DESTINATION',
  'PROVIDER_AUTH',
  'PROVIDER_REFUSED',
  'CONTEXT_OVERSIZED',
]);

/** The caller id of an attempt. */
export function callerOf({ callers }: CampaignRoute, { attemptId }: ClaimedAttempt): string | null {
  if (callers.length === 0) return null;
  const turn = Number(BigInt(attemptId) % BigInt(callers.length));
  return callers[turn]?.addressNormalized ?? null;
}
