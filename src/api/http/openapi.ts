// The API's description (OpenAPI 3.1), made from the same schemas that check the requests.

import type { FastifyDynamicSwaggerOptions } from '@fastify/swagger';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import type { ApiDeps } from './api-deps.ts';

const tags = [
  { name: 'service', description: 'Whether the gateway is up.' },
  { name: 'accounts', description: 'Users, how they log in, and what organizations prefer.' },
  { name: 'keys', description: 'Keys for this API.' },
  { name: 'telephony', description: 'Telephony configurations and phone numbers.' },
  { name: 'workflows', description: 'Agents: graphs of conversation nodes, in versions.' },
  { name: 'documents', description: 'The knowledge base, which this version does not have.' },
  { name: 'tools', description: 'What agents may use in calls, and credentials for it.' },
  { name: 'calls', description: 'Starting calls.' },
  { name: 'campaigns', description: 'Calls to a list of contacts.' },
  { name: 'recordings', description: 'Recorded speech and background noise for agents.' },
  { name: 'runs', description: 'What became of calls: status, transcript, recording.' },
  { name: 'webhooks', description: 'Called by telephony providers.' },
];

export function openApiOptions(deps: ApiDeps): FastifyDynamicSwaggerOptions {
  return {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Patchbay',
        version: deps.version,
        description: 'Voice agents over telephone calls.',
      },
      servers: [{ url: deps.publicUrl }],
      tags,
      components: {
        securitySchemes: {
          apiKey: { type: 'apiKey', in: 'header', name: 'X-API-Key' },
          bearer: { type: 'http', scheme: 'bearer' },
        },
      },
    },
    transform: jsonSchemaTransform,
    transformObject: jsonSchemaTransformObject,
  };
}

/** For routes that take an API key in either header. */
export const keyRequired = [{ apiKey: [] }, { bearer: [] }];
/** For starts of calls. */
export const agentKeyRequired = [{ apiKey: [] }];
