// Starting a call over the API: who may, which agent, over which configuration and number, then dial.
// The order of the checks is the contract's (§6.1). A run exists before the provider is asked.

import { codeOf, GatewayError } from '../errors.ts';
import { callsRefused, callsStarted } from '../metrics.ts';
import type { Run } from '../model/run.ts';
import type { PhoneNumber } from '../model/telephony.ts';
import type { Workflow, WorkflowVersion } from '../model/workflow.ts';
import { deadlineSignal } from '../std/deadline.ts';
import type { ConfigurationSummary } from '../store/store.ts';
import type { DialResult, TelephonyProvider } from '../telephony/provider.ts';
import { providerByName } from '../telephony/registry.ts';
import { triggerPathsOf } from '../workflow/trigger-path.ts';
import { outboundContext } from './context.ts';
import type { CallDeps } from './deps.ts';
import type { StartCall } from './desk.ts';
import { blockedReason } from './readiness.ts';
import type { Roster } from './roster.ts';
import { closeFailed } from './unconnected.ts';
import { CALL_S_MAX, callbackUrls, RING_S } from './urls.ts';
import { watchForMedia } from './watch.ts';

/** The provider's answer to a dial must come within this time. */
const DIAL_MS = 15_000;

interface Route {
  configuration: ConfigurationSummary;
  provider: TelephonyProvider;
  caller: PhoneNumber;
}

interface Agent {
  workflow: Workflow;
  version: WorkflowVersion;
}

/** Throws what contract §6.1 names. After a refusal by the provider the run is kept, completed. */
export async function startCall(deps: CallDeps, roster: Roster, request: StartCall): Promise<Run> {
  const agent = await findAgent(deps, request);
  const route = await findRoute(deps, request);
  const run = await createRun(deps, request, agent, route);
  callsStarted.inc({ provider: route.provider.name, direction: 'outbound' });
  const { configuration, provider, caller } = route;
  const call = { run, configuration, provider };
  roster.ring(call);
  watchForMedia(deps, roster, call);
  const to = request.phoneNumber;
  try {
    const runLog = await deps.events.open(run.id);
    const from = caller.addressNormalized;
    const { name } = provider;
    runLog.append({ type: 'call.created', direction: 'outbound', provider: name, from, to }, 0);
    await noteDialled(deps, run, await dial(deps, { run, route, to }));
  } catch (error) {
    if (await hasBegun(deps, run)) return run;
    callsRefused.inc({ code: codeOf(error) ?? 'UNEXPECTED' });
    deps.log.warn({ err: error, runId: run.id }, 'call not placed');
    roster.drop(run.id);
    await closeFailed(deps, call, error);
    throw placementError(error);
  }
  return run;
}

/** The provider's answer to the dial is late or lost, but the call is there. */
async function hasBegun(deps: CallDeps, { id }: Run): Promise<boolean> {
  try {
    const current = await deps.store.runs.find(id);
    return current !== undefined && current.state !== 'initialized';
  } catch (error) {
    deps.log.error({ err: error, runId: id }, 'run not read');
    return false;
  }
}

/** The phone rings: a store that fails just now does not make the start a failure. */
async function noteDialled(deps: CallDeps, run: Run, dialled: DialResult): Promise<void> {
  const { callId, metadata } = dialled;
  try {
    await deps.store.runs.patch(run.id, {
      providerCallId: callId,
      gatheredContext: { call_id: callId, ...metadata },
    });
  } catch (error) {
    deps.log.error({ err: error, runId: run.id }, 'call id not stored');
  }
}

async function findAgent(deps: CallDeps, request: StartCall): Promise<Agent> {
  const { agent, organizationId, mode } = request;
  const workflow =
    agent.type === 'workflow_uuid'
      ? await byUuid(deps, organizationId, agent.identifier)
      : await byTrigger(deps, organizationId, agent.identifier);
  if (workflow.status !== 'active') throw new GatewayError('AGENT_NOT_ACTIVE');
  const { workflows } = deps.store;
  const draft = mode === 'test' ? await workflows.draft(workflow.id) : undefined;
  const version = draft ?? (await workflows.published(workflow.id));
  if (version === undefined) throw new GatewayError('AGENT_NOT_PUBLISHED');
  const isTrigger = agent.type === 'trigger_path';
  if (isTrigger && !triggerPathsOf(version.definition).includes(agent.identifier)) {
    throw new GatewayError('TRIGGER_NOT_IN_AGENT');
  }
  return { workflow, version };
}

async function byUuid(deps: CallDeps, organizationId: string, uuid: string): Promise<Workflow> {
  const workflow = await deps.store.workflows.findByUuid(uuid);
  if (workflow?.organizationId !== organizationId) throw new GatewayError('AGENT_NOT_FOUND');
  return workflow;
}

async function byTrigger(deps: CallDeps, organizationId: string, path: string): Promise<Workflow> {
  const trigger = await deps.store.workflows.findTrigger(path);
  if (trigger === undefined) throw new GatewayError('TRIGGER_NOT_FOUND');
  if (trigger.workflow.organizationId !== organizationId) {
    throw new GatewayError('TRIGGER_FORBIDDEN');
  }
  if (!trigger.isActive) throw new GatewayError('TRIGGER_NOT_ACTIVE');
  return trigger.workflow;
}

