// GET /health/cluster: the gateways on one database, for `patchbay cluster status`.

import { clusterStatus } from '../../model/gateway-condition.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { secretGuard } from './devops-secret.ts';
import { clusterStatusOf, type SystemDeps } from './system-watch.ts';

export function clusterRoutes(api: Api, deps: ApiDeps & SystemDeps): void {
  api.get(
    '/health/cluster',
    {
      onRequest: secretGuard(deps),
      schema: {
        tags: ['service'],
        operationId: 'getClusterStatus',
        summary: 'Get the status of all gateways',
        description:
          'The gateways on one database: processes, calls, heartbeats, connections to PBXs, and what each says of itself.',
        response: { 200: clusterStatus, ...faults('DEVOPS_SECRET_WRONG') },
      },
    },
    () => clusterStatusOf(deps),
  );
}
