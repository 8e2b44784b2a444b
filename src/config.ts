// The configuration of the process, from its settings: the only reader of environment variables, read once by main. All
// faults are reported together, and the process refuses to start. Folders receive values, never this object.

import { hostname } from 'node:os';
import { GatewayError } from './errors/gateway-error.ts';
import type { PriceTable } from './model/price-table.ts';
import { OPENAI_URL } from './model/speech-services/vendors/openai.ts';
import { type Settings, settings } from './settings.ts';
import type { S3Settings } from './store/files/s3-settings.ts';

/** An unknown variable with this prefix is a typing error and is reported as a fault. */
const OWN_PREFIX = 'PATCHBAY_';
/** Variables of the command `patchbay` (src/cli), which a shell may have exported for it. The gateway reads none. */
export const COMMAND_VARIABLES: readonly string[] = [
  'PATCHBAY_URL',
  'PATCHBAY_API_KEY',
  'PATCHBAY_PBX_PASSWORD',
];

export interface Config {
  host: string;
  port: number;
  /** URL without a trailing slash. */
  publicUrl: string;
  /** Origins whose pages may open calls from the browser. */
  origins: readonly string[];
  /** Address to which PBXs send audio that does not use a websocket. */
  media: {
    host: string;
    /** Undefined: no AudioSocket. */
    audioSocketPort: number | undefined;
    /** Both ends are included. */
    rtpPorts: { first: number; last: number };
  };
  dataFolder: string;
  /** Undefined: the embedded database is used. */
  databaseUrl: string | undefined;
  /** Undefined: files stay in the data folder. */
  s3: S3Settings | undefined;
  /** Undefined: no other gateway is reached. */
  redisUrl: string | undefined;
  /** Undefined: derived from host name and data folder. */
  node: string | undefined;
  /** Where other gateways reach this one, without a trailing slash. Used with `databaseUrl` only. */
  nodeUrl: string;
  /** Undefined: a key file in the data folder. The first key seals, all open. */
  secretKeys: string | undefined;
  /** Undefined: the first start makes one and prints it. */
  bootstrapApiKey: string | undefined;
  callLimit: number;
  /** Days that a public link to a recording or transcript works. */
  publicLinkDays: number;
  /** Extra calls to a contact of a campaign after interrupted ones, in addition to its retries. */
  interruptedCallsExtra: number;
  /** 0: one process without workers. */
  workers: number;
  /** Limits of load as a share, and of timer delay. Infinity: no limit. */
  loadLimits: { load: number; delayMs: number };
  drainMs: number;
  /** Wait before the drain begins, while new calls are still accepted. */
  drainGraceMs: number;
  /** 0: no limit. */
  stallMs: number;
  /** Undefined: the scripted policy leads the conversation. */
  model: { baseUrl: string; apiKey: string | undefined; name: string } | undefined;
  voice: Settings['PATCHBAY_VOICE'];
  stt: 'auto' | 'pocketsphinx' | 'none';
  /** Whether /metrics also has the names of the previous release. */
  oldMetricNames: boolean;
  /** `level` undefined: as the output needs it (log.ts). */
  log: { level: string | undefined; pii: boolean };
  /** Whether the console is served below /console/. */
  hasConsole: boolean;
  isSignUpOpen: boolean;
  /** Undefined: derived from the secret keys. */
  tokenSecret: string | undefined;
  tokenHours: number;
  trustedProxies: string[];
  /** Hosts that agents may call in addition to public addresses. */
  outsideAllowed: string[];
  prices: PriceTable | undefined;
  /** Undefined: the load figures for autoscalers are not served. */
  devopsSecret: string | undefined;
  /** Undefined: /metrics is open. */
  metricsToken: string | undefined;
  deploymentMode: string;
  authProvider: string;
}

/** Reads all settings from `env`. An empty variable counts as not set. Throws CONFIG_INVALID, which
 *  names every faulty variable and never quotes a value. */
export function readConfig(env: Record<string, string | undefined> = process.env): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, text]) => text?.trim()));
  const parsed = settings.safeParse(given);
  const unknown = Object.keys(given).filter(
    (name) =>
      name.startsWith(OWN_PREFIX) && !(name in settings.shape) && !COMMAND_VARIABLES.includes(name),
  );
  const problems = [
    ...(parsed.error?.issues ?? []).map((issue) => `${issue.path.join('.')}: ${issue.message}`),
    ...unknown.map((name) => `${name}: there is no such setting`),
    ...missingForS3(given),
    ...missingForRedis(given),
  ];
  if (!parsed.success || problems.length > 0) {
    throw new GatewayError('CONFIG_INVALID', { problems: problems.join('; ') });
  }
  return fromSettings(parsed.data);
}

/** Settings without which S3 cannot be used. */
const S3_NEEDED = ['S3_ENDPOINT', 'S3_BUCKET', 'S3_ACCESS_KEY', 'S3_SECRET_KEY'] as const;

