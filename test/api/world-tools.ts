// One tool and one credential in an organization, and a request for every operation on them.

import type { Example } from './example.ts';
import type { Served } from './served.ts';

/** Stored by the owner; no answer and no log may hold it. */
export const CREDENTIAL_SECRET = 'the-token-of-the-credential';
export const TOOL_SECRET = 'the-key-in-the-headers-of-the-tool';

const bearer = { credential_type: 'bearer_token', credential_data: { token: CREDENTIAL_SECRET } };

export async function makeTools(served: Served, mark: string): Promise<Record<string, Example>> {
  const credential = await served.ok('POST', '/credentials/', {
    ...bearer,
    name: `${mark} credential`,
  });
  const tool = await served.ok('POST', '/tools/', { ...httpApi, name: `${mark} tool` });
  const server = await served.ok('POST', '/tools/', { ...mcp, name: `${mark} server` });
  return {
    ...credentialExamples(credential.uuid),
    ...toolExamples(tool.tool_uuid, server.tool_uuid),
  };
}

/** Nobody is asked: the address is out of reach. */
const httpApi = {
  definition: {
    type: 'http_api',
    config: {
      method: 'GET',
      url: 'http://127.0.0.1/',
      headers: { 'X-Api-Key': TOOL_SECRET },
    },
  },
};
const mcp = { definition: { type: 'mcp', config: { url: 'https://mcp.example.com/' } } };

function toolExamples(uuid: string, server: string): Record<string, Example> {
  const path = { tool_uuid: uuid };
  return {
    listTools: {},
    createTool: { body: { ...httpApi, name: 'second' } },
    getTool: { path },
    updateTool: { path, body: { description: 'Reads customers.' } },
    testTool: { path, body: { llm_params: { customer_id: '7' } } },
    refreshMcpTool: { path: { tool_uuid: server } },
    archiveTool: { path },
    unarchiveTool: { path },
  };
}

function credentialExamples(uuid: string): Record<string, Example> {
  const path = { credential_uuid: uuid };
  return {
    listCredentials: {},
    createCredential: { body: { ...bearer, name: 'second' } },
    getCredential: { path },
    updateCredential: { path, body: { description: 'renamed' } },
    deleteCredential: { path },
  };
}
