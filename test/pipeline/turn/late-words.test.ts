// What becomes of final words that come when their turn is over: a recogniser is slow where a turn is replayed to it.

import { describe, expect, it } from 'vitest';
import { CallRig } from '../call-rig.ts';

const LONG =
  'Thank you for calling, all of our agents are busy at the moment and will be with you.';

/** A turn that ended with interim words, because the final ones take `finalMs`. */
async function cutOff(finalMs: number): Promise<CallRig> {
  const rig = new CallRig();
  rig.stt.finalMs = finalMs;
  await rig.says('cancel my order');
  rig.stt.understand('cancel my order today', { silently: true });
  await rig.run(1_600);
  expect(rig.turns).toEqual(['cancel my order']);
  return rig;
}

const lateTurns = (rig: CallRig) => rig.of('late-turn').map(({ turn }) => turn.text);

describe('words that come when their turn is over', () => {
  it('are a turn while nothing is said to it', async () => {
    const rig = await cutOff(2_000);
    await rig.run(2_000);
    expect([rig.turns, lateTurns(rig)]).toEqual([['cancel my order', 'today'], []]);
  });

  it('are part of the transcript where the answer is spoken already', async () => {
    const rig = await cutOff(2_000);
    rig.say(LONG);
    await rig.run(2_000);
    expect([rig.turns, lateTurns(rig)]).toEqual([['cancel my order'], ['today']]);
    const [first, late] = [rig.of('turn')[0]?.turn, rig.of('late-turn')[0]?.turn];
    expect(late).toMatchObject({ startMs: first?.startMs, endMs: first?.endMs, source: 'speech' });
    expect(rig.of('interruption')).toEqual([]);
  });

  it('are a turn while the model has no words yet', async () => {
    const rig = await cutOff(2_000);
    rig.audio.speak({ utteranceId: 1, interruptible: true });
    await rig.run(2_000);
    expect([rig.turns, lateTurns(rig)]).toEqual([['cancel my order', 'today'], []]);
  });

  it('are part of the transcript where the recogniser doubts them', async () => {
    const rig = await cutOff(2_000);
    rig.stt.confidence = 0.4;
    await rig.run(2_000);
    expect([rig.turns, lateTurns(rig)]).toEqual([['cancel my order'], ['today']]);
  });

  it('answer no question that was asked after their turn', async () => {
    const rig = await cutOff(4_000);
    rig.say('Which order?');
    await rig.run(1_500);
    expect(rig.reports).toHaveLength(1);
    await rig.run(2_500);
    expect([rig.turns, lateTurns(rig)]).toEqual([['cancel my order'], ['today']]);
  });

  it('are part of the transcript where another turn followed theirs', async () => {
    const rig = await cutOff(4_000);
    rig.stt.finalMs = 3_500;
    await rig.says('by the way');
    rig.stt.understand('by the way thanks', { silently: true });
    await rig.run(1_600);
    expect(rig.turns).toEqual(['cancel my order', 'by the way']);
    rig.stt.understand('cancel my order today', { silently: true });
    await rig.run(1_200);
    expect([rig.turns.slice(2), lateTurns(rig)]).toEqual([[], ['today']]);
  });

  it('have no effect where their turn was none', async () => {
    const rig = new CallRig();
    rig.stt.finalMs = 2_000;
    rig.say(LONG, { interruptible: false });
    await rig.run(500);
    await rig.says('uh');
    rig.stt.understand('uh huh right', { silently: true });
    await rig.run(6_000);
    expect([rig.turns, lateTurns(rig)]).toEqual([[], []]);
  });
});