/** All of them are given, or no setting of S3 is. */
function missingForS3(given: Record<string, unknown>): string[] {
  const set = Object.keys(given).filter((name) => name.startsWith('S3_') && name in settings.shape);
  if (set.length === 0) return [];
  return S3_NEEDED.filter((name) => !(name in given)).map(
    (name) => `${name}: must be set where ${set[0]} is`,
  );
}

function s3Of(set: Settings): S3Settings | undefined {
  const { S3_ENDPOINT: endpoint, S3_BUCKET: bucket } = set;
  const { S3_ACCESS_KEY: accessKey, S3_SECRET_KEY: secretKey } = set;
  if (!endpoint || !bucket || !accessKey || !secretKey) return undefined;
  return {
    endpoint,
    bucket,
    region: set.S3_REGION,
    accessKey,
    secretKey,
    publicEndpoint: set.S3_PUBLIC_ENDPOINT,
    isPathStyle: set.S3_PATH_STYLE,
  };
}

/** What is missing where `REDIS_URL` is set. */
function missingForRedis(given: Record<string, string | undefined>): string[] {
  if (given['REDIS_URL'] === undefined) return [];
  const problems = ['DATABASE_URL', 'PATCHBAY_SECRET_KEYS'].filter((name) => !(name in given));
  if (given['PATCHBAY_WORKERS'] === '0') problems.push('PATCHBAY_WORKERS of 1 or more');
  return problems.map((name) => `REDIS_URL: needs ${name} too`);
}

function fromSettings(set: Settings): Config {
  const publicUrl = set.PATCHBAY_PUBLIC_URL ?? `http://localhost:${set.PATCHBAY_PORT}`;
  return {
    host: set.PATCHBAY_HOST,
    port: set.PATCHBAY_PORT,
    publicUrl,
    origins: [new URL(publicUrl).origin, ...(set.PATCHBAY_CORS_ORIGINS ?? [])],
    media: {
      host: set.PATCHBAY_MEDIA_HOST ?? new URL(publicUrl).hostname.replace(/^\[|\]$/g, ''),
      audioSocketPort: set.PATCHBAY_AUDIOSOCKET_PORT || undefined,
      rtpPorts: set.PATCHBAY_RTP_PORTS,
    },
    dataFolder: set.PATCHBAY_DATA,
    databaseUrl: set.DATABASE_URL,
    s3: s3Of(set),
    redisUrl: set.REDIS_URL,
    node: set.PATCHBAY_NODE,
    nodeUrl: set.PATCHBAY_NODE_URL ?? `http://${hostname()}:${set.PATCHBAY_PORT}`,
    secretKeys: set.PATCHBAY_SECRET_KEYS,
    bootstrapApiKey: set.PATCHBAY_BOOTSTRAP_API_KEY,
    callLimit: set.PATCHBAY_CALL_LIMIT,
    publicLinkDays: set.PATCHBAY_PUBLIC_LINK_DAYS,
    interruptedCallsExtra: set.PATCHBAY_INTERRUPTED_CALLS_EXTRA,
    workers: set.PATCHBAY_WORKERS,
    loadLimits: {
      load: (set.PATCHBAY_LOAD_LIMIT || Number.POSITIVE_INFINITY) / 100,
      delayMs: set.PATCHBAY_DELAY_LIMIT_MS || Number.POSITIVE_INFINITY,
    },
    drainMs: set.PATCHBAY_DRAIN_SECONDS * 1_000,
    drainGraceMs: set.PATCHBAY_DRAIN_GRACE_SECONDS * 1_000,
    stallMs: set.PATCHBAY_STALL_SECONDS * 1_000,
    model:
      set.OPENAI_BASE_URL === undefined && set.OPENAI_API_KEY === undefined
        ? undefined
        : {
            baseUrl: set.OPENAI_BASE_URL ?? OPENAI_URL,
            apiKey: set.OPENAI_API_KEY,
            name: set.OPENAI_MODEL,
          },
    voice: set.PATCHBAY_VOICE,
    stt: set.PATCHBAY_STT,
    oldMetricNames: set.PATCHBAY_METRICS_OLD_NAMES,
    log: { level: set.LOG_LEVEL, pii: set.LOG_PII },
    hasConsole: set.PATCHBAY_CONSOLE,
    isSignUpOpen: set.ENABLE_SIGNUP,
    tokenSecret: set.PATCHBAY_JWT_SECRET,
    tokenHours: set.PATCHBAY_JWT_HOURS,
    trustedProxies: set.PATCHBAY_TRUSTED_PROXIES,
    outsideAllowed: set.PATCHBAY_OUTSIDE_ALLOW ?? [],
    prices: set.PATCHBAY_PRICES,
    devopsSecret: set.PATCHBAY_DEVOPS_SECRET,
    metricsToken: set.PATCHBAY_METRICS_TOKEN,
    deploymentMode: set.DEPLOYMENT_MODE,
    authProvider: set.AUTH_PROVIDER,
  };
}
