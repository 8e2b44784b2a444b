// The command line of `npm run load`.

import { parseArgs } from 'node:util';
import { z } from 'zod';
import { SCENARIOS } from './load-run.ts';

const number = (min: number, max: number) =>
  z.string().transform(Number).pipe(z.number('must be a number').min(min).max(max));
const whole = (min: number, max: number) => number(min, max).pipe(z.int('must be a whole number'));

const options = z.strictObject({
  provider: z.literal('twilio').default('twilio'),
  scenario: z.enum(SCENARIOS).default('talk'),
  calls: whole(1, 10_000).prefault('100'),
  seconds: number(1, 3_600).prefault('60'),
  'calls-per-second': number(0.1, 1_000).prefault('20'),
  'lead-ms': number(20, 10_000).prefault('100'),
  workers: whole(1, 64).optional(),
  json: z.string().optional(),
});

export type LoadCommand = z.output<typeof options>;

/** Throws with one line for each fault. */
export function readCommand(args: readonly string[]): LoadCommand {
  const texts = Object.fromEntries(
    Object.keys(options.shape).map((name) => [name, { type: 'string' as const }]),
  );
  const { values } = parseArgs({ args: [...args], options: texts, strict: true });
  const read = options.safeParse(values);
  if (read.success) return read.data;
  const faults = read.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`);
  throw new Error(faults.join('\n'));
}
