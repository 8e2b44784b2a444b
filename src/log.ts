// Structured logs (pino, JSON, one fact a line) and the list of what is redacted in them. Personal data (speech,
// phone numbers) goes only under a `pii.` key, which is redacted unless LOG_PII says otherwise; never into a child
// logger's own fields, which pino serializes beforehand (test/tidy checks it).

import { type DestinationStream, type Logger, pino } from 'pino';
import { GatewayError } from './errors/gateway-error.ts';
import { logLinesDropped } from './metrics/metrics.ts';
import { systemClock as clock } from './std/clock.ts';
import { LineOutput } from './std/line-output.ts';
import { terminalLine } from './std/terminal-lines.ts';

export type Log = Logger;

/** Field names whose values are secrets at any place, up to three levels deep. */
const SECRET_FIELDS = [
  'account_sid',
  'auth_id',
  'auth_token',
  'authToken',
  'api_key',
  'apiKey',
  'api_secret',
  'app_password',
  'bearer_token',
  'private_key',
  'signature_secret',
  'webhook_public_key',
  'password',
  'token',
  'secret',
  'authorization',
  'Authorization',
  '["x-api-key"]',
  '["x-twilio-signature"]',
] as const;

const prefixes = ['', '*.', '*.*.'];
const secretPaths = SECRET_FIELDS.flatMap((field) =>
  prefixes.map((prefix) =>
    field.startsWith('[') ? `${prefix.slice(0, -1)}${field}` : `${prefix}${field}`,
  ),
);

/** Node.js error codes that only a bug in our own code can cause. */
const OUR_FAULTS =
  /^ERR_(INVALID_|ASSERTION|INTERNAL_ASSERTION|MISSING_ARGS|OUT_OF_RANGE|BUFFER_|STREAM_WRITE_AFTER_END|HTTP_HEADERS_SENT|UNKNOWN_)/;
/** Causes of an error that are logged; deeper ones are ignored. */
const CAUSES_MAX = 5;
/** Levels of a line's fields that are searched for `pii.` keys; nothing deeper is logged. */
const LEVELS_MAX = 5;

export interface LogOptions {
  /** Undefined: `info`; at a terminal `warn`. */
  level: string | undefined;
  /** Write personal data (`pii.*`: speech, phone numbers). Off by default. */
  pii: boolean;
}

export function createLog(options: LogOptions, destination?: DestinationStream): Log {
  const shown = (fields: Fields): Fields => (options.pii ? fields : withoutPii(fields));
  return pino(
    {
      level: options.level ?? (destination === undefined && isAtTerminal() ? 'warn' : 'info'),
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: shown,
      },
      serializers: {
        err: (error: Error) => shown(errorFields(error)),
      },
      redact: { paths: secretPaths, censor: '[redacted]' },
    },
    destination ?? standardOutput(),
  );
}

/** Whether a person reads standard output. Its processes share it with the gateway's first one. */
function isAtTerminal(): boolean {
  return process.stdout.isTTY === true;
}

/** Standard output of a log: plain lines at a terminal, else JSON. A full disk or a pipe with a dead or slow reader
 *  must not end calls. */
function standardOutput(): DestinationStream & { flushSync(): void } {
  const shown = isAtTerminal() ? terminalLine : (line: string) => line;
  const output = new LineOutput({
    target: 1,
    clock,
    onDropped: (lines) => logLinesDropped.inc(lines),
    summary: (lines) =>
      shown(
        `${JSON.stringify({ level: 'warn', time: new Date(clock.now()).toISOString(), lines, msg: 'log lines were dropped because the log was not writable' })}\n`,
      ),
  });
  return {
    write: (line) => output.write(shown(line)),
    flushSync: () => output.flushSync(), // pino calls it behind a fatal line.
  };
}

type Fields = Record<string, unknown>;

/** Fields of an error. An operating error is described by its code and text; the stack is for bugs in our own code. */
function errorFields(error: Error): Fields {
  const fields: Fields = { ...pino.stdSerializers.err(error) };
  if (isOperating(error)) delete fields['stack'];
  return fields;
}

/** Whether the error and all its causes are a GatewayError or come from the system, the database or the network. */
function isOperating(error: unknown): boolean {
  let each = error;
  for (let level = 0; level < CAUSES_MAX && each instanceof Error; level++) {
    const code = 'code' in each && typeof each.code === 'string' ? each.code : undefined;
    if (code === undefined || OUR_FAULTS.test(code)) return false;
    each = each.cause;
  }
  return error instanceof GatewayError;
}

/** Returns the same object if it has nothing to redact. */
function withoutPii(fields: Fields, level = 1): Fields {
  let clean = fields;
  for (const [key, value] of Object.entries(fields)) {
    const shown = key.startsWith('pii.') ? '[redacted]' : cleanValue(value, level);
    if (shown === value) continue;
    if (clean === fields) clean = { ...fields };
    clean[key] = shown;
  }
  return clean;
}

function cleanValue(value: unknown, level: number): unknown {
  if (level >= LEVELS_MAX) return value;
  if (Array.isArray(value)) return value.map((each) => cleanValue(each, level + 1));
  return isPlain(value) ? withoutPii(value, level + 1) : value;
}

function isPlain(value: unknown): value is Fields {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && Object.getPrototypeOf(value) === Object.prototype;
}
