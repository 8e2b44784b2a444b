// A kind of tool for tests that offers as many functions as its settings name, as a server of functions
// does. It is written like the rows of the registry.

import { z } from 'zod';
import { toolTypes } from '../../../src/workflow/tools/registry.ts';
import {
  defineTool,
  type StoredTool,
  type ToolType,
} from '../../../src/workflow/tools/tool-type.ts';

const config = z.object({ functions: z.array(z.string()) });

const serverTool = defineTool({
  type: 'server',
  config,
  open: ({ functions }: z.infer<typeof config>, { name: tool }: StoredTool) => ({
    functions: functions.map((key) => ({
      key,
      name: `${tool}__${key.replaceAll(/\W/g, '_')}`.toLowerCase(),
      namedBy: 'derived',
      description: `${key} of ${tool}`,
      parameters: { type: 'object', properties: { query: { type: 'string' } } },
    })),
    call: (key, given) =>
      key === 'now'
        ? { what: 'result', result: { key, given } }
        : {
            what: 'request',
            request: {
              method: 'POST',
              url: `https://server.example/${encodeURIComponent(key)}`,
              headers: {},
              body: JSON.stringify(given),
              credentialUuid: null,
              timeoutMs: 1_000,
            },
          },
    resultOf: (key, { data }) => ({ from: key, data }),
  }),
});

export const typesWithServer: readonly ToolType[] = [...toolTypes, serverTool];
