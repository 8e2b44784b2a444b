// States of Redis, S3 and the spool for the condition of this gateway (condition-report.ts), from the metrics of this
// process. Sends no request itself.

import type { Registry } from 'prom-client';
import type { GatewayCondition, PeerState } from '../model/gateway-condition.ts';

/** What the gateway is configured to use. */
export interface Peers {
  redisUrl?: string | undefined;
  s3?: object | undefined;
}

type PeerStates = Pick<GatewayCondition, 'redis' | 's3' | 'spool_bytes' | 'spool_oldest_seconds'>;

/** Results of requests to S3 that are answers; the others are refusals and faults. */
const ANSWERS = new Set<unknown>(['ok', 'missing', 'exists']);

interface Sample {
  labels: Readonly<Record<string, unknown>>;
  value: number;
}

export class PeerStateReader {
  readonly #registry: Registry;
  readonly #peers: Peers;
  /** Requests to S3 until the last reading. */
  #s3Before = { answers: 0, faults: 0 };
  #s3: PeerState = 'unknown';

  constructor(registry: Registry, peers: Peers) {
    this.#registry = registry;
    this.#peers = peers;
  }

  async read(): Promise<PeerStates> {
    const hasS3 = this.#peers.s3 !== undefined;
    return {
      redis: await this.#redis(),
      s3: hasS3 ? await this.#s3State() : 'unused',
      spool_bytes: hasS3 ? await this.#gauge('patchbay_spool_bytes') : null,
      spool_oldest_seconds: hasS3 ? await this.#gauge('patchbay_spool_oldest_seconds') : null,
    };
  }

  async #redis(): Promise<PeerState> {
    if (this.#peers.redisUrl === undefined) return 'unused';
    const samples = await this.#samples('patchbay_redis_up');
    if (samples.length === 0) return 'unknown';
    return samples.every(({ value }) => value > 0) ? 'ok' : 'away';
  }

  /** By the requests since the last reading; without any, the state of the last ones. */
  async #s3State(): Promise<PeerState> {
    const counts = (await this.#samples('patchbay_s3_seconds', '_count')).map(
      ({ labels, value }) => ({ isAnswer: ANSWERS.has(labels['result']), value }),
    );
    const sum = (isAnswer: boolean): number =>
      counts.reduce((total, each) => total + (each.isAnswer === isAnswer ? each.value : 0), 0);
    const now = { answers: sum(true), faults: sum(false) };
    const before = this.#s3Before;
    this.#s3Before = now;
    if (now.answers > before.answers) this.#s3 = 'ok';
    else if (now.faults > before.faults) this.#s3 = 'away';
    return this.#s3;
  }

  async #gauge(name: string): Promise<number | null> {
    return (await this.#samples(name))[0]?.value ?? null;
  }

  /** The samples of a metric of this process; empty if it has none of that name. */
  async #samples(name: string, suffix = ''): Promise<Sample[]> {
    const metric = this.#registry.getSingleMetric(name);
    if (metric === undefined) return [];
    const { values } = await metric.get();
    return values.filter(
      (each) => suffix === '' || ('metricName' in each && each.metricName === name + suffix),
    );
  }
}
