// Services as JSON schemas, from which clients build their forms. Source: contract §10.4.

import { z } from 'zod';
import { services } from '../../model/speech-services/services.ts';
import { isObject } from '../../std/json.ts';
import { freeObject } from '../http/values.ts';

type Forms = Record<string, Record<string, unknown>>;

export const serviceForms = {
  llm: formsOf(services.llm),
  tts: formsOf(services.tts),
  stt: formsOf(services.stt),
} as const;

function formsOf(rows: Readonly<Record<string, z.ZodType>>): Forms {
  return Object.fromEntries(
    Object.entries(rows).map(([name, row]) => {
      const form = freeObject.parse(z.toJSONSchema(row, { io: 'input' }));
      return [name, withKeyLists(form)];
    }),
  );
}

/** A form whose key may be a list: calls of a service use one of its keys each. */
function withKeyLists(form: Record<string, unknown>): Record<string, unknown> {
  const { properties } = form;
  if (!isObject(properties) || !isObject(properties['api_key'])) return form;
  const { description, ...key } = properties['api_key'];
  const list = { type: 'array', items: { type: 'string' }, minItems: 1 };
  const either = {
    ...(description === undefined ? {} : { description }),
    ...('default' in key ? { default: key['default'] } : {}),
    secret: true,
    anyOf: [key, list],
  };
  return { ...form, properties: { ...properties, api_key: either } };
}
