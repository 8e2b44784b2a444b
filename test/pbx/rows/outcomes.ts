// Rows: how calls that are not answered end, and what the run says of it. Source: asterisk §4.2.

import type { RunDetail } from '../../demo/api-client.ts';
import { EXTENSIONS } from '../agents.ts';
import { UNREGISTERED } from '../asterisk-side.ts';
import type { Fate } from '../sip-client.ts';
import { DIRECT, type Stage } from '../stage.ts';
import { until } from '../waiting.ts';
import { check, type Row } from './row.ts';

/** Longer than Asterisk waits for a trunk that does not reply, 32 s. */
const OUTCOME_MS_MAX = 75_000;
const RUN_MS_MAX = 15_000;

/** What the run's disposition is for each of the trunk's answers. */
const OUTCOMES: readonly { name: string; fate: Fate; disposition: string }[] = [
  { name: 'busy (486)', fate: 'busy', disposition: 'busy' },
  { name: 'no answer', fate: 'rings', disposition: 'no-answer' },
  { name: 'switched off (480)', fate: 'off', disposition: 'no-answer' },
  { name: 'dead trunk', fate: 'dead', disposition: 'no-answer' },
  { name: 'no sign of ringing', fate: 'mute', disposition: 'no-answer' },
  { name: '408 after ringing', fate: 'lost', disposition: 'no-answer' },
  { name: 'congestion (503)', fate: 'congested', disposition: 'failed' },
  { name: 'rejected (403)', fate: 'rejects', disposition: 'failed' },
  { name: 'unallocated (404)', fate: 'unallocated', disposition: 'failed' },
  { name: 'hangs up after the answer', fate: 'leaves', disposition: 'user_hangup' },
];

const outcomes: Row = {
  feature: 'outcomes of calls out',
  async run(stage) {
    const { short } = stage.agents;
    // These are as many calls as an organization may have at once: the one of the row before is over.
    await stage.completed(short, await stage.lastRunId(short));
    const found = await Promise.all(
      OUTCOMES.map(async ({ name, fate, disposition }) => {
        const run = await outcomeOf(stage, fate);
        const isRight = run.disposition === disposition;
        return isRight ? [] : [`${name}: ${run.disposition}, not ${disposition}`];
      }),
    );
    const wrong = found.flat();
    check(wrong.length === 0, wrong.join('; '));
    return OUTCOMES.map(({ name, disposition }) => `${name}: ${disposition}`).join('; ');
  },
};

async function outcomeOf(stage: Stage, fate: Fate): Promise<RunDetail> {
  const { short } = stage.agents;
  const callee = await stage.callee(fate);
  const runId = await stage.api.startCall(short.uuid, { phone_number: callee.number });
  return await stage.completed(short, runId, OUTCOME_MS_MAX);
}

const unregistered: Row = {
  feature: 'outcome: not registered',
  async run(stage) {
    const { api, configurationId, agents } = stage;
    await api.updateConfiguration(configurationId, { dial_template: 'PJSIP/{number}' });
    try {
      const start = api.startCall(agents.short.uuid, { phone_number: `+${UNREGISTERED}` });
      const error = await start.then(
        () => 'the call was started',
        (reason: unknown) => String(reason),
      );
      check(error.includes('is not registered'), error);
      return 'refused: not registered';
    } finally {
      await api.updateConfiguration(configurationId, { dial_template: DIRECT });
    }
  },
};

const cancelled: Row = {
  feature: 'cancelled before the answer',
  async run(stage) {
    const { short } = stage.agents;
    const before = await stage.lastRunId(short);
    const caller = await stage.callIn(EXTENSIONS.short);
    await caller.cancel();
    const runId = await until('the call has a run', RUN_MS_MAX, async () => {
      const last = await stage.lastRunId(short);
      return last === before ? undefined : last;
    });
    const run = await stage.completed(short, runId);
    check(run.disposition === 'no-answer', `its disposition is ${run.disposition}`);
    return 'no-answer';
  },
};

export const outcomeRows: readonly Row[] = [outcomes, unregistered, cancelled];
