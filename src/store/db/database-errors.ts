// Classification of database errors: whether the statement caused them, and whether its connection can be used again.

import { DatabaseError } from 'pg';
import { GatewayError } from '../../errors/gateway-error.ts';

/** The violated constraint (unique or foreign key); undefined for other errors. */
export function violated(error: unknown): string | undefined {
  if (!(error instanceof DatabaseError)) return undefined;
  return error.code === '23505' || error.code === '23503' ? error.constraint : undefined;
}

/** The GatewayError for a driver's error that the statement did not cause; other errors unchanged. */
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

/** Whether the server ended the statement to resolve a deadlock. */
export function isDeadlock(error: unknown): boolean {
  return error instanceof DatabaseError && error.code === '40P01';
}

/** Whether the connection is lost. A late answer does not count: the database may be busy with the statement. */
export function isConnectionLost(error: unknown): boolean {
  if (error instanceof DatabaseError) return /^57P0[123]$/.test(error.code ?? '');
  return error instanceof Error && /terminated|ECONNRESET|EPIPE/.test(error.message);
}

export function isUnusable(error: unknown): boolean {
  return !(error instanceof DatabaseError) || /^(57P|08)/.test(error.code ?? '');
}
