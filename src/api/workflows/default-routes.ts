// What an agent runs on if nothing else is said: services and settings. Takes no key. Source: contract §3.5.

import { z } from 'zod';
import { services } from '../../model/speech-services/services.ts';
import { workflowConfigurations } from '../../model/workflow.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { freeObject } from '../http/values.ts';

const schemas = z.record(z.string(), freeObject).meta({ description: 'JSON schemas by service.' });

const defaults = z
  .object({
    llm: schemas,
    tts: schemas,
    stt: schemas,
    embeddings: schemas,
    realtime: schemas,
    default_providers: z.record(z.string(), z.string()),
    workflow_configurations: freeObject,
    text_chat_inactivity_timeout_constraints: z.object({
      default_seconds: z.int(),
      minimum_seconds: z.int(),
      maximum_seconds: z.int(),
    }),
    widget_text_defaults: freeObject,
  })
  .meta({ id: 'DefaultConfigurationsResponse' });

export function defaultRoutes(api: Api, deps: ApiDeps): void {
  const inUse = Object.entries(deps.services).filter(([, name]) => name !== null);
  const answer = {
    llm: schemasOf(services.llm),
    tts: schemasOf(services.tts),
    stt: schemasOf(services.stt),
    embeddings: {},
    realtime: {},
    default_providers: z.record(z.string(), z.string()).parse(Object.fromEntries(inUse)),
    workflow_configurations: workflowConfigurations.parse({}),
    text_chat_inactivity_timeout_constraints: textChatSeconds(),
    widget_text_defaults: {},
  };
  api.get(
    '/user/configurations/defaults',
    {
      schema: {
        tags: ['service'],
        operationId: 'getDefaultConfigurations',
        summary: 'Get default configurations',
        description: 'The services there are, and the settings of an agent that has none.',
        response: { 200: defaults, ...faults() },
      },
    },
    async () => answer,
  );
}

function schemasOf(of: Readonly<Record<string, z.ZodType>>) {
  const entries = Object.entries(of).map(([name, schema]) => [
    name,
    freeObject.parse(z.toJSONSchema(schema, { io: 'input' })),
  ]);
  return z.record(z.string(), freeObject).parse(Object.fromEntries(entries));
}

/** Read from the schema that checks them. */
function textChatSeconds() {
  const schema = workflowConfigurations.shape.text_chat_inactivity_timeout_seconds;
  const { minValue, maxValue } = schema.unwrap();
  return {
    default_seconds: schema.parse(undefined),
    minimum_seconds: minValue ?? 0,
    maximum_seconds: maxValue ?? Number.MAX_SAFE_INTEGER,
  };
}
