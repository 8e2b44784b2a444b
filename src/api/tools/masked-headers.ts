// Masks headers in a tool's definition: values whose names mark them as secret are masked in replies, and a mask that
// is sent back keeps the stored value.

import { isObject } from '../../std/json.ts';
import { maskSecret } from '../../telephony/registry/configuration.ts';

type Fields = Record<string, unknown>;

const SECRET_NAME = /authorization|cookie|key|token|secret|password|signature|credential/i;

/** A copy with masked headers. */
export function maskHeaders(definition: Fields): Fields {
  return withHeaders(definition, {}, (value) => maskSecret(value));
}

/** A copy of `incoming` in which every header mask is replaced by the value of that header in `stored`. */
export function restoreHeaders(incoming: Fields, stored: Fields): Fields {
  return withHeaders(incoming, stored, (value, known) =>
    known !== undefined && value === maskSecret(known) ? known : value,
  );
}

type Replace = (value: string, known: string | undefined) => string;

function withHeaders(definition: Fields, beside: Fields, replace: Replace): Fields {
  const { config } = definition;
  if (!isObject(config)) return definition;
  const known = objectOf(beside['config']);
  const { resolver } = config;
  return {
    ...definition,
    config: {
      ...headersOf(config, known, replace),
      ...(isObject(resolver)
        ? { resolver: headersOf(resolver, objectOf(known['resolver']), replace) }
        : {}),
    },
  };
}

function headersOf(holder: Fields, known: Fields, replace: Replace): Fields {
  const { headers } = holder;
  if (!isObject(headers)) return holder;
  const before = objectOf(known['headers']);
  const entries = Object.entries(headers).map(([name, value]): [string, unknown] => {
    if (typeof value !== 'string' || !SECRET_NAME.test(name)) return [name, value];
    const stored = before[name];
    return [name, replace(value, typeof stored === 'string' ? stored : undefined)];
  });
  return { ...holder, headers: Object.fromEntries(entries) };
}

function objectOf(value: unknown): Fields {
  return isObject(value) ? value : {};
}
