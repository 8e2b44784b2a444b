import { execFile, spawn } from 'node:child_process';
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { systemClock as clock } from '../../src/std/clock.ts';
import { LineOutput } from '../../src/std/line-output.ts';

const POLL = { timeout: 10_000, interval: 10 };
const path = JSON.stringify(new URL('../../src/std/line-output.ts', import.meta.url).href);
const clockPath = JSON.stringify(new URL('../../src/std/clock.ts', import.meta.url).href);
const run = promisify(execFile);

/** Runs a program that has LineOutput and `rest(ms)`, in a shell that gives it its standard output. */
async function inShell(program: string, output: string): Promise<string> {
  const code = `
    const { LineOutput } = await import(${path});
    const { systemClock: clock } = await import(${clockPath});
    const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    ${program}`;
  const command = `timeout 20 "$0" --import tsx --input-type=module -e "$1" ${output}`;
  const { stderr } = await run('bash', ['-c', command, process.execPath, code]);
  return stderr;
}

describe('output of lines', () => {
  let folder = '';
  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'patchbay-lines-'));
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('writes all lines in order', async () => {
    const file = join(folder, 'ordered');
    const fd = openSync(file, 'w');
    const output = new LineOutput({ clock, target: fd });
    const lines = Array.from({ length: 20_000 }, (_, i) => `line ${i} é\n`);
    for (const line of lines) output.write(line);
    await vi.waitFor(
      () => expect(readFileSync(file, 'utf8').length).toBe(lines.join('').length),
      POLL,
    );
    expect(readFileSync(file, 'utf8')).toBe(lines.join(''));
    closeSync(fd);
  });

  it('drops and counts lines that exceed its limit', () => {
    const fd = openSync(join(folder, 'limited'), 'w');
    let dropped = 0;
    const onDropped = (lines: number) => {
      dropped += lines;
    };
    const output = new LineOutput({ clock, target: fd, charactersMax: 100, onDropped });
    // The first is under way, ten wait.
    for (let i = 0; i < 20; i++) output.write('123456789\n');
    expect(dropped).toBe(9);
    output.flushSync();
    closeSync(fd);
  });

  it('drops lines while the disk is full, goes on, and ends', async () => {
    const said = await inShell(
      `let dropped = 0;
       const output = new LineOutput({ clock, target: 1, retryMs: 10, onDropped: (lines) => { dropped += lines; } });
       for (let i = 0; i < 20; i++) { output.write('line\\n'); await rest(20); }
       output.write('last\\n');
       process.stderr.write('alive, ' + (dropped > 5 ? 'many' : dropped) + ' dropped');`,
      '>/dev/full',
    );
    expect(said).toBe('alive, many dropped');
  }, 30_000);

  it('drops lines when the reader has died, goes on, and ends', async () => {
    const said = await inShell(
      `const output = new LineOutput({ clock, target: 1, retryMs: 10 });
       for (let i = 0; i < 20; i++) { output.write('line\\n'); await rest(20); }
       process.stderr.write('alive');`,
      '| true',
    );
    expect(said).toBe('alive');
  }, 30_000);

  it('ends although the reader reads nothing, and has written what there was room for', async () => {
    const program = `
      const { LineOutput } = await import(${path});
    const { systemClock: clock } = await import(${clockPath});
      const output = new LineOutput({ clock, target: 1 });
      for (let i = 0; i < 30_000; i++) output.write('123456789\\n');
      process.stderr.write('alive');
      process.exit(0);`;
    const child = spawn(
      process.execPath,
      ['--import', 'tsx', '--input-type=module', '-e', program],
      { stdio: ['ignore', 'pipe', 'pipe'] },
    );
    child.stdout.pause();
    const code = await new Promise((resolve) => child.on('exit', resolve));
    expect(code).toBe(0);
  }, 30_000);

  it('names the number of dropped lines once lines are taken again', async () => {
    const file = join(folder, 'summary');
    const fd = openSync(file, 'w');
    const summary = (lines: number) => `dropped ${lines}\n`;
    const output = new LineOutput({ clock, target: fd, charactersMax: 8, summary });
    // The first is under way, the second waits, the others have no room.
    for (const line of ['one', 'two', 'three', 'four']) output.write(`${line}\n`);
    await vi.waitFor(() => expect(readFileSync(file, 'utf8')).toContain('two'), POLL);
    expect(readFileSync(file, 'utf8')).toBe('one\ndropped 2\ntwo\n');
    closeSync(fd);
  });
});
