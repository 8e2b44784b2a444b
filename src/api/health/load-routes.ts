// Load figures for systems that start and stop processes: /health/active-calls and /health/autoscale-metric, protected
// by a secret of their own. Source: contract §3.1.

import { type IntervalHistogram, monitorEventLoopDelay } from 'node:perf_hooks';
import { z } from 'zod';
import type { Clock } from '../../std/clock.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { faults } from '../http/error-schema.ts';
import { queryInteger } from '../http/values.ts';
import { secretGuard } from './devops-secret.ts';

/** Largest reserve, in calls. */
const BUFFER_MAX = 1_000_000;

const activeCalls = z
  .object({
    active_calls: z.int().meta({ description: 'Calls of this gateway.' }),
    loop_lag_p95_ms: z
      .number()
      .describe('Milliseconds by which the event loop ran late, in 95 of 100 cases at most.'),
    loop_lag_max_ms: z.number().describe('The same, at most.'),
  })
  .meta({ id: 'ActiveCallsResponse', description: 'The load of this gateway.' });

const autoscaleMetric = z
  .object({ value: z.int().meta({ description: 'Calls of all processes, and the buffer.' }) })
  .meta({ id: 'AutoscaleMetricResponse', description: 'Calls for which capacity is needed.' });

export function loadRoutes(api: Api, deps: ApiDeps): void {
  const lag = new EventLoopLagMeter(deps.clock);
  api.addHook('onClose', async () => lag.close());

  api.get(
    '/health/active-calls',
    {
      onRequest: secretGuard(deps),
      schema: {
        tags: ['service'],
        operationId: 'getActiveCalls',
        summary: 'Get active calls',
        description:
          'Calls of this gateway, and how late its event loop ran since it was last asked.',
        response: { 200: activeCalls, ...faults('DEVOPS_SECRET_WRONG') },
      },
    },
    async () => {
      const { p95Ms, maxMs } = lag.read();
      return {
        active_calls: deps.callService.activeCalls,
        loop_lag_p95_ms: p95Ms,
        loop_lag_max_ms: maxMs,
      };
    },
  );

  api.get(
    '/health/autoscale-metric',
    {
      onRequest: secretGuard(deps),
      schema: {
        tags: ['service'],
        operationId: 'getAutoscaleMetric',
        summary: 'Get the autoscale metric',
        description: 'Number of calls for which capacity is needed.',
        querystring: z.object({
          buffer: queryInteger(0, BUFFER_MAX)
            .default(0)
            .describe('Calls that are added to those under way, as a reserve: 0 to 1,000,000.'),
        }),
        response: { 200: autoscaleMetric, ...faults('DEVOPS_SECRET_WRONG') },
      },
    },
    async (request) => ({ value: (await deps.store.runs.countOpen()) + request.query.buffer }),
  );
}

/** Interval of the measurement; every measured value includes it. */
const RESOLUTION_MS = 10;
const WINDOW_MS_MIN = 60_000;
const NS_PER_MS = 1e6;

interface EventLoopLag {
  p95Ms: number;
  maxMs: number;
}

/** Delay of the event loop in two windows, the last one and the current one. A window ends at
 *  the first request after a minute. */
export class EventLoopLagMeter {
  readonly #histogram: IntervalHistogram = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  readonly #clock: Clock;
  #lastWindow: EventLoopLag = { p95Ms: 0, maxMs: 0 };
  #windowFrom: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#histogram.enable();
    this.#windowFrom = clock.monotonicMs();
  }

  /** The worse of the two windows, in milliseconds; zero if the loop has no delay. */
  read(): EventLoopLag {
    const window = this.#current();
    const figures = {
      p95Ms: Math.max(window.p95Ms, this.#lastWindow.p95Ms),
      maxMs: Math.max(window.maxMs, this.#lastWindow.maxMs),
    };
    if (this.#clock.monotonicMs() - this.#windowFrom >= WINDOW_MS_MIN) this.#nextWindow(window);
    return figures;
  }

  close(): void {
    this.#histogram.disable();
  }

  #nextWindow(ended: EventLoopLag): void {
    this.#lastWindow = ended;
    this.#histogram.reset();
    this.#windowFrom = this.#clock.monotonicMs();
  }

  #current(): EventLoopLag {
    return {
      p95Ms: lateMs(this.#histogram.percentile(95)),
      maxMs: lateMs(this.#histogram.max),
    };
  }
}

/** Delay beyond the interval, in milliseconds to a thousandth. */
function lateMs(measuredNs: number): number {
  return Math.max(0, Math.round((measuredNs / NS_PER_MS - RESOLUTION_MS) * 1_000) / 1_000);
}
