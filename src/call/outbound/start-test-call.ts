// A call to try an agent out, as people place it while they build: with the draft, on a run of their own
// if they have created one, to the organization's test number if they name none. The order of the checks
// is the contract's (§6.1).

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { TestCall } from '../call-service.ts';
import { outboundContext } from '../setup/call-context.ts';
import { type ResolvedAgent, resolveTestAgent } from '../setup/resolve-agent.ts';
import type { OutboundRoute } from './outbound-route.ts';
import type { Prepared, StartDeps } from './start-call.ts';

/** Throws TEST_NOT_CONFIGURED, TEST_CONFIGURATION_NOT_FOUND, what else findRoute throws,
 *  AGENT_NOT_FOUND, AGENT_NOT_ACTIVE, AGENT_NOT_PUBLISHED, PHONE_NUMBER_MISSING. */
export async function prepareTest(deps: StartDeps, request: TestCall): Promise<Prepared> {
  const { organizationId, workflowId, runId } = request;
  const route = await deps.routes.find(request).catch((error: unknown) => {
    throw inOtherWords(error);
  });
  const agent = await resolveTestAgent(deps, organizationId, workflowId);
  const to = request.phoneNumber ?? (await testNumber(deps, organizationId));
  const call = callOf(request, { agent, route, to });
  const { starts } = deps.store;
  if (runId !== null) {
    return {
      route,
      to,
      begin: (limit, key) => starts.startIdle({ ...call, runId }, limit, key),
    };
  }
  const digits = String(deps.random.integer(100_000_000)).padStart(8, '0');
  const { version } = agent;
  const run = {
    ...call,
    definitionId: version.id,
    name: `WR-TEL-OUT-${digits}`,
    callType: 'outbound' as const,
    providerCallId: null,
    initialContext: { ...version.templateContextVariables, ...call.initialContext },
    logs: {},
  };
  return { route, to, begin: (limit, key) => starts.start(run, limit, key) };
}

/** These operations have words of their own for it. */
function inOtherWords(error: unknown): unknown {
  const code = codeOf(error);
  if (code === 'TELEPHONY_NOT_CONFIGURED') return new GatewayError('TEST_NOT_CONFIGURED');
  if (code !== 'CONFIGURATION_NOT_FOUND') return error;
  return new GatewayError('TEST_CONFIGURATION_NOT_FOUND');
}

/** Throws PHONE_NUMBER_MISSING. */
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
