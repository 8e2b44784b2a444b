import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { startEventLoopWatchdog } from '../../src/runtime/event-loop-watchdog.ts';
import type { Fault } from '../../src/runtime/self-test-report.ts';
import { systemClock } from '../../src/std/clock.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const guard = new URL('../../src/runtime/event-loop-watchdog.ts', import.meta.url).href;
const clock = new URL('../../src/std/clock.ts', import.meta.url).href;

/** Runs a process that is guarded with a limit of a second, and does `work`. */
function guarded(
  work: string,
): Promise<{ code: number | null; signal: string | null; said: string }> {
  const code = `
    import { startEventLoopWatchdog } from '${guard}';
    import { systemClock } from '${clock}';
    const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    let isTested = false;
    const onTested = (fault) => {
      isTested = true;
      console.error('tested:', fault);
    };
    const guard = startEventLoopWatchdog({ limitMs: 1_000, clock: systemClock, onTested });
    while (!isTested) await rest(20);
    const stand = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
    ${work}`;
  const child = spawn(
    process.execPath,
    ['--import', 'tsx', '--input-type=module', '--eval', code],
    { cwd: fileURLToPath(new URL('../..', import.meta.url)), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.on('data', (text) => {
    said += String(text);
  });
  return new Promise((resolve) =>
    child.once('close', (exitCode, signal) => resolve({ code: exitCode, signal, said })),
  );
}

describe('the event loop watchdog', { timeout: 60_000 }, () => {
  it('kills a process with a blocked event loop, and logs it', async () => {
    const { signal, said } = await guarded('await rest(500); stand(20_000); process.exit(0);');
    expect(signal).toBe('SIGKILL');
    expect(said).toMatch(/^tested: undefined\n/);
    expect(said).toContain('was blocked for 1 s: the process is killed (PATCHBAY_STALL_SECONDS)');
  });

  it('does not kill a process that stops for a moment, and does not keep it running', async () => {
    const end = await guarded(
      'await rest(500); for (let i = 0; i < 5; i++) { stand(400); await rest(300); }',
    );
    expect(end).toMatchObject({ code: 0, signal: null });
  });

  it('ends with the process that stops it', async () => {
    const end = await guarded(
      'await rest(500); await guard.stop(); stand(3_000); process.exit(7);',
    );
    expect(end).toMatchObject({ code: 7, signal: null });
  });

  it.each([
    ["throw new Error('no threads here')", 'no threads here'],
    ['process.exit(0)', 'its thread has ended'],
  ])('reports once that its thread does not check: %s', async (code, fault) => {
    const faults = await new Promise((resolve) => {
      const seen: Fault[] = [];
      const guard = startEventLoopWatchdog({
        limitMs: 60_000,
        clock: systemClock,
        entry: new URL(`data:text/javascript,${encodeURIComponent(code)}`),
        onTested(found) {
          seen.push(found);
          void guard.stop().then(() => resolve(seen));
        },
      });
    });
    expect(faults).toEqual([fault]);
  });

  it('reports a thread that never checks', async () => {
    const fake = new FakeClock();
    const seen: Fault[] = [];
    const guard = startEventLoopWatchdog({
      limitMs: 60_000,
      clock: fake,
      entry: new URL('data:text/javascript,setInterval(() => undefined, 1000)'),
      onTested: (fault) => seen.push(fault),
    });
    fake.advance(30_000);
    expect(seen).toEqual([]);
    fake.advance(500);
    expect(seen).toEqual(['its thread does not look']);
    await guard.stop();
  });
});
