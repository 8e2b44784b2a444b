// Calls on hold, and calls whose media are interrupted: the silence after them is explained as any other.

import { describe, expect, it } from 'vitest';
import { ENGLISH_LINES } from '../../../src/workflow/engine/dialogue-lines.ts';
import { type CallHarness, chat, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';
import type { Stream } from '../stream.ts';

const held = withCallHarness();
const PHONE = 'phone-1';

interface Greeted {
  harness: CallHarness;
  stream: Stream;
  llm: ScriptedModel;
}

/** A call whose greeting was said. */
async function greeted(settings: object): Promise<Greeted> {
  const { harness } = held;
  const llm = new ScriptedModel(harness.clock);
  harness.speech.llm = llm;
  await harness.prepare(chat, settings);
  const pbx = await withPbx(harness);
  pbx.inbound(PHONE, EXTENSION);
  const stream = await mediaOf(harness, PHONE);
  await harness.heardOut(stream);
  return { harness, stream, llm };
}

async function notices({ harness }: Greeted): Promise<string[]> {
  const [run = { id: '' }] = await harness.runs();
  const said = await harness.bodies(run, 'agent.said');
  return said.filter(({ kind }) => kind === 'notice').map(({ text }) => text);
}

describe('a wait for the agent', () => {
  it.each([
    ['held', 'unheld'],
    ['interrupted', 'restored'],
  ])('that goes on after the call was %s is explained', async (begins, ends) => {
    const call = await greeted({});
    const { harness, stream, llm } = call;
    llm.answers = [{ hangs: true }];
    await harness.says(stream, 'when do you open');
    await harness.passUntil(() => llm.spoken.length === 1);
    stream.text(begins);
    await harness.pass(2_500);
    expect(await notices(call)).toEqual([]);
    stream.text(ends);
    await harness.pass(3_500);
    const said = await notices(call);
    expect(said.filter((line) => ENGLISH_LINES.oneMoment.includes(line))).toHaveLength(1);
  });
});

describe('an agent that never explains a wait', () => {
  it('explains an outage all the same', async () => {
    const call = await greeted({ filler_delay_seconds: 0 });
    const { harness, stream } = call;
    await harness.pass(2_000);
    stream.text('interrupted');
    await harness.pass(1_500);
    stream.text('restored');
    await harness.pass(3_000);
    expect(await notices(call)).toEqual([ENGLISH_LINES.lineRestored]);
  });

  it('says nothing while the caller waits', async () => {
    const call = await greeted({ filler_delay_seconds: 0 });
    const { harness, stream, llm } = call;
    llm.answers = [{ hangs: true }];
    await harness.says(stream, 'when do you open');
    await harness.passUntil(() => llm.spoken.length === 1);
    await harness.pass(4_000);
    expect(await notices(call)).toEqual([]);
  });
});
