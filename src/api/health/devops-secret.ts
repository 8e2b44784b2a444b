// The guard of figures for operators and their systems: a secret of their own, in place of an API key.

import type { FastifyRequest } from 'fastify';
import { GatewayError } from '../../errors/gateway-error.ts';
import { isSameSecret } from '../auth/same-secret.ts';
import type { ApiDeps } from '../http/api-deps.ts';

/** Header of the secret: ours, and the one that deployments of the reference platform send. */
const SECRET_HEADERS = ['x-patchbay-devops-secret', 'x-dograh-devops-secret'] as const;

/** Throws DEVOPS_SECRET_UNSET, DEVOPS_SECRET_WRONG. */
export function secretGuard({ devopsSecret }: ApiDeps): (request: FastifyRequest) => Promise<void> {
  return async (request) => {
    if (devopsSecret === undefined) throw new GatewayError('DEVOPS_SECRET_UNSET');
    const given = SECRET_HEADERS.map((name) => request.headers[name]);
    const isRight = given.some(
      (text) => typeof text === 'string' && isSameSecret(text, devopsSecret),
    );
    if (!isRight) throw new GatewayError('DEVOPS_SECRET_WRONG');
  };
}
