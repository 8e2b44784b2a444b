// The command line of `npm run soak`.

import { parseArgs } from 'node:util';
import { z } from 'zod';
import { PROTOCOLS } from './protocols.ts';
import type { SoakProtocol } from './soak-run.ts';

const whole = (min: number, max: number) =>
  z
    .string()
    .transform(Number)
    .pipe(z.number('must be a number').min(min).max(max))
    .pipe(z.int('must be a whole number'));

const options = z.strictObject({
  turns: whole(1, 1_000_000).prefault('10000').describe('of each protocol'),
  minutes: whole(1, 1_440).prefault('60').describe('after which nothing more is begun, in all'),
  seed: whole(0, 2 ** 31)
    .prefault('1')
    .describe('of the faults; the same one repeats a run'),
  protocols: z
    .string()
    .prefault('all')
    .describe('names or their beginnings, as in stt/nova,tts; all of them: all'),
});

export interface SoakCommand {
  turns: number;
  minutes: number;
  seed: number;
  protocols: readonly SoakProtocol[];
}

/** One line for each option, and the names of the protocols. */
export function helpText(): string {
  const defaults: Readonly<Record<string, unknown>> = options.parse({});
  const lines = Object.entries(options.shape).map(([name, { description }]) => {
    return `  ${`--${name}`.padEnd(14)}${description}; default: ${defaults[name]}`;
  });
  const names = PROTOCOLS.map(({ name }) => name).join(', ');
  return [
    'npm run soak -- [--option value ...]; docs/services.md tells more.',
    ...lines,
    names,
  ].join('\n');
}

/** Throws an error with one line for each fault. */
export function readCommand(args: readonly string[]): SoakCommand {
  const texts = Object.fromEntries(
    Object.keys(options.shape).map((name) => [name, { type: 'string' as const }]),
  );
  const { values } = parseArgs({ args: [...args], options: texts, strict: true });
  const read = options.safeParse(values);
  if (!read.success) {
    const lines = read.error.issues.map(({ path, message }) => `--${path.join('.')}: ${message}`);
    throw new Error(lines.join('\n'));
  }
  const { protocols: wanted, ...command } = read.data;
  const names = wanted.split(',');
  const isWanted = ({ name }: SoakProtocol): boolean =>
    names.some((each) => each === 'all' || name === each || name.startsWith(`${each}/`));
  const unknown = names.filter(
    (each) => each !== 'all' && !PROTOCOLS.some(({ name }) => `${name}/`.startsWith(`${each}/`)),
  );
  if (unknown.length > 0) throw new Error(`--protocols: there is no ${unknown.join(', ')}`);
  return { ...command, protocols: PROTOCOLS.filter(isWanted) };
}
