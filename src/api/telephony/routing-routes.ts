// POST /organizations/telephony-configs/{id}/sync: points the provider's application and numbers at this installation
// on request. Not part of the reference's API.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import { applyRouting, planRouting } from '../../telephony/doctor/routing.ts';
import { FailureLimiter } from '../auth/attempt-limit.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath } from '../http/path-parameters.ts';
import { configurationOf } from './configuration-routes.ts';
import { hostedNumbers, hostedProviderOf } from './hosted-configuration.ts';
import { oneAtATime } from './one-at-a-time.ts';
import { INBOUND_PATH } from './provider-sync.ts';

/** Deadline of a sync: up to 50 numbers, two requests each; proxies wait for 60 s. */
const SYNC_MS_MAX = 55_000;
/** Syncs of one organization: each is many requests to a provider. */
const OF_ORGANIZATION = { attemptsMax: 30, windowMs: 600_000 };

const change = z
  .object({
    kind: z.enum(['application', 'number']),
    subject: z.string().describe("The application's name, or the number."),
    from: z.string().describe('Where its calls go.'),
    to: z.string().describe('Where they are to go.'),
    state: z.enum(['planned', 'done', 'blocked']),
    message: z.string().nullable().describe('Why it is blocked.'),
  })
  .meta({ id: 'TelephonyRoutingChange', description: 'One application or number.' });

export function telephonyRoutingRoute(api: Api, deps: ApiDeps): void {
  const limiter = new FailureLimiter(deps.clock, OF_ORGANIZATION);
  /** Configurations whose routing is read or changed. */
  const running = new Set<string>();

  api.post(
    '/organizations/telephony-configs/:config_id/sync',
    {
      schema: {
        tags: ['telephony'],
        security: keyRequired,
        operationId: 'syncTelephonyConfiguration',
        summary: 'Point inbound calls at this installation',
        description:
          "Shows which application and numbers of a hosted provider send their calls elsewhere, and with `apply` points them at this installation's public address. An application is pointed with all its numbers, also those of other systems; of the numbers, those with an agent are pointed alone. At most 50 of them are examined.",
        params: z.object({ config_id: configurationIdInPath }),
        body: z.object({
          apply: z
            .boolean()
            .default(false)
            .describe('True: makes the changes. False: only shows what would change.'),
        }),
        response: {
          200: z
            .object({
              changes: z.array(change),
              not_examined: z.int().describe('Further numbers with an agent.'),
            })
            .meta({ id: 'TelephonyRouting', description: 'What sends its calls elsewhere.' }),
          ...faults(
            'CONFIGURATION_NOT_FOUND',
            'EXAMINATION_RUNNING',
            'PROVIDER_NOT_BUILT',
            'SYNC_UNSUPPORTED',
            'TOO_MANY_ATTEMPTS',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const stored = await configurationOf(deps, organizationId, request.params.config_id);
      const provider = hostedProviderOf(deps, stored.provider);
      if (provider === undefined) {
        throw new GatewayError('SYNC_UNSUPPORTED', { provider: stored.provider });
      }
      if (running.has(stored.id)) throw new GatewayError('EXAMINATION_RUNNING');
      limiter.count(organizationId);
      running.add(stored.id);
      const deadline = deadlineSignal(deps.clock, SYNC_MS_MAX, 'sync');
      try {
        const once = { name: `routing ${stored.id}`, msMax: SYNC_MS_MAX };
        return await oneAtATime(deps.store.places, once, async () => {
          const { numbers, more } = await hostedNumbers(deps, stored.id, provider);
          const wish = {
            provider,
            credentials: stored.credentials,
            signal: deadline.signal,
            numbers: numbers.filter(({ isInbound }) => isInbound),
            inboundUrl: deps.publicUrl + INBOUND_PATH,
          };
          const changes = await planRouting(wish);
          const made = request.body.apply ? await applyRouting(wish, changes) : changes;
          return { changes: made, not_examined: more };
        });
      } finally {
        deadline.done();
        running.delete(stored.id);
      }
    },
  );
}
