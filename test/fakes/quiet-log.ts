// A log that keeps its lines for tests instead of printing them.

import { createLog, type Log } from '../../src/log.ts';

export function quietLog(level = 'debug'): { log: Log; lines: () => Record<string, unknown>[] } {
  const written: string[] = [];
  const log = createLog(
    { level, pii: false },
    { write: (line: string) => void written.push(line) },
  );
  return { log, lines: () => written.map((line) => JSON.parse(line)) };
}
