// What errors of the database mean: whether the statement is the cause, and whether its connection can be used again.

import { DatabaseError } from 'pg';
import { GatewayError } from '../../errors/gateway-error.ts';

/** The constraint (unique or foreign key) that was violated, if `error` is such an error. */
export function violated(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  return error.code === '23505' || error.code === '23503' ? error.constraint : undefined;
}

/** A driver's error as one of ours, where the statement is not the cause. */
export function asStoreError(error: unknown): unknown {
  if (error instanceof GatewayError) return error;
  if (!(error instanceof DatabaseError)) return new GatewayError('STORE_UNAVAILABLE', {}, error);
  // These may quote rows: names, numbers, credentials.
  error.detail = undefined;
  error.where = undefined;
  error.internalQuery = undefined;
  const [, parameter] =
    /unsupported startup parameter(?: in options)?: (\w+)/.exec(error.message) ?? [];
  if (parameter !== undefined) return new GatewayError('STORE_POOLER', { parameter }, error);
  if (error.code === '53100') return new GatewayError('STORE_FULL', {}, error);
  const unavailable = /^(08|53|57|58|40001|40P01|25P03|55P03)/.test(error.code ?? '');
  return unavailable ? new GatewayError('STORE_UNAVAILABLE', {}, error) : error;
}

/** The server ends one of the statements that wait for each other. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

/** Not an answer that is late: the database may be busy with the statement. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^57P0[123]$/.test(error.code ?? '');
  return error instanceof Error && /terminated|ECONNRESET|EPIPE/.test(error.message);
}

export function isUnusable(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(57P|08)/.test(error.code ?? '');
}
