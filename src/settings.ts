// The settings: every environment variable that the gateway reads, with its form, default and description. The table of
// docs/settings.md is checked against them. What the program gets of them is config.ts.

import { isIP } from 'node:net';
import { z } from 'zod';
import { priceFile } from './model/price-table.ts';
import { VOICES } from './model/speech-services/vendors/embedded.ts';
import { OPENAI_MODEL } from './model/speech-services/vendors/openai.ts';

/** Bytes of a sealing key (AES-256). */
const SECRET_KEY_BYTES = 32;

const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d{1,6}$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.int().min(min).max(max));

const webAddress = z
  .url({ protocol: /^https?$/, error: 'must be a URL with http or https' })
  .refine((text) => !/[?#]/.test(text), 'must have neither query nor fragment')
  .transform((text) => text.replace(/\/+$/, ''));

/** Networks in CIDR notation (10.0.0.0/8) are also allowed. */
const proxies = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine((all) => all.every(isNetwork), {
    error:
      'must be addresses or networks with commas between them, or loopback, linklocal, uniquelocal',
  });

function isNetwork(text: string): boolean {
  return /^(loopback|linklocal|uniquelocal)$/.test(text) || isAddressOrNetwork(text);
}

function isAddressOrNetwork(text: string): boolean {
  const [address = '', bits, ...more] = text.split('/');
  const version = isIP(address);
  if (version === 0 || more.length > 0) return false;
  return (
    bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) <= (version === 4 ? 32 : 128))
  );
}

/** Origins of pages, as browsers send them. */
const origins = z
  .string()
  .transform((text) => text.split(',').map((each) => each.trim()))
  .refine((all) => all.every(isOrigin), {
    error: 'must be origins, as https://example.com, with commas between them',
  });

function isOrigin(text: string): boolean {
  return /^https?:\/\//.test(text) && URL.canParse(text) && new URL(text).origin === text;
}

/** Host names, or addresses and networks like the proxies. */
const openedHosts = z
  .string()
  .transform((text) =>
    text
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== ''),
  )
  .refine((all) => all.every((each) => HOST_NAME.test(each) || isAddressOrNetwork(each)), {
    error: 'must be host names, addresses or networks with commas between them',
  });
const HOST_NAME = /^(?=.*[a-z])[a-z0-9_-]+(\.[a-z0-9_-]+)*$/i;

const mediaHost = z
  .string()
  .transform((text) => text.trim())
  .refine((text) => HOST_NAME.test(text) || isIP(text) !== 0, 'must be a host name or an address');

/** Range such as 30000-30999. Ports below 1024 are reserved for the system. */
const portRange = z
  .string()
  .regex(/^\d{1,5}-\d{1,5}$/, 'must be two ports with a hyphen between')
  .transform((text) => text.split('-').map(Number))
  .pipe(z.tuple([z.int(), z.int()]))
  .transform(([first, last]) => ({ first, last }))
  .refine(({ first, last }) => first >= 1_024 && last <= 65_535 && last - first >= 9, {
    error: 'must be a range of at least ten ports within 1024-65535',
  });

/** Scheme, host and port: `https://s3.example.com`. */
const origin = webAddress.refine((text) => new URL(text).pathname === '/', 'must have no path');

const flag = z.enum(['0', '1']).transform((text) => text === '1');

const trueOrFalse = z
  .enum(['true', 'false', '1', '0'])
  .transform((text) => text === 'true' || text === '1');

const secretKeys = z
  .string()
  .refine(
    (text) => text.split(',').every((word) => isSecretKey(word.trim())),
    'must be keys of 32 bytes each, in base64 or as 64 hex digits, with commas between them',
  );

function isSecretKey(text: string): boolean {
  const encoding = /^[0-9a-f]{64}$/i.test(text) ? 'hex' : 'base64';
  return Buffer.from(text, encoding).length === SECRET_KEY_BYTES;
}

