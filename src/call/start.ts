// Starting a call over the API: who may, which agent, over which configuration and number, then dial.
// The order of the checks is the contract's (§6.1). A run exists before the provider is asked.

import { codeOf } from '../errors.ts';
import { callsRefused } from '../metrics.ts';
import type { Run } from '../model/run.ts';
import { type Agent, findAgent } from './agent.ts';
import { outboundContext } from './context.ts';
import type { CallDeps } from './deps.ts';
import type { StartCall } from './desk.ts';
import { placeCall } from './place.ts';
import type { Roster } from './roster.ts';
import { findRoute, type Route } from './route.ts';

/** Throws what contract §6.1 names. After a refusal by the provider the run is kept, completed. */
export async function startCall(deps: CallDeps, roster: Roster, request: StartCall): Promise<Run> {
  const agent = await findAgent(deps, request);
  const route = await findRoute(deps, request);
  const run = await createRun(deps, request, agent, route);
  await placeCall(deps, roster, { run, route, to: request.phoneNumber });
  return run;
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
