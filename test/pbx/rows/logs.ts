// Rows: what the mode's rows left behind: in the gateway's log, and at the PBX.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { parseJson } from '../../../src/std/json.ts';
import { until } from '../waiting.ts';
import { check, type Row } from './row.ts';

/** The last calls' channels and bridges are deleted after their runs are closed. */
const LEFT_MS_MAX = 10_000;
/** Repetitions of one message about one configuration: more is a flood. The rows make about 25 calls, a few of which
 *  fail. */
const REPEATS_MAX = 12;
/** Says how slow the machine is, whatever the rows do. */
const OF_MACHINE = 'a statement occupied the embedded database for a long time';

const line = z.looseObject({
  level: z.string(),
  msg: z.string().default(''),
  configurationId: z.string().default(''),
});

const log: Row = {
  feature: 'log: no storm, no stack',
  run(stage) {
    const texts = readFileSync(stage.logFile, 'utf8').split('\n');
    const lines = texts.flatMap((text) => line.safeParse(parseJson(text)).data ?? []);
    const stacks = texts.filter((text) => /"stack":|\\n {4}at /.test(text)).length;
    const counts = new Map<string, number>();
    for (const { level, msg, configurationId } of lines) {
      if (msg === OF_MACHINE || !/^(warn|error|fatal)$/.test(level)) continue;
      const about = `${msg} ${configurationId}`.trim();
      counts.set(about, (counts.get(about) ?? 0) + 1);
    }
    const storms = [...counts].filter(([, count]) => count > REPEATS_MAX);
    check(stacks === 0, `${stacks} lines with a stack`);
    check(storms.length === 0, storms.map(([msg, count]) => `${count} times "${msg}"`).join('; '));
    const warnings = [...counts.values()].reduce((sum, count) => sum + count, 0);
    return Promise.resolve(`${lines.length} lines, ${warnings} of them warnings or errors`);
  },
};

const left: Row = {
  feature: 'nothing left at the PBX',
  async run(stage) {
    await until('all channels and bridges are gone', LEFT_MS_MAX, async () => {
      return (await stage.pbx.channels()).length === 0 && (await stage.pbx.bridges()) === 0;
    });
    return 'no channel, no bridge';
  },
};

export const logRows: readonly Row[] = [left, log];
