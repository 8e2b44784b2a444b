// Files of captures that commands write: new ones, for the eyes of their owner alone.

import { GatewayError } from '../errors/gateway-error.ts';

/** A file could not be made. */
export function unwritable(path: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = code === 'EEXIST' ? 'it exists' : code;
  const problem = `"${path}" cannot be written: ${reason}`;
  return new GatewayError('COMMAND_INVALID', { problem }, error);
}
