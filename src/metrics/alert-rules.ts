// The alert rules of grafana/alerts.yml that a gateway can evaluate for its own processes. Prometheus evaluates them for all
// gateways, notifies people, and has those that no gateway can see. A test compares names, bounds and times with the file.

import {
  type Labels,
  type MetricHistory,
  quantileOf,
  type Series,
  sumsBy,
} from './metric-history.ts';

const MINUTE_MS = 60_000;

/** Series that the rules read. */
const METRICS = {
  callsEnded: 'patchbay_calls_ended_total',
  callsRefused: 'patchbay_calls_refused_total',
  pbxConnections: 'patchbay_pbx_connections',
  pbxOutages: 'patchbay_pbx_outages_total',
  lineFaults: 'patchbay_line_fault',
  webhooks: 'patchbay_webhooks_total',
  responses: 'patchbay_response_seconds_bucket',
  lateness: 'patchbay_frame_lateness_seconds_bucket',
  services: 'patchbay_service_seconds_count',
  circuits: 'patchbay_service_circuit_open',
  keysFull: 'patchbay_service_key_full_total',
  events: 'patchbay_events_stored_total',
  recordings: 'patchbay_recording_lost_bytes_total',
  spool: 'patchbay_spool_oldest_seconds',
  s3: 'patchbay_s3_seconds_count',
  store: 'patchbay_store_seconds_bucket',
  redis: 'patchbay_redis_up',
  messages: 'patchbay_gateway_messages_total',
  skew: 'patchbay_clock_skew_seconds',
  fenced: 'patchbay_run_changes_fenced_total',
} as const;

/** Names of all series that the rules need. */
export const watchedSeries: readonly string[] = Object.values(METRICS);
export const ALERT_WINDOW_MS_MAX = 10 * MINUTE_MS;

type Unit = 'share' | 'seconds' | 'count' | 'bytes';

export interface AlertRule {
  name: string;
  /** Whether it wakes somebody. */
  severity: 'page' | 'warn';
  /** What it means when it fires. */
  text: string;
  /** What helps first; docs/operations.md has the rest. A series with the label `remedy` has its own. */
  remedy: string;
  /** How long the bound must be passed. */
  forMs: number;
  /** Undefined: a gateway cannot see it, for the reason in `why`. */
  measure?: (history: MetricHistory) => Series[];
  /** Fires above the bound; `is`: at exactly that value. */
  bound: { above: number } | { is: number };
  unit: Unit;
  why?: string;
}

type Where = (labels: Labels) => boolean;

const gained =
  (
    metric: string,
    minutes: number,
    { by = [], where = () => true }: { by?: string[]; where?: Where },
  ) =>
  (history: MetricHistory): Series[] =>
    sumsBy(
      history.gained(metric, minutes * MINUTE_MS).filter(({ labels }) => where(labels)),
      by,
    );

/** Part of what a counter gained, by `where`, of all that counts. */
const share =
  (
    metric: string,
    minutes: number,
    { by = [], counts = () => true, where }: { by?: string[]; counts?: Where; where: Where },
  ) =>
  (history: MetricHistory): Series[] => {
    const all = gained(metric, minutes, { by, where: counts })(history);
    const parts = gained(metric, minutes, { by, where: (of) => counts(of) && where(of) })(history);
    const partOf = (labels: Labels) =>
      parts.find((part) => by.every((name) => part.labels[name] === labels[name]))?.value ?? 0;
    return all.map(({ labels, value }) => ({ labels, value: partOf(labels) / value }));
  };

const quantile =
  (
    metric: string,
    minutes: number,
    { of, by = [], where = () => true }: { of: number; by?: string[]; where?: Where },
  ) =>
  (history: MetricHistory): Series[] => {
    const buckets = history
      .gained(metric, minutes * MINUTE_MS)
      .filter(({ labels }) => where(labels));
    return sumsBy(buckets, by).map(({ labels }) => {
      const own = buckets.filter((each) => by.every((name) => each.labels[name] === labels[name]));
      return { labels, value: quantileOf(own, of) };
    });
  };

/** One value of all series of a gauge; none without series. */
const extreme =
  (metric: string, pick: (values: number[]) => number) =>
  (history: MetricHistory): Series[] => {
    const values = history.gauge(metric).map(({ value }) => value);
    return values.length === 0 ? [] : [{ labels: {}, value: pick(values) }];
  };

const summed =
  (metric: string, by: string[], where: Where = () => true) =>
  (history: MetricHistory): Series[] =>
    sumsBy(
      history.gauge(metric).filter(({ labels }) => where(labels)),
      by,
    );

const FAILED_ENDS = /^(pipeline_error|unexpected_error|system_connect_error|error|failed)$/;
const S3_FAULTS = /^(failed|timeout|refused)$/;

