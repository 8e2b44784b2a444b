// GET /health. Source: specification §4.15, contract §3.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';

const health = z
  .object({
    status: z.literal('ok'),
    version: z.string(),
    backend_api_endpoint: z.string(),
    tunnel_url: z.null(),
    deployment_mode: z.string(),
    auth_provider: z.string(),
    turn_enabled: z.boolean(),
    force_turn_relay: z.boolean(),
    signup_enabled: z.boolean(),
    stack_project_id: z.null(),
    stack_publishable_client_key: z.null(),
  })
  .describe('The gateway and its database answer.');

export function healthRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/health',
    {
      schema: {
        tags: ['service'],
        operationId: 'health',
        summary: 'Get health',
        description: 'Whether the gateway and its database answer; needs no key.',
        response: { 200: health, ...faults() },
      },
    },
    async () => {
      if (!(await deps.store.alive())) throw new GatewayError('STORE_UNAVAILABLE');
      return {
        status: 'ok' as const,
        version: deps.version,
        backend_api_endpoint: deps.publicUrl,
        tunnel_url: null,
        deployment_mode: deps.deploymentMode,
        auth_provider: deps.authProvider,
        turn_enabled: false,
        force_turn_relay: false,
        signup_enabled: deps.access.isSignUpOpen,
        stack_project_id: null,
        stack_publishable_client_key: null,
      };
    },
  );
}
