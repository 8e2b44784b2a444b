// Fills the templates of service descriptions and reads values from messages. Pure; never throws.

import type {
  Condition,
  DescriptionValues,
  MessageTemplate,
  ReportedError,
} from '../../../model/speech-services/description.ts';
import { isObject } from '../../../std/json.ts';
import type { FaultDetails, FaultKind } from '../service-fault.ts';

const NAME = /\{([a-z_]{1,40})\}/g;

/** Fills a template. Undefined if a placeholder has no value, or if all fields of an object are undefined. */
export function filled(template: unknown, values: DescriptionValues): unknown {
  if (typeof template === 'string') return filledText(template, values);
  if (Array.isArray(template)) {
    return template.flatMap((each) => {
      const value = filled(each, values);
      return value === undefined ? [] : [value];
    });
  }
  if (!isObject(template)) return template;
  const fields = Object.entries(template).flatMap(([name, each]): [string, unknown][] => {
    const value = filled(each, values);
    return value === undefined ? [] : [[name, value]];
  });
  if (fields.length === 0 && Object.keys(template).length > 0) return undefined;
  return Object.fromEntries(fields);
}

function filledText(text: string, values: DescriptionValues): unknown {
  const alone = /^\{([a-z_]{1,40})\}$/.exec(text)?.[1];
  if (alone !== undefined && Object.hasOwn(values, alone)) return values[alone];
  let isWhole = true;
  const whole = text.replace(NAME, (found, name: string) => {
    if (!Object.hasOwn(values, name)) return found;
    const value = values[name];
    if (value === undefined) isWhole = false;
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
  return isWhole ? whole : undefined;
}

/** Keys among the values. */
export function secretsOf({ key, secret }: DescriptionValues): string[] {
  return [key, secret].filter((each): each is string => typeof each === 'string' && each !== '');
}

/** Text of a message as sent: JSON of an object, or the text itself. */
export function messageText(template: MessageTemplate, values: DescriptionValues): string {
  const value = filled(template, values);
  return typeof value === 'string' ? value : JSON.stringify(value ?? {});
}

/** Query parameters. Those without a value are left out; a list is repeated. */
export function queryOf(
  templates: Readonly<Record<string, unknown>>,
  values: DescriptionValues,
): URLSearchParams {
  const query = new URLSearchParams();
  for (const [name, template] of Object.entries(templates)) {
    const value = filled(template, values);
    if (value === undefined || value === null) continue;
    for (const each of Array.isArray(value) ? value : [value]) {
      query.append(name, typeof each === 'string' ? each : JSON.stringify(each));
    }
  }
  return query;
}

/** URL from `base` and the path and query of a description. Placeholders in the path are encoded. */
export function addressOf(
  base: string,
  of: { path: string; query: Readonly<Record<string, unknown>> },
  values: DescriptionValues,
): string {
  const path = of.path.replace(NAME, (_, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    return encodeURIComponent(typeof value === 'string' ? value : JSON.stringify(value ?? ''));
  });
  const query = queryOf(of.query, values).toString();
  const whole = `${base.replace(/\/+$/, '')}${path}`;
  if (query === '') return whole;
  return `${whole}${whole.includes('?') ? '&' : '?'}${query}`;
}

export function headersOf(
  templates: Readonly<Record<string, string>>,
  values: DescriptionValues,
): Record<string, string> {
  const headers = Object.entries(templates).flatMap(([name, template]): [string, string][] => {
    const value = filledText(template, values);
    return typeof value === 'string' ? [[name.toLowerCase(), value]] : [];
  });
  return Object.fromEntries(headers);
}

/** Value at a path in a message. Undefined if there is none. */
export function valueAt(value: unknown, path: string): unknown {
  let at = value;
  for (const name of path.split('.')) {
    if (Array.isArray(at) && /^-?\d+$/.test(name)) at = at.at(Number(name));
    else if (isObject(at) && Object.hasOwn(at, name)) at = at[name];
    else return undefined;
  }
  return at;
}

export function textAt(value: unknown, path: string | undefined): string | undefined {
  const found = path === undefined ? undefined : valueAt(value, path);
  if (typeof found === 'number') return String(found);
  return typeof found === 'string' ? found : undefined;
}

export function numberAt(value: unknown, path: string | undefined): number | undefined {
  const found = path === undefined ? undefined : valueAt(value, path);
  const number = typeof found === 'string' && found !== '' ? Number(found) : found;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export function meetsConditions(message: unknown, conditions: readonly Condition[]): boolean {
  return conditions.every((each) => {
    const value = valueAt(message, each.path);
    const exists = value !== undefined && value !== null;
    if (each.exists !== undefined && each.exists !== exists) return false;
    if (each.equals !== undefined && value !== each.equals) return false;
    if (each.not !== undefined && (!exists || value === each.not)) return false;
    return each.in === undefined || each.in.some((one) => one === value);
  });
}

export interface DescribedFault extends Partial<FaultDetails> {
  kind: FaultKind;
  detail: string;
}

/** Error that a message reports. Undefined for other messages. */
export function errorIn(
  message: unknown,
  errors: readonly ReportedError[],
): DescribedFault | undefined {
  const error = errors.find(({ when }) => meetsConditions(message, when));
  if (error === undefined) return undefined;
  const code = textAt(message, error.code);
  const { kinds = {} } = error;
  return {
    kind: (code !== undefined && Object.hasOwn(kinds, code) && kinds[code]) || error.kind,
    detail: textAt(message, error.detail) ?? 'an error without words',
    ...(code !== undefined && { vendorCode: code.slice(0, 80) }),
  };
}
