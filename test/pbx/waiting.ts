// Waits of the real-PBX run, each with a maximum.

const POLL_MS = 50;

export function pause(ms: number): Promise<void> {
  return new Promise((done) => {
    setTimeout(done, ms);
  });
}

/** The first value that is neither undefined nor false. Throws, naming what was waited for, after `msMax`. */
export async function until<T>(
  what: string,
  msMax: number,
  look: () => T | undefined | false | Promise<T | undefined | false>,
): Promise<T> {
  for (const deadline = performance.now() + msMax; ; ) {
    const isLast = performance.now() > deadline;
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (isLast) throw new Error(`not within ${msMax / 1_000} s: ${what}`);
    await pause(POLL_MS);
  }
}
