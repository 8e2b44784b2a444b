// The route that starts a call from a browser: for the console, and for one's own page (docs/web-calls.md). The page opens
// the media socket itself; that is transport's.

import { webMediaUrl } from '../../call/start/setup/callback-urls.ts';
import { WEB_TOKEN_MS } from '../../call/start/setup/web-call.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { starterOf } from '../http/authentication.ts';
import { AGENT_FAULTS, faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { webCallBody, webCallStarted } from './run-schema.ts';

export function webCallRoutes(api: Api, deps: ApiDeps): void {
  api.post(
    '/web-calls',
    {
      schema: {
        tags: ['calls'],
        security: keyRequired,
        operationId: 'startWebCall',
        summary: 'Start a call from a browser',
        description:
          'Creates the run of an inbound call, and a token with which a page opens the media socket within 30 seconds: as the second of the subprotocols `patchbay.v1` and `token.` with the token. A request with an `Origin` binds the token to that origin.',
        body: webCallBody,
        response: {
          200: webCallStarted,
          ...faults(
            ...AGENT_FAULTS,
            'CALL_LIMIT_REACHED',
            'GATEWAY_DRAINING',
            'GATEWAY_OVERLOADED',
          ),
        },
      },
    },
    async (request) => {
      const { body, headers } = request;
      const { runId, variablesWithoutValue, token } = await deps.callService.startWeb({
        ...starterOf(request),
        workflowId: body.workflow_id,
        isDraft: body.draft ?? false,
        initialContext: body.initial_context ?? {},
        items: body.items ?? 'transcript',
        origin: headers.origin ?? null,
      });
      return {
        run_id: runId,
        workflow_run_id: runId,
        token,
        media_url: webMediaUrl(deps.publicUrl),
        expires_in: WEB_TOKEN_MS / 1_000,
        ...(variablesWithoutValue && { variables_without_value: variablesWithoutValue }),
      };
    },
  );
}
