// Schemas of common values: ids, flags and integers of queries, timestamps. Ids are strings of digits in replies, and
// strings or numbers in requests. Source: contract decision 1 and §2; messages: pydantic 2.

import { z } from 'zod';
import { CONTEXT_LIMITS } from '../../model/json-limits.ts';
import type { Run } from '../../model/run.ts';
import { type JsonLimits, jsonExcess } from '../../std/json-size.ts';

/** A fault that validation.ts words as an error of that pydantic type. */
interface ValueFault {
  type: string;
  message: string;
}

const notParsed: ValueFault = {
  type: 'int_parsing',
  message: 'Input should be a valid integer, unable to parse string as an integer',
};
const notInteger: ValueFault = { type: 'int_type', message: 'Input should be a valid integer' };
const notWhole: ValueFault = {
  type: 'int_from_float',
  message: 'Input should be a valid integer, got a number with a fractional part',
};

/** Digits of a number at most, as in Python. */
const DIGITS_MAX = 4_300;
const INTEGER = /^\s*([+-]?)0*(\d+)(\.0*)?\s*$/;

type Checked = { value: string } | { fault: ValueFault };

function integerText(value: unknown): Checked {
  if (typeof value === 'number') {
    if (!Number.isInteger(value)) return { fault: notWhole };
    return { value: BigInt(value).toString() };
  }
  if (typeof value !== 'string') return { fault: notInteger };
  const parts = value.length <= DIGITS_MAX ? INTEGER.exec(value) : null;
  if (parts === null) return { fault: notParsed };
  return { value: `${parts[1] === '-' ? '-' : ''}${parts[2]}` };
}

function refuse(ctx: z.core.$RefinementCtx, input: unknown, { type, message }: ValueFault): never {
  ctx.issues.push({ code: 'custom', message, params: { type }, input });
  return z.NEVER;
}

/** Longest text that is looked up, and repeated in "not found"; ids have at most 19 digits. */
const ID_LENGTH_MAX = 64;

/** The name of something, which people must be able to see. */
export function nameIn(max: number) {
  return z
    .string()
    .min(1)
    .max(max)
    .refine((name) => name === '' || /[^\s\p{Cf}]/u.test(name), 'a name must not be blank')
    .describe(`A name for people, of 1 to ${max} characters that are not all white space.`);
}

/** An id in a body or a query, parsed to a string of digits. The store decides whether it exists. */
export const idIn = z.preprocess(
  (value, ctx) => {
    const checked = integerText(value);
    return 'value' in checked ? checked.value : refuse(ctx, value, checked.fault);
  },
  z.string().meta({ type: ['string', 'integer'], examples: ['42'] }),
);

/** An id in a path. A text that is no whole number is unchanged, and matches no row. */
export const idInPath = z.preprocess(
  (value) => {
    const checked = integerText(value);
    if ('value' in checked) return checked.value;
    return typeof value === 'string' ? value.slice(0, ID_LENGTH_MAX) : value;
  },
  z.string().meta({ examples: ['42'] }),
);

/** An id in a reply. */
export const idOut = z.string().meta({ examples: ['42'] });

/** A whole number in a query. */
export function queryInteger(min: number, max = Number.MAX_SAFE_INTEGER) {
  return z.preprocess(
    (value, ctx) => {
      if (value === undefined) return undefined;
      const checked = integerText(value);
      return 'value' in checked ? Number(checked.value) : refuse(ctx, value, checked.fault);
    },
    z.number().min(min).max(max).meta({ type: 'integer' }),
  );
}

const flags: Readonly<Record<string, boolean>> = {
  true: true,
  '1': true,
  yes: true,
  y: true,
  on: true,
  t: true,
  false: false,
  '0': false,
  no: false,
  n: false,
  off: false,
  f: false,
};

/** A flag in a query. */
export const queryFlag = z.preprocess((value, ctx) => {
  if (typeof value !== 'string') return value;
  const flag = flags[value.toLowerCase()];
  if (flag !== undefined) return flag;
  const message = 'Input should be a valid boolean, unable to interpret input';
  return refuse(ctx, value, { type: 'bool_parsing', message });
}, z.boolean());

const isoMoment = z.iso.datetime({ offset: true, local: true }).or(z.iso.date());
/** A time with an offset in any common form: without seconds (Java), `+0200` (PHP, strftime), `+02`. */
const WITH_OFFSET = /^(.{10}T\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+-]\d\d):?(\d\d)?)$/;

/** A moment in a request, ISO 8601: with an offset, else UTC; a day is its first moment in UTC. Years 0 to 9999 in
 *  UTC, because replies cannot have others. */
export const momentIn = z
  .string()
  .max(50)
  .meta({
    description:
      'A moment in ISO 8601, such as `2026-05-01T09:30:00+02:00`. Without an offset it is UTC, and a day is its first moment.',
    examples: ['2026-05-01T00:00:00Z'],
  })
  .transform((text, ctx) => {
    const whole = wholeTime(text);
    const moment = new Date(whole);
    if (isoMoment.safeParse(whole).success && hasPlainYear(moment)) return moment;
    const message = 'Input should be a valid datetime';
    return refuse(ctx, text, { type: 'datetime_parsing', message });
  });

/** The text with seconds and an offset in hours and minutes, if it is a time; without an offset it is UTC. */
function wholeTime(text: string): string {
  const [, start, seconds = ':00', utc, hours, minutes = '00'] = WITH_OFFSET.exec(text) ?? [];
  if (start !== undefined) return start + seconds + (utc ?? `${hours}:${minutes}`);
  return /T[\d:.]+$/.test(text) ? wholeTime(`${text}Z`) : text;
}

function hasPlainYear(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 0 && year <= 9_999; // An invalid date has NaN.
}

/** A moment in a reply: ISO 8601 in UTC with milliseconds. */
export const timeOut = z.iso.datetime();

export function isoTime(date: Date): string {
  return date.toISOString();
}

export function isoTimeOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** An object whose keys are not checked. */
export const freeObject = z.record(z.string(), z.unknown());

/** The same schema for JSON that is stored, no larger than calls can use. */
export function within<Schema extends z.ZodType>(schema: Schema, limits: JsonLimits): Schema {
  return schema.check((context) => {
    const excess = jsonExcess(context.value, limits);
    if (excess === undefined) return;
    context.issues.push({ code: 'custom', message: `is too large: ${excess}`, input: undefined });
  });
}

/** Variables, settings or metadata from a client. */
export const storedObject = within(freeObject, CONTEXT_LIMITS);

/** Host of a node. By default a node's name has its host and its data folder, which clients must not see. */
export function hostOf(node: string): string {
  const [host = node] = node.split(':/');
  return host;
}

/** A text of the run's initial context, such as `caller_number`; null without one. */
export function contextText({ initialContext }: Pick<Run, 'initialContext'>, key: string) {
  const value = initialContext[key];
  return typeof value === 'string' ? value : null;
}
