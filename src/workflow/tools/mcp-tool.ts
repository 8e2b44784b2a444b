// A server with functions for the model (Model Context Protocol). Stored, but not called.
// Source: contract §10.1.

import { z } from 'zod';
import { credentialUuid, orElse, requestUrl } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

const FUNCTION_NAME_MAX = 500;
/** Function names of a server. */
const FUNCTIONS_MAX = 200;
const SECONDS_MAX = 3_600;

export const mcpTool = defineTool({
  type: 'mcp',
  config: z.object({
    transport: z
      .literal('streamable_http')
      .default('streamable_http')
      .describe('How the server is spoken to.'),
    url: requestUrl,
    credential_uuid: credentialUuid,
    tools_filter: orElse(
      z.array(z.string().max(FUNCTION_NAME_MAX)).max(FUNCTIONS_MAX),
      [],
    ).describe('Names of functions of the server that are used, at most 200. Default: all.'),
    timeout_secs: orElse(z.int().min(0).max(SECONDS_MAX), 30).describe(
      'Seconds that a function may take, 0 to 3,600. Default: 30.',
    ),
    sse_read_timeout_secs: orElse(z.int().min(0).max(SECONDS_MAX), 300).describe(
      'Seconds between two events of the server, 0 to 3,600. Default: 300.',
    ),
    discovered_tools: z
      .unknown()
      .optional()
      .transform((): Record<string, unknown>[] => [])
      .describe('Functions that the gateway has found. What a client sends is dropped.'),
  }),
});
