// GET /live and /ready for orchestrators and load balancers, without a key and outside /api/v1: whether the process
// answers, and whether the gateway should get new calls. GET /api/v1/health is the contract's route.

import type { Api, ApiDeps } from '../http/api-deps.ts';

export function probeRoutes(api: Api, { notReady = () => [] }: Pick<ApiDeps, 'notReady'>): void {
  const options = { schema: { hide: true }, config: { admission: 'first' as const } };
  api.get('/live', options, async (_request, reply) => {
    reply.header('Cache-Control', 'no-store');
    return { status: 'ok' };
  });
  api.get('/ready', options, async (_request, reply) => {
    const reasons = notReady();
    const isReady = reasons.length === 0;
    reply.header('Cache-Control', 'no-store').status(isReady ? 200 : 503);
    return { status: isReady ? 'ready' : 'not ready', reasons };
  });
}
