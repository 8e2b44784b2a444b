import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Progress } from '../../scripts/progress.mjs';

const ERASE = '\r\u001b[K';

beforeEach(() => {
  vi.useFakeTimers();
  vi.stubEnv('TERM', 'xterm');
});
afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllEnvs();
});

class Screen {
  readonly isTTY: boolean;
  readonly columns = 40;
  text = '';

  constructor(isTTY: boolean) {
    this.isTTY = isTTY;
  }

  write(text: string): void {
    this.text += text;
  }
}

/** Work that lasts. */
async function lasting(ms: number): Promise<string> {
  await new Promise((done) => setTimeout(done, ms));
  return 'done';
}

describe('progress on a terminal', () => {
  it('shows each second which steps run, in one line, which is gone in the end', async () => {
    const screen = new Screen(true);
    const progress = new Progress('set-up', screen);
    const work = [
      progress.during('npm ci', lasting(2_100)),
      progress.during('apt', lasting(1_100)),
    ];
    await vi.advanceTimersByTimeAsync(1_000);
    expect(screen.text).toBe(`${ERASE}[set-up] ... npm ci 1 s, apt 1 s`);
    await vi.advanceTimersByTimeAsync(2_000);
    expect(screen.text.endsWith(`${ERASE}[set-up] ... npm ci 2 s${ERASE}`)).toBe(true);
    expect(await Promise.all(work)).toEqual(['done', 'done']);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('keeps lines apart from it, and never writes more than fits', async () => {
    const screen = new Screen(true);
    const progress = new Progress('', screen);
    const work = progress.during('a step with a name that is longer than the line', lasting(1_500));
    await vi.advanceTimersByTimeAsync(1_000);
    const steps = '... a step with a name that is longer ';
    screen.text = '';
    progress.print('said');
    expect(screen.text).toBe(`${ERASE}said\n${ERASE}${steps}t`);
    await vi.advanceTimersByTimeAsync(1_000);
    await work;
  });
});

describe('progress elsewhere', () => {
  it('is a plain line after five seconds without any other', async () => {
    const screen = new Screen(false);
    const progress = new Progress('set-up', screen);
    const work = progress.during('npm ci', lasting(13_000));
    await vi.advanceTimersByTimeAsync(4_000);
    progress.say('Installing ...');
    await vi.advanceTimersByTimeAsync(4_000);
    expect(screen.text).toBe('[set-up] Installing ...\n');
    await vi.advanceTimersByTimeAsync(5_000);
    await work;
    expect(screen.text).toBe('[set-up] Installing ...\n[set-up] ... npm ci 9 s\n');
  });

  it('is plain on a terminal that cannot erase', async () => {
    vi.stubEnv('TERM', 'dumb');
    const screen = new Screen(true);
    const work = new Progress('', screen).during('npm ci', lasting(6_000));
    await vi.advanceTimersByTimeAsync(6_000);
    await work;
    expect(screen.text).toBe('... npm ci 5 s\n');
  });
});

it('a step that fails is shown no longer, and fails', async () => {
  const screen = new Screen(true);
  const failing = new Progress('', screen).during('npm ci', Promise.reject(new Error('broken')));
  await expect(failing).rejects.toThrow('broken');
  expect(vi.getTimerCount()).toBe(0);
});
