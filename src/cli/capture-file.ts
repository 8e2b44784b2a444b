// Files for captures that commands write: new files that only their owner can read.

import { GatewayError } from '../errors/gateway-error.ts';

/** Error for a file that could not be created. */
export function unwritable(path: string, error: unknown): GatewayError {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = code === 'EEXIST' ? 'it exists' : code;
  const problem = `"${path}" cannot be written: ${reason}`;
  return new GatewayError('COMMAND_INVALID', { problem }, error);
}
