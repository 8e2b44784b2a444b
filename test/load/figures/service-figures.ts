// What lies between the services of a conversation is the gateway's share of an answer: from the final words to the
// request, from the model's first sentence to the voice, from the voice's first audio to the caller. The first two are
// measured at the services' sockets, the last one between two processes on the clock of the machine, and by the gateway.

import type { ServiceTimes } from '../services/observations.ts';
import { Histogram } from './histogram.ts';
import type { AnswerHeard } from './noticed.ts';

/** Milliseconds; null: nothing of the kind came. */
export interface ServiceFigures {
  /** Answers of which all times are known. */
  answersMeasured: number;
  /** From the final words to the request of the model, and from its first sentence to the text at the voice. */
  textP50Ms: number | null;
  textP95Ms: number | null;
  /** From the first audio of the voice to its first frame at the caller. */
  soundP50Ms: number | null;
  soundP95Ms: number | null;
  /** Both together, of each answer. */
  innerP50Ms: number | null;
  innerP95Ms: number | null;
  innerP99Ms: number | null;
  /** From the first audio to the first frame by the gateway's own clock (patchbay_response_seconds, part gateway). */
  gatewayPartP50Ms: number | null;
  gatewayPartP95Ms: number | null;
  /** From a caller's socket to the recogniser's, each 20 ms frame. */
  frameP50Ms: number | null;
  frameP95Ms: number | null;
  frameP99Ms: number | null;
  /** Since the start. Gaps that the voice's process makes itself, by how much at most; those in which the gateway had no
   *  audio, and those in which it had and was late. */
  voiceGaps: number;
  voiceLateMaxMs: number;
  gatewayUnderruns: number;
  gatewayGaps: number;
  serviceCpuPercent: number;
  /** How late the services' process was itself: times may be as much too high. */
  serviceDelayP99Ms: number;
}

export function serviceFigures(of: {
  times: ServiceTimes;
  heard: readonly AnswerHeard[];
  /** The gateway's metrics, before and after. */
  metrics: readonly [string, string];
  cpuPercent: number;
  delayP99Ms: number;
}): ServiceFigures {
  const { times, heard, metrics, cpuPercent, delayP99Ms } = of;
  const [text, sound, inner] = [new Histogram(), new Histogram(), new Histogram()];
  const heardAt = new Map(heard.map(([call, first, atMs]) => [`${call} ${first}`, atMs]));
  for (const [call, first, atMs, textMs] of times.answers) {
    const soundMs = (heardAt.get(`${call} ${first}`) ?? Number.NaN) - atMs;
    if (Number.isNaN(soundMs)) continue;
    text.add(textMs);
    sound.add(soundMs);
    inner.add(textMs + soundMs);
  }
  const { frameP50Ms, frameP95Ms, frameP99Ms, voiceGaps, voiceLateMaxMs } = times;
  return {
    answersMeasured: inner.count,
    textP50Ms: text.at(0.5),
    textP95Ms: text.at(0.95),
    soundP50Ms: sound.at(0.5),
    soundP95Ms: sound.at(0.95),
    innerP50Ms: inner.at(0.5),
    innerP95Ms: inner.at(0.95),
    innerP99Ms: inner.at(0.99),
    gatewayPartP50Ms: quantileMs(metrics, 0.5),
    gatewayPartP95Ms: quantileMs(metrics, 0.95),

    frameP50Ms,
    frameP95Ms,
    frameP99Ms,
    voiceGaps,
    voiceLateMaxMs,
    gatewayUnderruns: countOf(metrics[1], 'patchbay_underruns_total'),
    gatewayGaps: countOf(metrics[1], 'patchbay_playout_gap_seconds_count'),
    serviceCpuPercent: cpuPercent,
    serviceDelayP99Ms: delayP99Ms,
  };
}

/** Sum of a metric over all workers. */
function countOf(text: string, metric: string): number {
  const lines = text.matchAll(new RegExp(`^${metric}(?:\\{[^}]*\\})? (\\S+)$`, 'gm'));
  return [...lines].reduce((sum, [, count]) => sum + Number(count), 0);
}

const PART =
  /^patchbay_response_seconds_bucket\{(?=[^}]*part="gateway")[^}]*le="([^"]+)"[^}]*\} (\S+)$/gm;

/** Within the bucket by its share, as Prometheus does; null if there are no observations between the two. */
function quantileMs([before, after]: readonly [string, string], share: number): number | null {
  const earlier = bucketsOf(before);
  const buckets = [...bucketsOf(after)]
    .map(([le, count]) => ({ le, count: count - (earlier.get(le) ?? 0) }))
    .sort((one, other) => one.le - other.le);
  const total = buckets.at(-1)?.count ?? 0;
  if (total === 0) return null;
  let from = { le: 0, count: 0 };
  for (const bucket of buckets) {
    if (bucket.count >= share * total) {
      const within = (share * total - from.count) / Math.max(1, bucket.count - from.count);
      const to = Number.isFinite(bucket.le) ? bucket.le : from.le;
      return (from.le + (to - from.le) * within) * 1_000;
    }
    from = bucket;
  }
  return null;
}

/** Counts by upper bound in seconds, all workers together. */
function bucketsOf(text: string): Map<number, number> {
  const buckets = new Map<number, number>();
  for (const [, le = '', count = ''] of text.matchAll(PART)) {
    const bound = le === '+Inf' ? Number.POSITIVE_INFINITY : Number(le);
    buckets.set(bound, (buckets.get(bound) ?? 0) + Number(count));
  }
  return buckets;
}
