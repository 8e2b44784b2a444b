// Structured logs (pino, JSON, one fact a line) and the list of what never leaves in them.
// What people say or are goes only under a `pii.` key, which is redacted unless LOG_PII says otherwise.

import { type DestinationStream, type Logger, pino } from 'pino';

export type Log = Logger;

/** Field names whose values are secrets wherever they appear, up to three levels deep. */
const SECRET_FIELDS = [
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

export interface LogOptions {
  level: string;
  /** Write what people say and their numbers (`pii.*`). Off by default. */
  pii: boolean;
}

export function createLog(options: LogOptions, destination?: DestinationStream): Log {
  return pino(
    {
      level: options.level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: {
        level: (label) => ({ level: label }),
        log: (fields) => (options.pii ? fields : withoutPii(fields)),
      },
      redact: { paths: secretPaths, censor: '[redacted]' },
    },
    destination ?? pino.destination({ dest: 1, sync: false, minLength: 0 }),
  );
}

function withoutPii(fields: Record<string, unknown>): Record<string, unknown> {
  let clean = fields;
  for (const key in fields) {
    if (!key.startsWith('pii.')) continue;
    if (clean === fields) clean = { ...fields };
    clean[key] = '[redacted]';
  }
  return clean;
}
