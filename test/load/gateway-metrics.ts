// What a gateway tells of itself at /metrics: how long its event loop was kept waiting.

/** The interval of the timer with which Node.js measures the delay; it is part of what it reports. */
const RESOLUTION_MS = 10;
const ANSWER_MS_MAX = 15_000;
const DELAY_P99 = 'nodejs_eventloop_lag_p99_seconds';

/** The 99th percentile of the event loop's delay since the last look, the worst of all workers; null if
 *  the gateway does not tell. */
export async function eventLoopDelayP99Ms(url: string | undefined): Promise<number | null> {
  if (url === undefined) return null;
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return answer.ok ? delayIn(await answer.text()) : null;
  } catch {
    return null; // It has no metrics, or no time for them.
  }
}

export function delayIn(metrics: string): number | null {
  const lines = metrics.matchAll(new RegExp(`^${DELAY_P99}(?:\\{[^}]*\\})? (\\S+)`, 'gm'));
  const delaysMs = [...lines].map(([, seconds]) => Number(seconds) * 1_000 - RESOLUTION_MS);
  const known = delaysMs.filter((each) => Number.isFinite(each));
  return known.length === 0 ? null : Math.max(0, ...known);
}
