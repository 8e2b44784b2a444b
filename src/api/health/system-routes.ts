// GET /system: the gateways, what they use, and what is wrong, for people who log in; GET /health/cluster has the same
// figures for operators. PBXs and faults of services are those of the organization. Extension.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { AlertState } from '../../metrics/alert-states.ts';
import { problemsOf } from '../../model/cluster-problems.ts';
import { type ClusterStatus, clusterStatus } from '../../model/gateway-condition.ts';
import { healthOf } from '../../model/service-state.ts';
import { servicesIn } from '../../model/speech-services/model-configuration.ts';
import { sectionsInUse } from '../../store/library/model-configurations.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { hostOf, idOut, isoTime, isoTimeOrNull, timeOut } from '../http/values.ts';
import { EventLoopLagMeter } from './load-routes.ts';
import { clusterStatusOf, type SystemDeps, type UsedService } from './system-watch.ts';

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

const serviceState = z.object({
  job: z.enum(['llm', 'tts', 'stt']),
  service: z.string(),
  is_configured: z
    .boolean()
    .describe("Whether the organization's calls use it, unless their agent names another."),
  state: z
    .enum(['healthy', 'failing', 'open', 'untried'])
    .describe(
      'By the calls and chats of this gateway, over all accounts. `healthy`: its last request was answered; `failing`: it failed; `open`: calls pass it by (its circuit is open); `untried`: no request since the gateway began.',
    ),
  open_circuits: z.int().describe('Accounts and settings that calls pass by.'),
  open_since: timeOut.nullable().describe('Since when the first of them is passed by.'),
  last_fault: z
    .object({ kind: z.string(), at: timeOut })
    .nullable()
    .describe('Null: none since the gateway began.'),
  last_success_at: timeOut.nullable().describe('Null: none that was noted.'),
  requests: z.int().describe('Requests of the last ten minutes, without streams of recognition.'),
  failed_requests: z.int().describe('Those that failed.'),
});

const alert = z.object({
  name: z.string().describe('Name of the rule in `grafana/alerts.yml`.'),
  severity: z.enum(['page', 'warn']).describe('Whether it wakes somebody.'),
  state: z
    .enum(['firing', 'pending', 'quiet', 'elsewhere'])
    .describe(
      '`pending`: beyond its bound, but not for long enough. `elsewhere`: no gateway can evaluate it, Prometheus does.',
    ),
  text: z.string().describe('What is the matter when it fires.'),
  remedy: z.string().describe('What helps first, in a sentence or two.'),
  since: timeOut.nullable().describe('Since when it is beyond its bound; null: it is not.'),
  detail: z
    .string()
    .nullable()
    .describe('What is beyond the bound, or why the gateway does not evaluate the rule.'),
  runbook: z.string().describe('The section of the documentation that has the rest.'),
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
    services: z
      .array(serviceState)
      .describe("Services of the organization's configuration, and others that were used."),
    alerts: z
      .array(alert)
      .describe(
        'All alert rules, evaluated for this gateway alone every 30 s. Prometheus evaluates them for all gateways.',
      ),
  })
  .meta({ id: 'SystemStatusResponse', description: 'The gateways and what they use.' });

export function systemRoutes(api: Api, deps: ApiDeps & SystemDeps): void {
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
      const [status, found, isAlive, services] = await Promise.all([
        clusterStatusOf(deps),
        store.serviceFaults.list(organizationId),
        store.alive(),
        servicesOf(deps, organizationId),
      ]);
      const shown = shownTo(organizationId, status);
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
        problems: problemsOf(shown, undefined),
        service_faults: found.map(({ runId, firstAt, lastAt, ...fault }) => ({
          ...fault,
          workflow_run_id: runId,
          first_at: isoTime(firstAt),
          last_at: isoTime(lastAt),
        })),
        services,
        alerts: (deps.system?.alerts ?? []).map(alertOnWire),
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

const JOBS = ['llm', 'tts', 'stt'] as const;
const UNUSED = {
  openCircuits: 0,
  openSinceMs: null,
  lastFault: null,
  lastSuccessMs: null,
  requests: 0,
  failedRequests: 0,
};

/** Services of the configuration in the order in which calls use them, then others that were used. */
async function servicesOf(
  { store, services: own, system }: ApiDeps & SystemDeps,
  organizationId: string,
): Promise<z.infer<typeof serviceState>[]> {
  const sections = sectionsInUse(await store.modelConfigurations.forCalls(organizationId));
  const used = (await system?.services()) ?? [];
  const configured = JOBS.flatMap((job): UsedService[] => {
    const section = sections[job];
    const names = section ? servicesIn(section).map(({ provider }) => provider) : [own[job]];
    const services = [...new Set(names)].flatMap((name) =>
      name === null || name === 'scripted' ? [] : [name],
    );
    return services.map(
      (service) =>
        used.find((each) => each.job === job && each.service === service) ?? {
          job,
          service,
          ...UNUSED,
        },
    );
  });
  const others = used.filter((each) => !configured.includes(each));
  return [
    ...configured.map((each) => serviceOnWire(each, true)),
    ...others.map((each) => serviceOnWire(each, false)),
  ];
}

function serviceOnWire(used: UsedService, isConfigured: boolean): z.infer<typeof serviceState> {
  const { job, service, openCircuits, openSinceMs, lastFault, lastSuccessMs } = used;
  const { requests, failedRequests } = used;
  const health = healthOf(used);
  return {
    job,
    service,
    is_configured: isConfigured,
    // An embedded service without a fallback has no circuit, only requests.
    state: health === 'untried' && requests > failedRequests ? 'healthy' : health,
    open_circuits: openCircuits,
    open_since: timeOrNull(openSinceMs),
    last_fault:
      lastFault === null ? null : { kind: lastFault.kind, at: isoTime(new Date(lastFault.atMs)) },
    last_success_at: timeOrNull(lastSuccessMs),
    requests,
    failed_requests: failedRequests,
  };
}

function alertOnWire({ sinceMs, ...state }: AlertState): z.infer<typeof alert> {
  return {
    ...state,
    since: timeOrNull(sinceMs),
    runbook: `docs/operations.md#${state.name.toLowerCase()}`,
  };
}

function timeOrNull(ms: number | null): string | null {
  return isoTimeOrNull(ms === null ? null : new Date(ms));
}
