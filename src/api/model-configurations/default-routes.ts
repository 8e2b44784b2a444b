// Routes of defaults: services and settings of an agent without its own. They take no key. Source: contract §3.5.

import { z } from 'zod';
import { workflowConfigurations } from '../../model/workflow.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { freeObject } from '../http/values.ts';
import { serviceForms } from './service-forms.ts';

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
      default_seconds: z.int().describe('Seconds.'),
      minimum_seconds: z.int().describe('Seconds.'),
      maximum_seconds: z.int().describe('Seconds.'),
    }),
    widget_text_defaults: freeObject,
  })
  .meta({
    id: 'DefaultConfigurationsResponse',
    description: 'The services with their fields, and default settings.',
  });

export function defaultRoutes(api: Api, deps: ApiDeps): void {
  const answer = {
    ...serviceForms,
    embeddings: {},
    realtime: {},
    default_providers: defaultProviders(deps),
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

/** Services of a gateway without configuration. */
export function defaultProviders({ services }: Pick<ApiDeps, 'services'>): Record<string, string> {
  const inUse = Object.entries(services).filter(([, name]) => name !== null);
  return z.record(z.string(), z.string()).parse(Object.fromEntries(inUse));
}

/** The range of the setting, read from the schema that checks it. */
function textChatSeconds() {
  const schema = workflowConfigurations.shape.text_chat_inactivity_timeout_seconds;
  const { minValue, maxValue } = schema.unwrap();
  return {
    default_seconds: schema.parse(undefined),
    minimum_seconds: minValue ?? 0,
    maximum_seconds: maxValue ?? Number.MAX_SAFE_INTEGER,
  };
}
