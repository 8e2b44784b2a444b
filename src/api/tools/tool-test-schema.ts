// A tool that is tried out, as it travels. Source: contract §10.1.

import { z } from 'zod';
import { freeObject } from '../http/values.ts';

export const toolTest = z.object({
  llm_params: freeObject
    .nullish()
    .meta({ description: 'What a model would give, by the names of `parameters`.' }),
  preset_params: freeObject
    .nullish()
    .meta({ description: 'What stands in for the templates of `preset_parameters`.' }),
});

export const toolTestOut = z
  .object({
    status: z.enum(['success', 'error']).meta({ description: 'Any answer is a success.' }),
    status_code: z.int().nullable(),
    data: z.unknown(),
    error: z.string().nullable(),
    hint: z.string().nullable().meta({ description: 'What to look at.' }),
    request_method: z.string(),
    request_url: z.string(),
    request_headers: z.record(z.string(), z.string()).meta({ description: 'Values are masked.' }),
    request_body: z.unknown(),
    request_params: freeObject.nullable(),
    duration_ms: z.int(),
  })
  .meta({ id: 'ToolTestResponse' });
export type ToolTestOut = z.infer<typeof toolTestOut>;
