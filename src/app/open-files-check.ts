// Check of the limit of open files at the start: below it, connections, recordings and the embedded database fail one
// by one under load, each with an error of its own.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';

/** Smallest limit: the embedded database of an idle gateway has 190 files open, and more for each table in use. */
const FILES_MIN = 512;
/** Open files of an idle call worker; with connections to the database it has 40. */
const FILES_IDLE = 64;
/** Open files of a call: media and control, two tracks and a transcript, model, tool, webhook. */
const FILES_PER_CALL = 8;
/** Calls of one call worker for which files must suffice; it has more only on a fast core. */
const CALLS_WANTED = 400;

/** Checks the limit. `limit`: that of each process; undefined: unknown. Throws OPEN_FILES_LIMIT. */
export function checkOpenFiles(limit: number | undefined, log: Log): void {
  if (limit === undefined) return;
  if (limit < FILES_MIN)
    throw new GatewayError('OPEN_FILES_LIMIT', { limit, needed: wanted(), min: FILES_MIN });
  const calls = Math.floor((limit - FILES_IDLE) / FILES_PER_CALL);
  if (calls >= CALLS_WANTED) return;
  log.warn({ limit, calls, needed: wanted() }, 'the limit of open files allows few calls');
}

function wanted(): number {
  return FILES_IDLE + CALLS_WANTED * FILES_PER_CALL;
}
