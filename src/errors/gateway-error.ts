// Every error the gateway raises on purpose: one row per code (the `*-codes.ts` files), one class.
// Callers match on `code`, never on `message`. HTTP statuses live in api/http/error-status.ts, not here.

import { callErrors } from './call-codes.ts';
import { requestErrors, resourceErrors } from './resource-codes.ts';

const table = { ...requestErrors, ...resourceErrors, ...callErrors } satisfies Record<
  string,
  { retry: boolean; text: string }
>;

export type ErrorCode = keyof typeof table;
export type Facts = Record<string, string | number>;

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: ErrorCode;
  /** Facts for the log line and the text: ids, sizes, names. Never audio, speech or secrets. */
  readonly facts: Facts;

  constructor(code: ErrorCode, facts: Facts = {}, cause?: unknown) {
    super(fill(table[code].text, facts), cause === undefined ? undefined : { cause });
    this.code = code;
    this.facts = facts;
  }

  /** Whether the same request may succeed later. */
  get retry(): boolean {
    return table[this.code].retry;
  }
}

/** Text of an error with its `facts`. */
export function errorText(code: ErrorCode, facts: Facts): string {
  return fill(table[code].text, facts);
}

/** Whether `text` is an error code of the gateway, such as the reason of a close. */
export function isErrorCode(text: string): text is ErrorCode {
  return Object.hasOwn(table, text);
}

/** Code of `error` if it is a GatewayError, else undefined. */
export function codeOf(error: unknown): ErrorCode | undefined {
  return error instanceof GatewayError ? error.code : undefined;
}

function fill(text: string, facts: Facts): string {
  return text.replace(/\{(\w+)\}/g, (whole, name: string) => String(facts[name] ?? whole));
}
