// A server with functions for the model (Model Context Protocol). Stored, but not called.
// Source: contract §10.1.

import { z } from 'zod';
import { orElse, referenceOrNull, requestUrl } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

const FUNCTION_NAME_MAX = 500;
/** Function names of a server. */
const FUNCTIONS_MAX = 200;
const SECONDS_MAX = 3_600;

export const mcpTool = defineTool({
  type: 'mcp',
  config: z.object({
    transport: z.literal('streamable_http').default('streamable_http'),
    url: requestUrl,
    credential_uuid: referenceOrNull,
    tools_filter: orElse(z.array(z.string().max(FUNCTION_NAME_MAX)).max(FUNCTIONS_MAX), []),
    timeout_secs: orElse(z.int().min(0).max(SECONDS_MAX), 30),
    sse_read_timeout_secs: orElse(z.int().min(0).max(SECONDS_MAX), 300),
    /** Functions that the gateway has found: a client's value is dropped. */
    discovered_tools: z
      .unknown()
      .optional()
      .transform((): Record<string, unknown>[] => []),
  }),
});