/** In the order of grafana/alerts.yml. */
export const alertRules: readonly AlertRule[] = [
  {
    name: 'GatewayDown',
    severity: 'page',
    text: 'A gateway does not answer',
    remedy:
      'Start it again; if it dies again, keep its log and data folder, and look up the code that its start names.',
    forMs: MINUTE_MS,
    bound: { is: 0 },
    unit: 'count',
    why: 'A gateway that is down cannot say so',
  },
  {
    name: 'CallsFail',
    severity: 'page',
    text: 'More than 5 % of calls end in a failure',
    remedy:
      'Open runs that need attention: why they ended names the service or provider. After an upgrade go back to the version before.',
    forMs: 5 * MINUTE_MS,
    measure: share(METRICS.callsEnded, 10, {
      where: ({ reason = '' }) => FAILED_ENDS.test(reason),
    }),
    bound: { above: 0.05 },
    unit: 'share',
  },
  {
    name: 'CallsRefused',
    severity: 'warn',
    text: 'Calls are refused',
    remedy:
      'GATEWAY_OVERLOADED: add workers or a gateway. CALL_LIMIT_REACHED: raise PATCHBAY_CALL_LIMIT. Other codes name the fault of a configuration or an agent.',
    forMs: 5 * MINUTE_MS,
    measure: gained(METRICS.callsRefused, 5, {
      by: ['code'],
      where: ({ code }) => code !== 'GATEWAY_DRAINING',
    }),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'PbxDown',
    severity: 'page',
    text: 'A connection to a PBX is down',
    remedy: 'Run the doctor of the PBX under Telephony: it tests the connection step by step.',
    forMs: 2 * MINUTE_MS,
    measure: summed(METRICS.pbxConnections, ['provider'], ({ state }) => state === 'down'),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'PbxReadOnly',
    severity: 'page',
    text: 'A PBX refuses to answer and to hang up calls: its ARI user may only read',
    remedy:
      'Set read_only = no for the user in ari.conf, then run "module reload res_ari.so" in Asterisk.',
    forMs: 0,
    measure: gained(METRICS.pbxOutages, 10, {
      by: ['provider'],
      where: ({ code }) => code === 'PBX_READ_ONLY',
    }),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'LineFails',
    severity: 'warn',
    text: 'The test calls of a watched line find a fault',
    remedy: 'See the line under its configuration: the fault of its last test call has the remedy.',
    forMs: 0,
    measure: summed(METRICS.lineFaults, ['line', 'kind', 'fault', 'remedy']),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'WebhookSignatures',
    severity: 'warn',
    text: 'Webhooks fail their check: a wrong secret, a wrong public URL, or an unknown sender',
    remedy:
      'Store the current secret in the telephony configuration, and check that PATCHBAY_PUBLIC_URL is the address that the provider calls.',
    forMs: 0,
    measure: gained(METRICS.webhooks, 10, {
      by: ['provider'],
      where: ({ result }) => result === 'signature',
    }),
    bound: { above: 5 },
    unit: 'count',
  },
  {
    name: 'AnswersSlow',
    severity: 'warn',
    text: 'One answer in twenty comes after more than 2 s',
    remedy:
      'Look at the waits for answers on the page of a slow call: the largest part names what to replace (model, recognition, speech) or the pauses to shorten.',
    forMs: 10 * MINUTE_MS,
    measure: quantile(METRICS.responses, 10, { of: 0.95, where: ({ part }) => part === 'total' }),
    bound: { above: 2 },
    unit: 'seconds',
  },
  {
    name: 'MediaClockLate',
    severity: 'page',
    text: 'Audio stutters: the media clock is late',
    remedy:
      'Give the machine more processor time, or lower PATCHBAY_LOAD_LIMIT so that new calls are refused sooner.',
    forMs: 5 * MINUTE_MS,
    measure: quantile(METRICS.lateness, 5, { of: 0.99, by: ['worker'] }),
    bound: { above: 0.02 },
    unit: 'seconds',
  },
  {
    name: 'ServiceFails',
    severity: 'page',
    text: 'A service fails more than 10 % of its requests',
    remedy:
      'Run "npx patchbay services check": the kind of fault says whether a key, an account or a setting must change.',
    forMs: 5 * MINUTE_MS,
    measure: share(METRICS.services, 10, {
      by: ['kind', 'service'],
      counts: ({ kind }) => kind !== 'llm-prepare',
      where: ({ result }) => result !== 'ok',
    }),
    bound: { above: 0.1 },
    unit: 'share',
  },
  {
    name: 'FallbackInUse',
    severity: 'warn',
    text: 'Calls use the next service, because one has failed',
    remedy:
      'Run "npx patchbay services check" and correct what it names; after an outage the service is used again within five minutes.',
    forMs: 5 * MINUTE_MS,
    measure: summed(METRICS.circuits, ['service']),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'KeyAtLimit',
    severity: 'warn',
    text: 'A key has all its sessions in use: calls use the next service',
    remedy: 'Add keys or a larger plan with its concurrency_limit, or make fewer calls at a time.',
    forMs: 0,
    measure: gained(METRICS.keysFull, 10, { by: ['kind', 'service'] }),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'EventsLost',
    severity: 'page',
    text: 'Call events were lost: transcripts have holes',
    remedy:
      'Bring the database back; if it was there all the time, the log names the event that was refused: report it.',
    forMs: 0,
    measure: gained(METRICS.events, 10, { where: ({ result }) => result === 'lost' }),
    bound: { above: 0 },
    unit: 'count',
  },
  {
    name: 'RecordingsLost',
    severity: 'page',
    text: 'Recordings have holes: the disk is full or too slow',
    remedy: 'Free space on the disk of PATCHBAY_DATA, or move the folder to a faster one.',
    forMs: 0,
    measure: gained(METRICS.recordings, 10, {
      by: ['reason'],
      where: ({ reason }) => reason !== 'late',
    }),
    bound: { above: 0 },
    unit: 'bytes',
  },
  {
    name: 'FilesWait',
    severity: 'warn',
    text: 'A file of a call waits for S3 for more than ten minutes: the disk fills',
    remedy:
      'Bring S3 back: the files go there by themselves. Do not delete the data folder before.',
    forMs: MINUTE_MS,
    measure: extreme(METRICS.spool, (values) => Math.max(...values)),
    bound: { above: 600 },
    unit: 'seconds',
  },
  {
    name: 'S3Fails',
    severity: 'warn',
    text: 'More than 10 % of the requests to S3 fail',
    remedy:
      'The log line "S3 cannot be used" has the reason: the network or service, or the key, its rights, the bucket or the clock.',
    forMs: 3 * MINUTE_MS,
    measure: share(METRICS.s3, 5, {
      where: ({ result = '' }) => S3_FAULTS.test(result),
    }),
    bound: { above: 0.1 },
    unit: 'share',
  },
  {
    name: 'StoreSlow',
    severity: 'warn',
    text: 'One statement to the database in twenty takes more than half a second',
    remedy:
      'Stop what competes for the disk, and end transactions that stay open; move an embedded database to a PostgreSQL server.',
    forMs: 5 * MINUTE_MS,
    measure: quantile(METRICS.store, 5, { of: 0.95 }),
    bound: { above: 0.5 },
    unit: 'seconds',
  },
  {
    name: 'RedisAway',
    severity: 'warn',
    text: 'Redis is away: this gateway acts without the other ones',
    remedy: 'Start Redis again, or correct REDIS_URL; nothing has to be restarted or restored.',
    forMs: MINUTE_MS,
    measure: extreme(METRICS.redis, (values) => Math.min(...values)),
    bound: { is: 0 },
    unit: 'count',
  },
  {
    name: 'GatewayMessagesRefused',
    severity: 'warn',
    text: 'Messages are refused that claim to be from another gateway',
    remedy:
      'Give all gateways the same PATCHBAY_SECRET_KEYS and version; close Redis to everybody else.',
    forMs: 0,
    measure: gained(METRICS.messages, 10, { where: ({ result }) => result === 'refused' }),
    bound: { above: 5 },
    unit: 'count',
  },
  {
    name: 'ClockSkew',
    severity: 'warn',
    text: "The clock differs from the database's by more than 2 s",
    remedy:
      "Correct the time service of the machine, or the database's if all gateways differ by the same.",
    forMs: 2 * MINUTE_MS,
    measure: extreme(METRICS.skew, (values) => Math.max(...values.map(Math.abs))),
    bound: { above: 2 },
    unit: 'seconds',
  },
  {
    name: 'MediaSpliced',
    severity: 'warn',
    text: 'More than 5 % of media sockets are passed on to another gateway: the balancer does not read their tokens',
    remedy: 'Name each server of the balancer as the PATCHBAY_NODE of its gateway, and reload it.',
    forMs: 10 * MINUTE_MS,
    bound: { above: 0.05 },
    unit: 'share',
    why: 'It is the share of all gateways together',
  },
  {
    name: 'RunsFenced',
    severity: 'warn',
    text: 'This gateway was declared dead and went on: its calls were closed while they talked',
    remedy:
      'Nothing for the calls. Find why the machine stood still for 10 s, or what cut its way to PostgreSQL.',
    forMs: 0,
    measure: gained(METRICS.fenced, 10, {}),
    bound: { above: 0 },
    unit: 'count',
  },
];

/** Series of one rule that are beyond its bound. */
export function beyond({ measure, bound }: AlertRule, history: MetricHistory): Series[] {
  const series = measure?.(history) ?? [];
  return series.filter(({ value }) => ('is' in bound ? value === bound.is : value > bound.above));
}
