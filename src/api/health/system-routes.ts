// GET /system: the gateways, what they use, and what is wrong, for people who log in; GET /health/cluster has the same
// figures for operators. PBXs and faults of services are those of the organization. Extension.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { problemsOf } from '../../model/cluster-problems.ts';
import { type ClusterStatus, clusterStatus } from '../../model/gateway-condition.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { hostOf, idOut, isoTime, timeOut } from '../http/values.ts';
import { EventLoopLagMeter } from './load-routes.ts';

const problem = z.object({
  gateway: z.string().nullable().describe('Null: it concerns all.'),
  text: z.string().describe('What is wrong.'),
  remedy: z.string().describe('What to do.'),
});

const serviceFault = z.object({
  job: z.enum(['llm', 'tts', 'stt']),
  service: z.string(),
  kind: z.string(),
  detail: z.string(),
  workflow_run_id: idOut.describe('The last call that met it.'),
  first_at: timeOut,
  last_at: timeOut,
});

const { gateways, pbx_leases, calls, calls_without_owner, now } = clusterStatus.shape;
const systemStatus = z
  .object({
    now,
    answered_by: z.string().describe('The gateway that answered.'),
    version: z.string().describe('Its release.'),
    policy: z.string().describe('`model` or `scripted`: what leads conversations by default.'),
    not_ready: z
      .array(z.string())
      .describe('Why this gateway should get no new calls, as /ready has it; empty if it should.'),
    database: z.enum(['ok', 'away']),
    loop_lag_p95_ms: z.number().describe("Delay of this process's event loop: 95 of 100 at most."),
    loop_lag_max_ms: z.number().describe('The same, at most.'),
    calls,
    calls_without_owner,
    gateways,
    pbx_leases: pbx_leases.describe("The organization's PBXs, and which process has each."),
    problems: z
      .array(problem)
      .describe('What is wrong now, by the bounds of the alert rules; empty if nothing is.'),
    service_faults: z
      .array(serviceFault)
      .describe('Faults of speech and model services that last until somebody changes something.'),
  })
  .meta({ id: 'SystemStatusResponse', description: 'The gateways and what they use.' });

export function systemRoutes(api: Api, deps: ApiDeps): void {
  const lag = new EventLoopLagMeter(deps.clock);
  api.addHook('onClose', async () => lag.close());

  api.get(
    '/system',
    {
      schema: {
        tags: ['service'],
        security: keyRequired,
        operationId: 'getSystemStatus',
        summary: 'Get the state of the system',
        description:
          'Gateways, their processes and calls, what they use, and what is wrong. Where sign-up is open only the first organization gets it.',
        response: { 200: systemStatus, ...faults('SYSTEM_FORBIDDEN') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { store, access, notReady = () => [] } = deps;
      if (access.isSignUpOpen && !(await store.organizations.isFirst(organizationId))) {
        throw new GatewayError('SYSTEM_FORBIDDEN');
      }
      const [status, found, isAlive] = await Promise.all([
        store.clusterStatus.read(deps.pbxProviders),
        store.serviceFaults.list(organizationId),
        store.alive(),
      ]);
      const shown = shownTo(organizationId, { ...status, asked: deps.gatewayName });
      const { p95Ms, maxMs } = lag.read();
      const { asked, ...figures } = shown;
      return {
        ...figures,
        answered_by: asked,
        version: deps.version,
        policy: deps.policy,
        not_ready: [...notReady()],
        database: isAlive ? ('ok' as const) : ('away' as const),
        loop_lag_p95_ms: p95Ms,
        loop_lag_max_ms: maxMs,
        // A gateway with a database of its own stores no condition: /ready has what it lacks.
        problems: problemsOf(shown, undefined).filter(
          ({ gateway }) => gateway === null || hasCondition(shown, gateway),
        ),
        service_faults: found.map(({ runId, firstAt, lastAt, ...fault }) => ({
          ...fault,
          workflow_run_id: runId,
          first_at: isoTime(firstAt),
          last_at: isoTime(lastAt),
        })),
      };
    },
  );
}

/** The status with the organization's PBXs alone, and with the hosts of gateways: by default a gateway's name has its data
 *  folder, which clients must not see. */
function shownTo(organizationId: string, status: ClusterStatus): ClusterStatus {
  return {
    ...status,
    asked: hostOf(status.asked),
    gateways: status.gateways.map((each) => ({ ...each, name: hostOf(each.name) })),
    pbx_leases: status.pbx_leases
      .filter((each) => each.organization_id === organizationId)
      .map((each) => ({ ...each, node: each.node === null ? null : hostOf(each.node) })),
  };
}

function hasCondition(
  { gateways: all }: Pick<z.infer<typeof clusterStatus>, 'gateways'>,
  name: string,
): boolean {
  return all.length > 1 || all.some((each) => each.name === name && each.condition !== null);
}
