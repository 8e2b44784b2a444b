// `npm run pbx`: the gateway over a real Asterisk, in each mode, with a real SIP client; prints the table mode x feature x
// outcome, and exits with 1 if a row fails. docs/asterisk.md says what it needs.

import { mkdirSync, rmSync } from 'node:fs';
import { resolve } from 'node:path';
import type { AdminMode } from '../../src/telephony/registry/asterisk-files.ts';
import { AsteriskSide, INCLUDED, MEDIA_MODULE } from './asterisk-side.ts';
import { type PbxOptions, pbxOptions } from './options.ts';
import { ROWS } from './rows/all-rows.ts';
import type { Row } from './rows/row.ts';
import { Stage } from './stage.ts';
import { exitCodeOf, type Outcome, tableOf } from './table.ts';

/** Deadline of a row with everything it waits for. */
const ROW_MS_MAX = 180_000;
const OPTIONS_MISSING = 2;

const names = ROWS.map(({ feature }) => feature);
const read = pbxOptions(process.argv.slice(2), process.env['PATH'] ?? '', names);
if ('missing' in read) {
  console.error(`Everything is skipped:\n${read.missing.map((each) => `  ${each}`).join('\n')}`);
  process.exitCode = OPTIONS_MISSING;
} else {
  process.exitCode = await run(read.options);
}
// Whatever a row has left under way.
process.exit();

async function run(options: PbxOptions): Promise<number> {
  const folder = resolve('demo-output', `pbx-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  const pbx = new AsteriskSide(options.account, options.files);
  const version = await pbx.version();
  console.log(`Asterisk ${version} at ${options.account.url}; logs in ${folder}`);
  const outcomes: Outcome[] = [];
  try {
    for (const mode of options.modes) {
      outcomes.push(...(await tryMode({ options, pbx, folder }, mode)));
    }
  } finally {
    await pbx.configure();
  }
  console.log(`\nAsterisk ${version}\n\n${tableOf(outcomes)}`);
  const code = exitCodeOf(outcomes);
  if (code === 0 && !options.keep) rmSync(folder, { recursive: true, force: true });
  return code;
}

async function tryMode(
  { options, pbx, folder }: { options: PbxOptions; pbx: AsteriskSide; folder: string },
  mode: AdminMode,
): Promise<Outcome[]> {
  console.log(`\n${mode}`);
  const rows = ROWS.filter(
    ({ feature }) =>
      options.features.length === 0 || options.features.some((part) => feature.includes(part)),
  );
  const module = MEDIA_MODULE[mode];
  if (!(await pbx.hasModule(module))) {
    return rows.map(({ feature }) => told({ mode, feature }, 'skipped', `no ${module}`));
  }
  let stage: Stage;
  try {
    const place = { sipp: options.sipp, ...options.sip, folder };
    stage = await Stage.open({ mode, place, pbx, folder, workers: options.workers });
    if (!(await pbx.isConfigured())) throw new Error(notIncluded(options.files));
  } catch (error) {
    return [told({ mode, feature: 'set-up' }, 'FAILED', String(error))];
  }
  const outcomes: Outcome[] = [];
  try {
    for (const row of rows) outcomes.push(await tryRow(row, stage));
  } finally {
    await stage.close();
  }
  return outcomes;
}

async function tryRow(row: Row, stage: Stage): Promise<Outcome> {
  const at = { mode: stage.mode, feature: row.feature };
  const reason = row.skips?.(stage);
  if (reason !== undefined) return told(at, 'skipped', reason);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const error = new Error(`not finished within ${ROW_MS_MAX / 1_000} s`);
    timer = setTimeout(() => reject(error), ROW_MS_MAX);
  });
  try {
    return told(at, 'ok', await Promise.race([row.run(stage), late]));
  } catch (error) {
    return told(at, 'FAILED', error instanceof Error ? error.message : String(error));
  } finally {
    clearTimeout(timer);
    await stage.endRow();
  }
}

function told(
  at: { mode: string; feature: string },
  result: Outcome['result'],
  text: string,
): Outcome {
  console.log(`  ${at.feature.padEnd(36)} ${result}: ${text}`);
  return { ...at, result, text };
}

function notIncluded(files: string): string {
  const lines = Object.keys(INCLUDED).map((name) => `${name}: #include "${files}/${name}"`);
  return `Asterisk does not read the files of this run: ${lines.join(', ')}`;
}
