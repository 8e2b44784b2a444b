// Watches this gateway for the console's page of the system: samples the metrics of all its processes, evaluates the alert
// rules over the last minutes, and says how calls find the services.

import type { Log } from '../log.ts';
import { ALERT_WINDOW_MS_MAX, watchedSeries } from '../metrics/alert-rules.ts';
import { type AlertState, AlertStates } from '../metrics/alert-states.ts';
import { MetricHistory, type SampledMetric, sumsBy } from '../metrics/metric-history.ts';
import type { GatewayCondition } from '../model/gateway-condition.ts';
import type { ServiceNotes } from '../model/service-state.ts';
import type { Clock } from '../std/clock.ts';
import { JobLoop } from '../std/job-loop.ts';

/** Interval of the samples, twice that of our Prometheus: the shortest wait of a rule is a minute. */
const SAMPLE_MS = 30_000;

interface SystemWatchDeps {
  /** Some series of all processes. */
  sample: (names: readonly string[]) => Promise<SampledMetric[]>;
  /** What all processes know of services. */
  notes: () => Promise<ServiceNotes[]>;
  condition: () => Promise<GatewayCondition>;
  clock: Clock;
  log: Log;
}

export class SystemWatch {
  readonly #deps: SystemWatchDeps;
  readonly #history = new MetricHistory(ALERT_WINDOW_MS_MAX);
  readonly #alerts = new AlertStates();
  readonly #loop: JobLoop;

  constructor(deps: SystemWatchDeps) {
    const { clock, log } = deps;
    this.#deps = deps;
    this.#loop = new JobLoop({
      clock,
      everyMs: SAMPLE_MS,
      run: async () => {
        this.#history.add(clock.monotonicMs(), await deps.sample(watchedSeries));
        this.#alerts.evaluate(this.#history, clock.now());
      },
      onError: (error) => log.warn({ err: error }, 'the alert rules were not evaluated'),
    });
  }

  /** Takes the first sample. Never rejects. */
  start(): void {
    void this.#loop.start();
  }

  stop(): Promise<void> {
    return this.#loop.stop();
  }

  /** The condition of this gateway at this moment. */
  condition(): Promise<GatewayCondition> {
    return this.#deps.condition();
  }

  get alerts(): readonly AlertState[] {
    return this.#alerts.all;
  }

  /** Services that calls have used, with their requests of the last ten minutes. */
  async services(): Promise<(ServiceNotes & { requests: number; failedRequests: number })[]> {
    const counted = this.#history.gained('patchbay_service_seconds_count', ALERT_WINDOW_MS_MAX);
    const requests = sumsBy(counted, ['kind', 'service', 'result']);
    const notes = await this.#deps.notes();
    const known = new Map(notes.map((each) => [`${each.job} ${each.service}`, each]));
    for (const { labels } of requests) {
      const { kind: job, service = '' } = labels;
      if (job !== 'llm' && job !== 'tts' && job !== 'stt') continue;
      const key = `${job} ${service}`;
      if (!known.has(key)) known.set(key, { job, service, ...NOTHING_NOTED });
    }
    return [...known.values()].map((each) => {
      const own = requests.filter(
        ({ labels }) => labels['kind'] === each.job && labels['service'] === each.service,
      );
      const sum = (isFailed: boolean) =>
        own
          .filter(({ labels }) => !isFailed || labels['result'] !== 'ok')
          .reduce((total, { value }) => total + value, 0);
      return { ...each, requests: sum(false), failedRequests: sum(true) };
    });
  }
}

/** Of a service without a circuit breaker, such as an embedded one that has no other to fall back on. */
const NOTHING_NOTED = { openCircuits: 0, openSinceMs: null, lastFault: null, lastSuccessMs: null };
