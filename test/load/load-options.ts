// The command line of `npm run load`. README.md describes it.

import { parseArgs } from 'node:util';
import { z } from 'zod';
import { HOSTED } from './wires/wire.ts';

export const SCENARIOS = ['talk', 'listen', 'barge-in', 'sequence'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** What places calls beside those that are measured. */
export const OUTBOUND = ['starts', 'dispatch'] as const;

/** Counts that a ramp tries, up to `--calls`. */
const RAMP = [50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000];

const number = (min: number, max: number) =>
  z.string().transform(Number).pipe(z.number('must be a number').min(min).max(max));
const whole = (min: number, max: number) => number(min, max).pipe(z.int('must be a whole number'));
const cores = z.string().regex(/^(all|\d+([,-]\d+)*)$/, 'must be cores as in 0 or 0,1, or all');

const url = z.url({ protocol: /^https?$/ });

const options = z.strictObject({
  provider: z
    .enum(HOSTED)
    .default('twilio')
    .describe(`whose calls: ${HOSTED.join(', ')}`),
  scenario: z
    .enum(SCENARIOS)
    .default('talk')
    .describe(`what agent and callers do: ${SCENARIOS.join(', ')}`),
  calls: whole(1, 10_000).prefault('100').describe('calls at a time; of --ramp auto: at most'),
  seconds: number(1, 3_600).prefault('60').describe('how long is measured once all calls are up'),
  'calls-per-second': number(0.1, 1_000).prefault('20').describe('how fast calls are placed'),
  'warm-up': number(0, 600)
    .prefault('25')
    .describe('seconds in which a few calls lead a gateway of its own through all a call has'),
  'interruptions-per-second': number(0.01, 1_000)
    .prefault('2')
    .describe('of barge-in, all calls together'),
  'lead-ms': number(20, 10_000)
    .prefault('80')
    .describe('how far ahead of what is played the gateway sends; later is late'),
  'goal-ms': number(1, 10_000).prefault('10').describe('lateness p99 that is to be held'),
  services: z
    .literal('fake')
    .optional()
    .describe('fake: calls converse by streaming services over TLS in a process of their own'),
  kill: z
    .string()
    .regex(/^(stt|tts|llm|all)(,(stt|tts|llm|all))*$/, 'must be of stt, tts, llm and all')
    .optional()
    .describe('primary services that fail in turn in a sequence, as in stt,tts,llm,all'),
  'kill-how': z
    .enum(['gone', 'silent', 'both'])
    .default('both')
    .describe('connections are refused, or nothing passes; both: by turns'),
  'outage-seconds': number(1, 600).prefault('8').describe('length of each failure'),
  'recovery-seconds': number(1, 600).prefault('30').describe('between two failures'),
  attack: z
    .literal('api')
    .optional()
    .describe('api: hostile requests, 16 honest clients and new calls beside the calls'),
  'hostile-per-second': number(0, 1_000).prefault('50').describe('requests of the attacker'),
  consoles: whole(0, 50)
    .prefault('0')
    .describe('consoles open beside the calls, in every second run: board and a live call each'),
  outbound: z
    .enum(OUTBOUND)
    .optional()
    .describe('starts: calls over the API beside the calls; dispatch: contacts of a campaign'),
  'outbound-per-second': whole(1, 1_000).prefault('100').describe('of these, in an open loop'),
  ramp: z
    .string()
    .regex(/^(auto|\d+(,\d+)*)$/, 'must be counts as in 50,100,200, or auto')
    .optional()
    .describe('calls at a time, one count after the other, as in 50,100,200; auto: up to --calls'),
  runs: whole(1, 100)
    .prefault('1')
    .describe('measurements of each count, of which the median counts'),
  total: whole(1, 1_000_000).prefault('10000').describe('calls of a sequence'),
  'call-seconds': number(1, 1_000).prefault('10').describe('length of each call of a sequence'),
  engine: z
    .enum(['embedded', 'server'])
    .default('embedded')
    .describe("database of the tool's own gateway; server: a PostgreSQL of this machine"),
  workers: whole(0, 32)
    .optional()
    .describe("PATCHBAY_WORKERS of the tool's own gateway; default: the gateway's"),
  'load-limit': whole(0, 100)
    .prefault('0')
    .describe("PATCHBAY_LOAD_LIMIT of the tool's own gateway, 0: none"),
  'gateway-cores': cores
    .optional()
    .describe(
      "of the tool's own gateway, as in 0 or 0,1, or all; default: 0, of several workers all",
    ),
  'client-cores': cores
    .optional()
    .describe('of the calls; default: 1, with several workers, --url or --webhook all'),
  'gateway-pid': whole(1, 2 ** 31)
    .optional()
    .describe('process at --url or --webhook, on this machine, whose CPU and memory are measured'),
  url: url
    .optional()
    .describe('a gateway that runs already, with --api-key; default: one of its own'),
  'api-key': z.string().optional().describe('of the gateway at --url'),
  'provider-host': z
    .string()
    .default('127.0.0.1')
    .describe('this machine as the gateway at --url reaches it'),
  webhook: url
    .optional()
    .describe(
      "any gateway's webhook for Twilio's calls, with --account-sid, --auth-token and --to",
    ),
  'account-sid': z.string().optional().describe("Twilio's, as the gateway at --webhook knows it"),
  'auth-token': z.string().optional().describe('of that account'),
  to: z.string().optional().describe('the number that is called at --webhook'),
  json: z.string().optional().describe('a file to write all figures to'),
  svg: z.string().optional().describe('a file to draw the lateness of the counts in'),
});

export type LoadCommand = Omit<z.output<typeof options>, 'ramp'> & {
  /** In rising order; empty: no ramp. */
  ramp: number[];
};

/** One line for each option. */
export function helpText(): string {
  const defaults: Readonly<Record<string, unknown>> = options.parse({});
  const lines = Object.entries(options.shape).map(([name, { description }]) => {
    const value = defaults[name];
    const end = value === undefined ? '' : `; default: ${value}`;
    return `  ${`--${name}`.padEnd(27)}${description}${end}`;
  });
  return ['npm run load -- [--option value ...]; README.md tells more.', ...lines].join('\n');
}

/** Throws an error with one line for each fault. */
export function readCommand(args: readonly string[]): LoadCommand {
  const texts = Object.fromEntries(
    Object.keys(options.shape).map((name) => [name, { type: 'string' as const }]),
  );
  const { values } = parseArgs({ args: [...args], options: texts, strict: true });
  const read = options.safeParse(values);
  if (!read.success) {
    const lines = read.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`);
    throw new Error(lines.join('\n'));
  }
  const { ramp, ...command } = read.data;
  const faults = faultsOf(command, ramp);
  if (faults.length > 0) throw new Error(faults.join('\n'));
  return { ...command, ramp: rampOf(ramp, command.calls) };
}

function rampOf(ramp: string | undefined, callsMax: number): number[] {
  if (ramp === undefined) return [];
  const counts = ramp === 'auto' ? RAMP.filter((each) => each < callsMax) : listed(ramp);
  if (ramp === 'auto') counts.push(callsMax);
  return [...new Set(counts)].sort((a, b) => a - b);
}

function listed(ramp: string): number[] {
  return ramp.split(',').map(Number).filter(Boolean);
}

function faultsOf(
  command: Omit<z.output<typeof options>, 'ramp'>,
  ramp: string | undefined,
): string[] {
  const faults: string[] = [];
  const { url, webhook } = command;
  if (url !== undefined && webhook !== undefined)
    faults.push('--url and --webhook exclude each other');
  if (url !== undefined && command['api-key'] === undefined) faults.push('--url needs --api-key');
  const account = ['account-sid', 'auth-token', 'to'] as const;
  if (webhook !== undefined && account.some((name) => command[name] === undefined)) {
    faults.push('--webhook needs --account-sid, --auth-token and --to');
  }
  if (webhook !== undefined && command.provider !== 'twilio')
    faults.push("--webhook is called by Twilio's protocol alone");
  const isOwn = url === undefined && webhook === undefined;
  if (command.attack !== undefined && !isOwn) faults.push("--attack needs the tool's own gateway");
  if (command.attack !== undefined && command.scenario === 'sequence')
    faults.push('a sequence has no attack');
  faults.push(...serviceFaultsOf(command, isOwn), ...outboundFaultsOf(command, isOwn));
  faults.push(...consoleFaultsOf(command, ramp));
  if (command.scenario === 'sequence' && ramp !== undefined) faults.push('a sequence has no ramp');
  return faults;
}

function consoleFaultsOf(
  { consoles, scenario, webhook }: Omit<z.output<typeof options>, 'ramp'>,
  ramp: string | undefined,
): string[] {
  if (consoles === 0) return [];
  const faults: string[] = [];
  if (webhook !== undefined) faults.push("--consoles needs the gateway's API");
  if (scenario === 'sequence' || ramp !== undefined)
    faults.push('--consoles measures one count of calls');
  return faults;
}

function outboundFaultsOf(
  { attack, engine, outbound, scenario }: Omit<z.output<typeof options>, 'ramp'>,
  isOwn: boolean,
): string[] {
  const faults: string[] = [];
  if (engine === 'server' && !isOwn) faults.push("--engine server needs the tool's own gateway");
  if (outbound === undefined) return faults;
  if (!isOwn) faults.push("--outbound needs the tool's own gateway");
  if (attack !== undefined) faults.push('--outbound and --attack exclude each other');
  if (scenario === 'sequence') faults.push('a sequence has no outbound calls');
  return faults;
}

function serviceFaultsOf(
  { attack, scenario, services, kill }: Omit<z.output<typeof options>, 'ramp'>,
  isOwn: boolean,
): string[] {
  const faults: string[] = [];
  if (kill !== undefined && (services === undefined || scenario !== 'sequence')) {
    faults.push('--kill needs --services fake and --scenario sequence');
  }
  if (services === undefined) return faults;
  if (!isOwn) faults.push("--services needs the tool's own gateway");
  if (attack !== undefined) faults.push('--services and --attack exclude each other');
  if (scenario !== 'talk' && scenario !== 'sequence') {
    faults.push('--services has a scenario of its own');
  }
  return faults;
}
