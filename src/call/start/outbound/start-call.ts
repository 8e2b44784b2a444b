// Calls that clients start: by an agent or a trigger; or test calls with the agent's draft, on a new or an existing
// run, to a given number or the organization's test number. Checks permission, agent, configuration and number in the
// contract's order (§6.1). The run exists before the provider is asked.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Direction } from '../../../model/provider.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { SharedReads } from '../../../std/batches.ts';
import type { Random } from '../../../std/random.ts';
import type { StartedRun } from '../../../store/runs/run-insertion.ts';
import type { StartKey } from '../../../store/runs/start-batch.ts';
import type { Store } from '../../../store/store.ts';
import { dialledAddress } from '../../../telephony/provider/phone-address.ts';
import { connectivityOf } from '../../../telephony/registry/configuration.ts';
import { preCallRequestOf } from '../../../workflow/graph/pre-call-request.ts';
import { variablesWithoutValue } from '../../../workflow/graph/required-variables.ts';
import { requireValid } from '../../../workflow/stored/agent-checks.ts';
import { outboundContext } from '../setup/call-context.ts';
import type { StartCall, TestCall } from '../setup/call-start.ts';
import { type ResolvedAgent, resolveAgent, resolveTestAgent } from '../setup/resolve-agent.ts';
import type { OutboundRoute, OutboundRoutes, OutboundTrunk } from './outbound-route.ts';

/** A call that is complete except for its run. */
export interface Prepared {
  route: OutboundRoute;
  /** The number in the form that is dialled. */
  to: string;
  /** Whether the start creates a run. False: an existing run gets the call. */
  createsRun: boolean;
  version: WorkflowVersion;
  /** Creates the run, or finds that of an earlier request. Throws CALL_LIMIT_REACHED and others. */
  begin(key: StartKey | undefined): Promise<StartedRun>;
}

/** Facts that all starts of one agent over one configuration share. */
export interface StartFacts {
  agent: ResolvedAgent;
  trunk: OutboundTrunk;
}

export interface StartDeps {
  store: Pick<Store, 'workflows' | 'tools' | 'starts' | 'organizations' | 'modelConfigurations'>;
  routes: OutboundRoutes;
  random: Random;
}

export interface StartFactsDeps {
  store: Omit<StartDeps['store'], 'starts'>;
  routes: OutboundRoutes;
  facts: SharedReads<StartFacts>;
}

/** Prepares a call. Throws the errors of contract §6.1. */
export async function prepareStart(
  deps: StartDeps & StartFactsDeps,
  request: StartCall,
): Promise<Prepared> {
  const { agent, trunk } = await readStartFacts(deps, request);
  const route = deps.routes.over(trunk, request);
  const to = dialled(request.phoneNumber, route);
  const run = newRun(deps, request, agent, route);
  return {
    route,
    to,
    createsRun: true,
    version: agent.version,
    begin: (key) => deps.store.starts.start(run, key),
  };
}

/** Reads the facts of a start. Concurrent starts share one read. Throws the errors of contract §6.1 for agents and
 *  configurations. */
export function readStartFacts(deps: StartFactsDeps, request: StartCall): Promise<StartFacts> {
  const { organizationId, agent, mode, configurationId } = request;
  const key = JSON.stringify([organizationId, agent.type, agent.identifier, mode, configurationId]);
  return deps.facts.get(key, () => startFacts(deps, request));
}

/** Reads agent and route in parallel. An error of the agent has precedence. */
async function startFacts(
  deps: Omit<StartFactsDeps, 'facts'>,
  request: StartCall,
): Promise<StartFacts> {
  const finding = deps.routes.findTrunk(request);
  finding.catch(() => undefined); // If the agent is refused, the result is not awaited.
  const agent = await resolveAgent(deps, request);
  await requireValid(deps, request.organizationId, agent.version);
  return { agent, trunk: await finding };
}

function newRun(
  deps: StartDeps,
  request: StartCall,
  { workflow, version }: ResolvedAgent,
  { configuration, provider, from }: OutboundRoute,
) {
  const isTest = request.mode === 'test';
  const { agent, initialContext, fromPhoneNumberId } = request;
  const digits = String(deps.random.integer(10_000)).padStart(4, '0');
  const context = outboundContext({
    client: { ...(isTest ? version.templateContextVariables : {}), ...initialContext },
    provider: provider.name,
    configurationId: configuration.id,
    from,
    to: request.phoneNumber,
  });
  const started = {
    ...context,
    trigger_mode: request.mode,
    agent_identifier: agent.identifier,
    agent_identifier_type: agent.type,
    workflow_uuid: workflow.uuid,
    agent_uuid: workflow.uuid,
    ...(fromPhoneNumberId === null ? {} : { from_phone_number_id: fromPhoneNumberId }),
    api_key_id: request.apiKeyId,
    api_key_created_by: request.apiKeyCreatedBy,
  };
  return {
    organizationId: request.organizationId,
    workflowId: workflow.id,
    definitionId: version.id,
    name: `${isTest ? 'WR-TEST' : 'WR-API'}-${digits}`,
    mode: provider.name,
    callType: 'outbound' as const,
    configurationId: configuration.id,
    providerCallId: null,
    initialContext: started,
    gatheredContext: {
      provider: provider.name,
      triggered_by: 'api',
      ...(agent.type === 'trigger_path' ? { trigger_uuid: agent.identifier } : {}),
    },
    logs: startLogs(version, started),
  };
}

