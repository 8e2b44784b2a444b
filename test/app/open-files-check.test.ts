import { spawnSync } from 'node:child_process';
import { expect, it } from 'vitest';
import { checkOpenFiles } from '../../src/app/open-files-check.ts';
import { openFilesMax } from '../../src/runtime/open-files.ts';
import { quietLog } from '../fakes/quiet-log.ts';

it('the limit of open files is the soft one, which may be none', () => {
  const line = (soft: string) =>
    `Limit   Soft Limit  Hard Limit  Units\nMax open files            ${soft}   524288   files     \n`;
  expect(openFilesMax(line('1024'))).toBe(1_024);
  expect(openFilesMax(line('unlimited'))).toBeUndefined();
  expect(openFilesMax('')).toBeUndefined();
});

it('a limit that allows few calls is a warning with their number, a higher or unknown one is none', () => {
  const { log, lines } = quietLog();
  checkOpenFiles(1_024, log);
  checkOpenFiles(4_096, log);
  checkOpenFiles(undefined, log);
  expect(lines()).toMatchObject([{ level: 'warn', limit: 1_024, calls: 120, needed: 3_264 }]);
});

it('a gateway with too low a limit does not start, and says how to raise it', () => {
  const command = 'ulimit -n 256 && exec "$0" --import tsx src/main.ts';
  const env = { ...process.env, PATCHBAY_DATA: '/nowhere/at/all', PATCHBAY_PORT: '1' };
  const { status, stderr } = spawnSync('sh', ['-c', command, process.execPath], {
    env,
    encoding: 'utf8',
    timeout: 60_000,
  });
  expect(stderr).toMatch(/^OPEN_FILES_LIMIT: .*256.*ulimit -n.*LimitNOFILE.*--ulimit/m);
  expect(status).toBe(1);
}, 90_000);
