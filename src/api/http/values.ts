// Values on the wire: ids, flags and whole numbers of queries, timestamps. Ids go out as strings of
// digits and come in as strings or numbers. Source: contract decision 1 and §2; messages: pydantic 2.

import { z } from 'zod';
import { CONTEXT_LIMITS } from '../../model/json-limits.ts';
import { type JsonLimits, jsonExcess } from '../../std/json-size.ts';

/** What validation.ts words as an error of that pydantic type. */
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

/** Digits that a number may have, as Python limits them. */
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

/** Longest text that is looked up, and repeated in "not found"; ids have 19 digits at most. */
const ID_LENGTH_MAX = 64;

/** An id in a body or a query: a string of digits afterwards. Whether it names anything is the store's say. */
export const idIn = z.preprocess(
  (value, ctx) => {
    const checked = integerText(value);
    return 'value' in checked ? checked.value : refuse(ctx, value, checked.fault);
  },
  z.string().meta({ type: ['string', 'integer'], examples: ['42'] }),
);

/** An id in a path: a text that is no whole number stays as it is, and names nothing. */
export const idInPath = z.preprocess(
  (value) => {
    const checked = integerText(value);
    if ('value' in checked) return checked.value;
    return typeof value === 'string' ? value.slice(0, ID_LENGTH_MAX) : value;
  },
  z.string().meta({ examples: ['42'] }),
);

/** An id to a client. */
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
/** A time with an offset, as it may be written: without seconds (Java), `+0200` (PHP, strftime), `+02`. */
const WITH_OFFSET = /^(.{10}T\d\d:\d\d)(:\d\d(?:\.\d+)?)?(?:(Z)|([+-]\d\d):?(\d\d)?)$/;

/** A moment from a client, ISO 8601: with an offset, or else UTC; a day is its first moment in UTC. Years 0 to
 *  9999 in UTC, as a time to a client has no others. */
export const momentIn = z
  .string()
  .max(50)
  .meta({ format: 'date-time', examples: ['2026-05-01T00:00:00Z'] })
  .transform((text, ctx) => {
    const whole = wholeTime(text);
    const moment = new Date(whole);
    if (isoMoment.safeParse(whole).success && hasPlainYear(moment)) return moment;
    const message = 'Input should be a valid datetime';
    return refuse(ctx, text, { type: 'datetime_parsing', message });
  });

/** With seconds and an offset in hours and minutes, if it is a time; without an offset it is UTC. */
function wholeTime(text: string): string {
  const [, start, seconds = ':00', utc, hours, minutes = '00'] = WITH_OFFSET.exec(text) ?? [];
  if (start !== undefined) return start + seconds + (utc ?? `${hours}:${minutes}`);
  return /T[\d:.]+$/.test(text) ? wholeTime(`${text}Z`) : text;
}

function hasPlainYear(moment: Date): boolean {
  const year = moment.getUTCFullYear();
  return year >= 0 && year <= 9_999; // Of no moment at all it is NaN.
}

/** A moment to a client: ISO 8601 in UTC with milliseconds. */
export const timeOut = z.iso.datetime();

export function isoTime(date: Date): string {
  return date.toISOString();
}

export function isoTimeOrNull(date: Date | null): string | null {
  return date === null ? null : date.toISOString();
}

/** An object whose keys are not checked. */
export const freeObject = z.record(z.string(), z.unknown());

/** The same schema for JSON that is stored: no larger than calls can use. */
export function within<Schema extends z.ZodType>(schema: Schema, limits: JsonLimits): Schema {
  return schema.check((context) => {
    const excess = jsonExcess(context.value, limits);
    if (excess === undefined) return;
    context.issues.push({ code: 'custom', message: `is too large: ${excess}`, input: undefined });
  });
}

/** Variables, settings or metadata from a client. */
export const storedObject = within(freeObject, CONTEXT_LIMITS);