/** The variables that the agent names and that have no value, for the answer to the client and the run. Those of an
 *  agent that asks a server first are not known yet. */
export function startLogs(
  { definition }: WorkflowVersion,
  context: Record<string, unknown>,
  direction: Direction = 'outbound',
): Record<string, unknown> {
  if (preCallRequestOf(definition, direction) !== undefined) return {};
  const names = variablesWithoutValue(definition, context);
  return names.length === 0 ? {} : { variables_without_value: names };
}

/** Prepares a test call. Throws TEST_NOT_CONFIGURED, TEST_CONFIGURATION_NOT_FOUND, AGENT_NOT_FOUND,
 *  AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, PHONE_NUMBER_MISSING, and the other errors of findRoute. */
export async function prepareTest(deps: StartDeps, request: TestCall): Promise<Prepared> {
  const { organizationId, workflowId, runId } = request;
  const route = await deps.routes.find(request).catch((error: unknown) => {
    throw inOtherWords(error);
  });
  const agent = await resolveTestAgent(deps, organizationId, workflowId);
  await requireValid(deps, organizationId, agent.version);
  const written = request.phoneNumber ?? (await testNumber(deps, organizationId));
  const to = dialled(written, route);
  const call = callOf(request, { agent, route, to: written });
  const { starts } = deps.store;
  const { version } = agent;
  if (runId !== null) {
    return {
      route,
      to,
      version,
      createsRun: false,
      begin: (key) => starts.startIdle({ ...call, runId }, key),
    };
  }
  const digits = String(deps.random.integer(100_000_000)).padStart(8, '0');
  const initialContext = { ...version.templateContextVariables, ...call.initialContext };
  const run = {
    ...call,
    definitionId: version.id,
    name: `WR-TEL-OUT-${digits}`,
    callType: 'outbound' as const,
    providerCallId: null,
    initialContext,
    logs: startLogs(version, initialContext),
  };
  return { route, to, version, createsRun: true, begin: (key) => starts.start(run, key) };
}

/** The form that is dialled. SIP trunks and PBXs accept extensions too. Throws NUMBER_NOT_DIALABLE. */
function dialled(written: string, { provider, from: callerId }: OutboundRoute): string {
  const hasExtensions = connectivityOf(provider.name) === 'sip';
  const address = dialledAddress(written, { hasExtensions, callerId });
  if ('to' in address) return address.to;
  throw new GatewayError('NUMBER_NOT_DIALABLE', { why: address.reason });
}

/** Replaces errors about configurations by those of test calls. */
function inOtherWords(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'TELEPHONY_NOT_CONFIGURED') return new GatewayError('TEST_NOT_CONFIGURED');
  if (code !== 'CONFIGURATION_NOT_FOUND') return error;
  return new GatewayError('TEST_CONFIGURATION_NOT_FOUND');
}

/** The organization's test number. Throws PHONE_NUMBER_MISSING. */
async function testNumber({ store }: StartDeps, organizationId: string): Promise<string> {
  const number = (await store.organizations.preferences(organizationId))?.testPhoneNumber ?? '';
  if (number === '') throw new GatewayError('PHONE_NUMBER_MISSING');
  return number;
}

function callOf(
  request: TestCall,
  { agent, route, to }: { agent: ResolvedAgent; route: OutboundRoute; to: string },
) {
  const { organizationId, workflowId, fromPhoneNumberId } = request;
  const { configuration, provider, from } = route;
  const { uuid } = agent.workflow;
  return {
    organizationId,
    workflowId,
    mode: provider.name,
    configurationId: configuration.id,
    initialContext: {
      ...outboundContext({
        client: {},
        provider: provider.name,
        configurationId: configuration.id,
        from,
        to,
      }),
      trigger_mode: 'test',
      workflow_uuid: uuid,
      agent_uuid: uuid,
      ...(fromPhoneNumberId === null ? {} : { from_phone_number_id: fromPhoneNumberId }),
      api_key_id: request.apiKeyId,
      api_key_created_by: request.apiKeyCreatedBy,
    },
    gatheredContext: { provider: provider.name },
  };
}