async function findRoute(deps: CallDeps, request: StartCall): Promise<Route> {
  const configuration = await findConfiguration(deps, request);
  const provider = providerByName(configuration.provider);
  if (provider === undefined) {
    throw new GatewayError('PROVIDER_NOT_BUILT', { provider: configuration.provider });
  }
  const numbers = await deps.store.telephony.listNumbers(configuration.id);
  const active = numbers.filter((number) => number.isActive);
  const caller = chooseCaller(deps, active, request.fromPhoneNumberId);
  if (caller === undefined) throw new GatewayError('CALLER_ID_NOT_FOUND');
  return { configuration, provider, caller };
}

/** An explicit id never falls through to another configuration. */
async function findConfiguration(
  deps: CallDeps,
  request: StartCall,
): Promise<ConfigurationSummary> {
  const { organizationId, configurationId } = request;
  const { telephony } = deps.store;
  if (configurationId !== null) {
    const named = await telephony.getConfiguration(organizationId, configurationId);
    if (named === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
    const blocked = blockedReason(named);
    if (blocked !== undefined) throw notReady(named, blocked);
    return named;
  }
  const all = await telephony.listConfigurations(organizationId);
  const active = all.filter((each) => each.inactiveSince === null);
  active.sort((a, b) => Number(b.isDefaultOutbound) - Number(a.isDefaultOutbound));
  const [first] = active;
  if (first === undefined) throw new GatewayError('TELEPHONY_NOT_CONFIGURED');
  const ready = active.find((each) => blockedReason(each) === undefined);
  if (ready === undefined) throw notReady(first, blockedReason(first) ?? '');
  return ready;
}

function notReady(configuration: ConfigurationSummary, reason: string): GatewayError {
  return new GatewayError('CONFIGURATION_NOT_READY', { name: configuration.name, reason });
}

/** The one asked for, else the default caller, else any. */
function chooseCaller(
  deps: CallDeps,
  active: readonly PhoneNumber[],
  wantedId: string | null,
): PhoneNumber | undefined {
  if (wantedId !== null) return active.find(({ id }) => id === wantedId);
  const fallback = active[active.length === 0 ? 0 : deps.random.integer(active.length)];
  return active.find(({ isDefaultCallerId }) => isDefaultCallerId) ?? fallback;
}

async function createRun(
  deps: CallDeps,
  request: StartCall,
  { workflow, version }: Agent,
  { configuration, provider, caller }: Route,
): Promise<Run> {
  const isTest = request.mode === 'test';
  const { agent, initialContext, fromPhoneNumberId } = request;
  const digits = String(deps.random.integer(10_000)).padStart(4, '0');
  const context = outboundContext({
    client: { ...(isTest ? version.templateContextVariables : {}), ...initialContext },
    provider: provider.name,
    configurationId: configuration.id,
    from: caller.addressNormalized,
    to: request.phoneNumber,
  });
  const limit = await deps.store.accounts.concurrentCallLimit(request.organizationId);
  try {
    return await deps.store.runs.create(
      {
        organizationId: request.organizationId,
        workflowId: workflow.id,
        definitionId: version.id,
        name: `${isTest ? 'WR-TEST' : 'WR-API'}-${digits}`,
        mode: provider.name,
        callType: 'outbound',
        configurationId: configuration.id,
        providerCallId: null,
        initialContext: {
          ...context,
          trigger_mode: request.mode,
          agent_identifier: agent.identifier,
          agent_identifier_type: agent.type,
          workflow_uuid: workflow.uuid,
          agent_uuid: workflow.uuid,
          ...(fromPhoneNumberId === null ? {} : { from_phone_number_id: fromPhoneNumberId }),
          api_key_id: request.apiKeyId,
          api_key_created_by: request.apiKeyCreatedBy,
        },
        gatheredContext: {
          provider: provider.name,
          triggered_by: 'api',
          ...(agent.type === 'trigger_path' ? { trigger_uuid: agent.identifier } : {}),
        },
        logs: {},
      },
      limit,
    );
  } catch (error) {
    const code = codeOf(error);
    if (code !== undefined) callsRefused.inc({ code });
    throw error;
  }
}

async function dial(
  deps: CallDeps,
  call: { run: Run; route: Route; to: string },
): Promise<DialResult> {
  const { run, route, to } = call;
  const { provider, configuration, caller } = route;
  const deadline = deadlineSignal(deps.clock, DIAL_MS, 'dial');
  try {
    return await provider.control.dial(
      configuration.credentials,
      {
        from: provider.formatAddress(caller.addressNormalized),
        to: provider.formatAddress(to),
        ...callbackUrls(deps.publicUrl, provider.name, run.id),
        ringS: RING_S,
        callS: Math.min(CALL_S_MAX, provider.capabilities.callS.max),
      },
      deadline.signal,
    );
  } finally {
    deadline.done();
  }
}

function placementError(error: unknown): GatewayError {
  const reason = error instanceof GatewayError ? error.message : 'unexpected error';
  return new GatewayError('CALL_NOT_PLACED', { reason }, error);
}
