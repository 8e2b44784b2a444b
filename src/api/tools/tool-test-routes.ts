// Route to test a tool: makes its request once, as a call would, and shows the result. Source: contract §10.1.

import { z } from 'zod';
import { sendToolRequest, type ToolRequestDeps } from '../../call/session/dialogue/tool-request.ts';
import { type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import { parseJson } from '../../std/json.ts';
import { openTool } from '../../workflow/tools/registry.ts';
import { failureOf, type ToolRequest } from '../../workflow/tools/tool-request-builder.ts';
import type { ToolTrial } from '../../workflow/tools/tool-type.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { toolUuidInPath } from '../http/path-parameters.ts';
import { requireTool } from './tool-routes.ts';
import { type ToolTestOut, toolTest, toolTestOut } from './tool-schema.ts';

const MASK = '***';
/** Request headers that are shown, because they hold no secret. */
const SHOWN_HEADERS: readonly string[] = ['content-type', 'accept', 'user-agent'];

export interface ToolTrialDeps extends ApiDeps {
  /** Sends the requests of tool tests. */
  toolRequests: ToolRequestDeps;
}

export function toolTestRoute(api: Api, deps: ToolTrialDeps): void {
  api.post(
    '/tools/:tool_uuid/test',
    {
      schema: {
        tags: ['tools'],
        security: keyRequired,
        operationId: 'testTool',
        summary: 'Test a tool',
        description: 'Makes the request of an http_api tool, once, and shows what came of it.',
        params: z.object({ tool_uuid: toolUuidInPath }),
        body: toolTest.nullish(),
        response: { 200: toolTestOut, ...faults('TOOL_NOT_FOUND', 'TOOL_NOT_TESTABLE') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const tool = await requireTool(deps, organizationId, request.params.tool_uuid);
      const open = openTool(tool);
      const trial = typeof open === 'string' ? undefined : open.trial;
      if (trial === undefined) throw new GatewayError('TOOL_NOT_TESTABLE', { type: tool.category });
      const { llm_params: given, preset_params: presets } = request.body ?? {};
      const build = () =>
        trial.request({ given: given ?? {}, presets: presets ?? {} }, deps.clock.now());
      return tried(deps.toolRequests, { organizationId, unsent: trial.unsent, build });
    },
  );
}

interface Trial {
  organizationId: string;
  unsent: ToolTrial['unsent'];
  /** Builds the request. Throws TOOL_ARGUMENTS, TOOL_URL. */
  build(): ToolRequest;
}

async function tried(
  deps: ToolRequestDeps,
  { organizationId, unsent, build }: Trial,
): Promise<ToolTestOut> {
  const startedMs = deps.clock.monotonicMs();
  let request: ToolRequest | undefined;
  try {
    request = build();
    const answer = await sendToolRequest(
      deps,
      { organizationId, request },
      new AbortController().signal,
    );
    const failure = failureOf(answer.status);
    return {
      ...shown(unsent, request),
      status: failure === undefined ? 'success' : 'error',
      status_code: answer.status,
      data: answer.data,
      error: failure ?? null,
      hint: hintOfStatus(answer.status),
      duration_ms: Math.round(deps.clock.monotonicMs() - startedMs),
    };
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return {
      ...shown(unsent, request),
      status: 'error',
      status_code: null,
      data: null,
      error: error.message,
      hint: hints[error.code] ?? null,
      duration_ms: Math.round(deps.clock.monotonicMs() - startedMs),
    };
  }
}

function shown(unsent: ToolTrial['unsent'], request: ToolRequest | undefined) {
  const { method, url, headers, body } = request ?? { ...unsent, body: null };
  const query = URL.canParse(url) ? [...new URL(url).searchParams] : [];
  return {
    request_method: method,
    request_url: url,
    request_headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [
        name,
        SHOWN_HEADERS.includes(name.toLowerCase()) ? value : MASK,
      ]),
    ),
    request_body: body === null ? null : parseJson(body),
    request_params: query.length === 0 ? null : Object.fromEntries(query),
  };
}

const hints: Partial<Record<ErrorCode, string>> = {
  TOOL_ARGUMENTS:
    'Send in llm_params what the model would give, in preset_params what the templates come to in a call.',
  TOOL_URL: 'Values that are put into the address must stay in its path and query.',
  OUTSIDE_FORBIDDEN:
    'Tools never reach link-local and metadata addresses; where anybody may sign up, they reach public addresses only, and those that the operator opens (PATCHBAY_OUTSIDE_ALLOW).',
  CREDENTIAL_NOT_FOUND: 'The credential of the tool was deleted: choose another one.',
  TIMED_OUT: 'The server took longer than timeout_ms. Callers wait in silence for so long.',
  TOOL_UNREACHABLE: 'Look at the host and the port of the address.',
};

function hintOfStatus(status: number): string | null {
  if (status < 300) return null;
  if (status < 400) return 'Redirects are not followed: enter the address that it leads to.';
  if (status === 401 || status === 403)
    return 'Look at the credential and the headers of the tool.';
  if (status === 404 || status === 405) return 'Look at the method and the path of the address.';
  return null;
}