/** Every setting by its variable. */
export const settings = z.object({
  PATCHBAY_HOST: z.string().prefault('0.0.0.0').describe('Address to listen on.'),
  PATCHBAY_PORT: wholeNumber(1, 65_535)
    .prefault('8000')
    .describe('Port of the API, of webhooks and of media.'),
  PATCHBAY_PUBLIC_URL: webAddress
    .optional()
    .describe(
      'Where providers and clients reach the gateway. Default: `http://localhost:` and the port.',
    ),
  PATCHBAY_MEDIA_HOST: mediaHost
    .optional()
    .describe(
      'Host name or address under which PBXs reach this gateway for RTP and AudioSocket. Default: the host of `PATCHBAY_PUBLIC_URL`.',
    ),
  PATCHBAY_AUDIOSOCKET_PORT: wholeNumber(0, 65_535)
    .prefault('0')
    .describe(
      'TCP port on which PBXs without websocket media bring AudioSocket; 0: none, they bring RTP.',
    ),
  PATCHBAY_RTP_PORTS: portRange
    .prefault('30000-30999')
    .describe('UDP ports for RTP of PBXs without websocket media, one for each call.'),
  PATCHBAY_DATA: z
    .string()
    .prefault('./data')
    .describe('Folder of the embedded database, recordings, transcripts and the sealing key.'),
  DATABASE_URL: z
    .url({ protocol: /^postgres(ql)?$/, error: 'must be a postgresql:// URL' })
    .optional()
    .describe(
      "A PostgreSQL server (15 or newer) in place of the embedded one. Through PgBouncer (transaction pooling): add `?pgbouncer=1`, and set by `alter role ... set` what the gateway else sets itself: `statement_timeout = '9s'`, `idle_in_transaction_session_timeout = '15s'`, `jit = off`, `max_parallel_workers_per_gather = 0`, `random_page_cost = 1.1`.",
    ),
  S3_ENDPOINT: origin
    .optional()
    .describe(
      'S3 service that keeps the files: `https://s3.eu-west-1.amazonaws.com`. Files of calls wait in `PATCHBAY_DATA` until they are there. With it come `S3_BUCKET`, `S3_ACCESS_KEY` and `S3_SECRET_KEY`. Default: files stay in `PATCHBAY_DATA`.',
    ),
  S3_BUCKET: z
    .string()
    .regex(/^[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/, 'must be the name of a bucket')
    .optional()
    .describe('Bucket of the files. It must exist, and be of this installation alone.'),
  S3_REGION: z
    .string()
    .regex(/^[a-z0-9-]{1,50}$/, 'must be the name of a region')
    .prefault('us-east-1')
    .describe('Region of the bucket.'),
  S3_ACCESS_KEY: z.string().optional().describe('Access key of the bucket.'),
  S3_SECRET_KEY: z.string().optional().describe('Secret key of the access key.'),
  S3_PUBLIC_ENDPOINT: origin
    .optional()
    .describe(
      'Where clients reach S3: links then lead there, for uploads and for whole files. Default: the gateway passes all bytes on.',
    ),
  S3_PATH_STYLE: flag
    .prefault('1')
    .describe('1: the bucket stands in the path of an address; 0: in its host name.'),
  REDIS_URL: z
    .url({ protocol: /^rediss?$/, error: 'must be a redis:// or rediss:// URL' })
    .optional()
    .describe(
      'Redis (6 or newer) or Valkey, `redis://` or `rediss://`, over which gateways on one PostgreSQL server reach each other: live views, hang-ups, keys and webhooks of calls on any of them. Needs `DATABASE_URL`, `PATCHBAY_SECRET_KEYS` and at least one worker. It may be away at any time: calls go on. Default: none, each gateway acts alone.',
    ),
  PATCHBAY_NODE: z
    .string()
    .regex(/^[\w.:@/-]{1,200}$/, 'must be letters, digits and . _ : @ / - (200 at most)')
    .optional()
    .describe(
      'Name of this gateway among those on one PostgreSQL server: the same after a restart, and no other may run under it. Default: host name and data folder.',
    ),
  PATCHBAY_NODE_URL: webAddress
    .optional()
    .describe(
      'Where other gateways on the same PostgreSQL server, and PBXs, reach this gateway itself, past the load balancer. Default: `http://`, the host name and the port.',
    ),
  PATCHBAY_SECRET_KEYS: secretKeys
    .optional()
    .describe(
      'Keys that seal stored credentials: 32 bytes each, in base64 or hex, with commas between; the first seals, all open. Default: a key made in the data folder.',
    ),
  PATCHBAY_BOOTSTRAP_API_KEY: z
    .string()
    .regex(/^[\x21-\x7e]{32,200}$/, 'must have 32 to 200 characters without spaces')
    .optional()
    .describe(
      "The first organization's API key, 32 to 200 characters (`openssl rand -hex 32` makes one): used by the first start alone, never printed. Default: a new key, printed once.",
    ),
  PATCHBAY_CALL_LIMIT: wholeNumber(1, 10_000)
    .prefault('10')
    .describe('Calls at a time for one organization.'),
  PATCHBAY_PUBLIC_LINK_DAYS: wholeNumber(1, 3_650)
    .prefault('30')
    .describe("Days that a public link to a run's recording and transcript works."),
  PATCHBAY_INTERRUPTED_CALLS_EXTRA: wholeNumber(0, 10)
    .prefault('0')
    .describe(
      'Calls that a contact of a campaign may get beyond `max_retries` + 1, for as many that a stop of the gateway cut off before anybody answered.',
    ),
  PATCHBAY_WORKERS: wholeNumber(0, 32)
    .prefault('1')
    .describe(
      'Call workers: processes that hold calls, beside the one of the API; one for each core. Calls of a PBX whose audio comes to one address stay in the first. 0: one process for everything, where the API can disturb calls.',
    ),
  PATCHBAY_LOAD_LIMIT: wholeNumber(0, 100)
    .prefault('85')
    .describe(
      'Load in percent, of the event loop or of the processors, above which new calls are refused as busy; 0: no limit.',
    ),
  PATCHBAY_DELAY_LIMIT_MS: wholeNumber(0, 1_000)
    .prefault('40')
    .describe(
      'How late timers may be for three seconds before new calls are refused as busy; 0: no limit.',
    ),
  PATCHBAY_DRAIN_SECONDS: wholeNumber(0, 3_600)
    .prefault('300')
    .describe('How long a stopping gateway lets running calls finish.'),
  PATCHBAY_DRAIN_GRACE_SECONDS: wholeNumber(0, 600)
    .prefault('0')
    .describe(
      'How long a stopping gateway still takes new calls and requests, before it drains, while `/ready` says `draining`: the time in which a load balancer notices.',
    ),
  PATCHBAY_STALL_SECONDS: wholeNumber(0, 3_600)
    .prefault('10')
    .describe(
      'How long the process may stand still before it kills itself, so that no PBX waits for it; 0: for ever. Whatever runs it should start it again.',
    ),
  OPENAI_BASE_URL: webAddress
    .optional()
    .describe(
      'Language model with the OpenAI chat interface (Ollama, vLLM, llama.cpp too). With this or `OPENAI_API_KEY` set, the model leads the conversation.',
    ),
  OPENAI_API_KEY: z.string().optional().describe('Key for the language model.'),
  OPENAI_MODEL: z.string().prefault(OPENAI_MODEL).describe('Name of the language model.'),
  PATCHBAY_VOICE: z
    .enum(VOICES)
    .prefault('slt')
    .describe("The agent's voice: slt (female), rms, awb, kal16 or kal (male)."),
  PATCHBAY_STT: z
    .enum(['auto', 'pocketsphinx', 'none'])
    .prefault('auto')
    .describe(
      'Speech recogniser: `pocketsphinx`, `none` (keypad only), or `auto` (pocketsphinx if installed).',
    ),
  PATCHBAY_METRICS_OLD_NAMES: flag
    .prefault('0')
    .describe(
      '1 exports each metric under its old name (`gateway_...`) as well. The release after this one removes the old names and this setting.',
    ),
  LOG_LEVEL: z
    .enum(['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'])
    .optional()
    .describe('Least important kind of line to log. Default: `info`; at a terminal `warn`.'),
  LOG_PII: flag
    .prefault('0')
    .describe('1 writes what people say and their phone numbers into the log.'),
  DEPLOYMENT_MODE: z
    .string()
    .regex(/^[a-z-]{1,32}$/, 'must have 1 to 32 characters, a-z and -')
    .prefault('oss')
    .describe('Reported by the health check.'),
  PATCHBAY_CONSOLE: flag
    .prefault('1')
    .describe('Whether the console is served at `/console/`: `0` or `1`.'),
  ENABLE_SIGNUP: trueOrFalse
    .prefault('false')
    .describe(
      'Whether anyone may sign up at `/auth/signup` and get an organization. Whoever holds an API key can always sign up with it in `X-API-Key`: that lets the user of the key log in.',
    ),
  PATCHBAY_JWT_SECRET: z
    .string()
    .min(32, 'must have at least 32 characters')
    .optional()
    .describe(
      'Signs the tokens of users who log in; at least 32 characters. Default: derived from the keys that seal credentials.',
    ),
  PATCHBAY_JWT_HOURS: wholeNumber(1, 87_600).prefault('720').describe('How long a log-in lasts.'),
  PATCHBAY_DEVOPS_SECRET: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe(
      'Opens `active-calls`, `autoscale-metric` and `cluster` (`npx patchbay cluster status`) below `/api/v1/health/`, sent as `X-Patchbay-Devops-Secret`; at least 16 characters. Default: closed.',
    ),
  PATCHBAY_METRICS_TOKEN: z
    .string()
    .min(16, 'must have at least 16 characters')
    .optional()
    .describe(
      '`/metrics` requires it as `Authorization: Bearer`; at least 16 characters. Default: `/metrics` is open.',
    ),
  PATCHBAY_CORS_ORIGINS: origins
    .optional()
    .describe(
      "Origins whose pages may open calls from the browser, such as `https://shop.example.com`, with commas between. Default: the gateway's own address alone. The API itself answers every origin, as its keys travel in headers.",
    ),
  PATCHBAY_TRUSTED_PROXIES: proxies
    .prefault('loopback')
    .describe(
      'Reverse proxies whose `X-Forwarded-For` names the client, as addresses or networks with commas between. Failed log-ins and keys are counted by client.',
    ),
  PATCHBAY_OUTSIDE_ALLOW: openedHosts
    .optional()
    .describe(
      'Hosts, addresses and networks, with commas between, to which users may point the gateway although they are not public, while `ENABLE_SIGNUP` is on: tools, webhooks, PBXs. While it is off, private networks are open; link-local and metadata addresses never are. Default: none.',
    ),
  PATCHBAY_PRICES: priceFile
    .optional()
    .describe(
      'File with the prices of speech services (JSON, see docs/operations.md): each run gets its cost. Default: none.',
    ),
  AUTH_PROVIDER: z
    .enum(['local'])
    .prefault('local')
    .describe('Who checks credentials; reported by the health check.'),
});

export type Settings = z.infer<typeof settings>;
