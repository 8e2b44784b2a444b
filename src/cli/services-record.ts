// Command `patchbay services record`: a relay in front of a real service, whose address a configuration uses in place
// of the service's. Writes the messages of a call and the service to a file without keys, for a bug report or a
// fixture.

import { closeSync, openSync, writeSync } from 'node:fs';
import { GatewayError } from '../errors/gateway-error.ts';
import { systemClock } from '../std/clock.ts';
import { unwritable } from './capture-file.ts';
import type { CliIo } from './gateway-client.ts';
import { startRelay } from './record/service-relay.ts';
import { WireCapture } from './record/wire-capture.ts';

export const recordOptions = {
  to: { type: 'string' },
  out: { type: 'string' },
  sessions: { type: 'string' },
} as const;

/** Longest recording, in case the command is left running. */
const RECORD_MS_MAX = 60 * 60_000;
const SESSIONS_MAX = 1_000;
/** Time for the last messages of a session that has just ended. */
const REST_MS = 500;

/** Runs the command. Returns 0 after the sessions, 1 if none came in an hour. Throws COMMAND_INVALID. */
export async function servicesRecord(
  options: { to?: string; out?: string; sessions?: string },
  { out }: CliIo,
): Promise<number> {
  const to = addressOf(options.to);
  const wanted = countOf(options.sessions ?? '1');
  const file = openNew(options.out);
  let done = 0;
  try {
    const capture = new WireCapture({
      clock: systemClock,
      write: (line) => void writeSync(file, line),
    });
    let finish: () => void = () => undefined;
    const isDone = new Promise<void>((resolve) => {
      finish = resolve;
    });
    const relay = await startRelay({
      to,
      capture,
      onSession() {
        done += 1;
        if (done >= wanted) systemClock.after(REST_MS, finish);
      },
    });
    const deadline = systemClock.after(RECORD_MS_MAX, finish);
    out(
      `Give the service this address, with its key, and hold a call:\n  base_url ${relay.url}\n  (or ${relay.url.replace('http', 'ws')})\n`,
    );
    await isDone;
    deadline.cancel();
    await relay.close();
    out(
      `${capture.lines} lines of ${done} sessions in ${options.out}. Words of the call are in it.\n`,
    );
  } finally {
    closeSync(file);
  }
  return done > 0 ? 0 : 1;
}

function addressOf(given: string | undefined): URL {
  const url = URL.parse((given ?? '').replace(/^ws/, 'http'));
  if (url !== null && /^https?:$/.test(url.protocol) && url.search === '' && url.username === '') {
    return url;
  }
  throw invalid('say which service: --to https://api.deepgram.com, without keys');
}

function countOf(given: string): number {
  const count = Number(given);
  if (Number.isInteger(count) && count >= 1 && count <= SESSIONS_MAX) return count;
  throw invalid(`--sessions is a number from 1 to ${SESSIONS_MAX}`);
}

/** Opens a new file that only the owner can read; overwrites nothing. */
function openNew(path: string | undefined): number {
  if (path === undefined) throw invalid('say where to: --out FILE');
  try {
    return openSync(path, 'wx', 0o600);
  } catch (error) {
    throw unwritable(path, error);
  }
}

function invalid(problem: string): GatewayError {
  return new GatewayError('COMMAND_INVALID', { problem });
}
