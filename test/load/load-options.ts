// The command line of `npm run load`. README.md describes it.

import { parseArgs } from 'node:util';
import { z } from 'zod';

export const SCENARIOS = ['talk', 'listen', 'barge-in', 'sequence'] as const;
export type Scenario = (typeof SCENARIOS)[number];

/** Counts that a ramp tries, up to `--calls`. */
const RAMP = [50, 100, 200, 300, 400, 500, 600, 700, 800, 900, 1_000];

const number = (min: number, max: number) =>
  z.string().transform(Number).pipe(z.number('must be a number').min(min).max(max));
const whole = (min: number, max: number) => number(min, max).pipe(z.int('must be a whole number'));
const cores = z.string().regex(/^(all|\d+([,-]\d+)*)$/, 'must be cores as in 0 or 0,1, or all');

const options = z.strictObject({
  provider: z.literal('twilio').default('twilio'),
  scenario: z.enum(SCENARIOS).default('talk'),
  calls: whole(1, 10_000).prefault('100'),
  seconds: number(1, 3_600).prefault('60'),
  'calls-per-second': number(0.1, 1_000).prefault('20'),
  'interruptions-per-second': number(0.01, 1_000).prefault('2'),
  'lead-ms': number(20, 10_000).prefault('80'),
  'goal-ms': number(1, 10_000).prefault('10'),
  ramp: z
    .string()
    .regex(/^(auto|\d+(,\d+)*)$/, 'must be counts as in 50,100,200, or auto')
    .optional(),
  runs: whole(1, 100).prefault('1'),
  total: whole(1, 1_000_000).prefault('10000'),
  'call-seconds': number(1, 1_000).prefault('10'),
  workers: whole(1, 64).optional(),
  'load-limit': whole(0, 100).prefault('0'),
  'gateway-cores': cores.optional(),
  'client-cores': cores.optional(),
  'gateway-pid': whole(1, 2 ** 31).optional(),
  url: z.url({ protocol: /^https?$/ }).optional(),
  'api-key': z.string().optional(),
  'provider-host': z.string().default('127.0.0.1'),
  webhook: z.url({ protocol: /^https?$/ }).optional(),
  'account-sid': z.string().optional(),
  'auth-token': z.string().optional(),
  to: z.string().optional(),
  json: z.string().optional(),
  svg: z.string().optional(),
});

export type LoadCommand = Omit<z.output<typeof options>, 'ramp'> & {
  /** In rising order; empty: no ramp. */
  ramp: number[];
};

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
  if (command.scenario === 'sequence' && ramp !== undefined) faults.push('a sequence has no ramp');
  return faults;
}
