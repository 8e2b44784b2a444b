// A call that a client starts by an agent or a trigger: who may, which agent, over which configuration
// and number. The order of the checks is the contract's (§6.1). A run exists before the provider is asked.

import type { Random } from '../../std/random.ts';
import type { StartedRun } from '../../store/runs/new-run.ts';
import type { StartKey } from '../../store/runs/run-starts.ts';
import type { Store } from '../../store/store.ts';
import type { StartCall } from '../call-service.ts';
import { outboundContext } from '../setup/call-context.ts';
import { type ResolvedAgent, resolveAgent } from '../setup/resolve-agent.ts';
import type { OutboundRoute, OutboundRoutes } from './outbound-route.ts';

/** A call that has everything but its run. */
export interface Prepared {
  route: OutboundRoute;
  /** As the client named it. */
  to: string;
  /** Makes the run, or finds that of an earlier request. Throws CALL_LIMIT_REACHED and more. */
  begin(limit: number, key: StartKey | undefined): Promise<StartedRun>;
}

export interface StartDeps {
  store: Pick<Store, 'workflows' | 'starts' | 'organizations' | 'accounts'>;
  routes: OutboundRoutes;
  random: Random;
}

/** Throws what contract §6.1 names. */
export async function prepareStart(deps: StartDeps, request: StartCall): Promise<Prepared> {
  const agent = await resolveAgent(deps, request);
  const route = await deps.routes.find(request);
  const run = newRun(deps, request, agent, route);
  return {
    route,
    to: request.phoneNumber,
    begin: (limit, key) => deps.store.starts.start(run, limit, key),
  };
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
  return {
    organizationId: request.organizationId,
    workflowId: workflow.id,
    definitionId: version.id,
    name: `${isTest ? 'WR-TEST' : 'WR-API'}-${digits}`,
    mode: provider.name,
    callType: 'outbound' as const,
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
  };
}
