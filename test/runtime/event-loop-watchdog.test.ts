import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const guard = new URL('../../src/runtime/event-loop-watchdog.ts', import.meta.url).href;
const clock = new URL('../../src/std/clock.ts', import.meta.url).href;

/** Runs a process that is guarded with a limit of a second, and does `work`. */
function guarded(
  work: string,
): Promise<{ code: number | null; signal: string | null; said: string }> {
  const code = `
    import { startEventLoopWatchdog } from '${guard}';
    import { systemClock } from '${clock}';
    const guard = startEventLoopWatchdog(1_000, systemClock);
    const stand = (ms) => { const end = Date.now() + ms; while (Date.now() < end); };
    const rest = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
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

describe('the guard against stalls', { timeout: 60_000 }, () => {
  it('kills a process whose event loop stands still, and says so', async () => {
    const { signal, said } = await guarded('await rest(1_500); stand(20_000); process.exit(0);');
    expect(signal).toBe('SIGKILL');
    expect(said).toContain('The event loop has stood still for 1 s');
  });

  it('lets a process live that stops for a moment, and does not keep it alive', async () => {
    const end = await guarded(
      'await rest(1_500); for (let i = 0; i < 5; i++) { stand(400); await rest(300); }',
    );
    expect(end).toMatchObject({ code: 0, signal: null });
  });

  it('ends with the process that stops it', async () => {
    const end = await guarded(
      'await rest(500); await guard.stop(); stand(3_000); process.exit(7);',
    );
    expect(end).toMatchObject({ code: 7, signal: null });
  });
});
