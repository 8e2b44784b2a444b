// What a gateway reports at /metrics: how long its event loop was kept waiting, what it holds.

/** The interval of the timer with which Node.js measures the delay; it is part of what it reports. */
const RESOLUTION_MS = 10;
const ANSWER_MS_MAX = 15_000;
const DELAY_P99 = 'nodejs_eventloop_lag_p99_seconds';

/** Processes whose event loop no audio shares. */
const WITHOUT_CALLS = /\bworker="(supervisor|api)"/;

const OF_API = /\bworker="api"/;

const TIMERS = 'nodejs_active_resources{type="Timeout"}';

/** Null: the gateway does not report it. */
export interface GatewayMetrics {
  /** The 99th percentile of the event loop's delay since the last look, the worst of all processes that hold calls. */
  eventLoopDelayP99Ms: number | null;
  /** The same of the process that serves the API, if that is one of its own. */
  apiLoopDelayP99Ms: number | null;
  /** Timers that run, of all processes. */
  timers: number | null;
}

const NOTHING: GatewayMetrics = {
  eventLoopDelayP99Ms: null,
  apiLoopDelayP99Ms: null,
  timers: null,
};

/** `url` of the metrics, undefined if it is not known. Never rejects. */
export async function gatewayMetrics(url: string | undefined): Promise<GatewayMetrics> {
  const text = await metricsText(url);
  return text === '' ? NOTHING : readMetrics(text);
}

/** Empty if the gateway does not answer. Never rejects. */
export async function metricsText(url: string | undefined): Promise<string> {
  if (url === undefined) return '';
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(ANSWER_MS_MAX) });
    return answer.ok ? await answer.text() : '';
  } catch {
    return ''; // It has no metrics, or no time for them.
  }
}

const FAULTS = /^patchbay_service_faults_total\{([^}]*)\} (\S+)$/gm;

/** Faults of speech services by job and kind, all services and workers together. */
export function readServiceFaults(text: string): Record<string, number> {
  const faults: Record<string, number> = {};
  for (const [, labels = '', count = ''] of text.matchAll(FAULTS)) {
    const of = (name: string) => new RegExp(`\\b${name}="([^"]*)"`).exec(labels)?.[1] ?? '';
    const name = `${of('kind')} ${of('fault')}`;
    faults[name] = (faults[name] ?? 0) + Number(count);
  }
  return faults;
}

export function readMetrics(text: string): GatewayMetrics {
  const lines = text.split('\n');
  const delayMs = (chosen: readonly string[]): number | null => {
    const delays = valuesOf(chosen, DELAY_P99).map((seconds) => seconds * 1_000 - RESOLUTION_MS);
    return delays.length === 0 ? null : Math.max(0, ...delays);
  };
  const timers = valuesOf(lines, TIMERS);
  return {
    eventLoopDelayP99Ms: delayMs(lines.filter((line) => !WITHOUT_CALLS.test(line))),
    apiLoopDelayP99Ms: delayMs(lines.filter((line) => OF_API.test(line))),
    timers: timers.length === 0 ? null : timers.reduce((sum, each) => sum + each, 0),
  };
}

/** Values of a metric, by its name, with its first label if it has one; further labels may follow. */
function valuesOf(lines: readonly string[], metric: string): number[] {
  const name = metric.replace(/\}$/, '');
  return lines
    .filter((line) => line.startsWith(name) && /[ {,}]/.test(line.charAt(name.length)))
    .map((line) => Number(line.slice(line.lastIndexOf(' ') + 1)))
    .filter((value) => Number.isFinite(value));
}
