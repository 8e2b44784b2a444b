// What callers say against an agent that cannot be interrupted: a request that was complete before the greeting's end
// got ten seconds of silence.

import { describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { defaultTuning } from '../../../src/pipeline/turn/turn-tuning.ts';
import { CallRig, type RigOptions } from '../call-rig.ts';

const GREETING = 'Thank you for calling the clinic of doctor Miller. How can we help you today?';

/** The agent greets, and the caller says this half a second later. */
async function overGreeting(text: string, options: RigOptions = {}, ms = 1_200): Promise<CallRig> {
  const rig = new CallRig(options);
  rig.say(GREETING, { interruptible: false });
  await rig.run(500);
  await rig.says(text, ms);
  return rig;
}

describe('a request during speech that cannot be interrupted', () => {
  it('is a turn as soon as that has been heard, and not before', async () => {
    const rig = await overGreeting('I would like to book a table');
    await rig.run(2_000);
    expect(rig.turns).toEqual([]);
    expect(rig.audio.speaking).toBe(true);
    await rig.run(6_000);
    expect(rig.turns).toEqual(['I would like to book a table']);
    expect(rig.reports).toMatchObject([{ heardText: GREETING, interrupted: false }]);
    const [item] = rig.of('turn');
    const end = rig.reports[0]?.endMs ?? 0;
    expect(item?.turn).toMatchObject({ startMs: 480, confidence: 0.9 });
    // What the caller waits for counts from the agent's end.
    expect((item?.turn.lastSpeechAt ?? 0) - end).toBeLessThan(100);
    expect(rig.of('backchannel')).toEqual([]);
    expect(rig.of('interruption')).toEqual([]);
  });

  it('is one turn with what follows, within it and behind it', async () => {
    const rig = await overGreeting('I would like to book');
    await rig.run(1_000);
    await rig.says('for two people', 400);
    await rig.run(rig.tts.durationMs(GREETING) - 300 - rig.nowMs);
    rig.line = 'voice';
    await rig.run(1_000);
    expect(rig.audio.speaking).toBe(false);
    rig.stt.understand('on Monday');
    rig.line = 'silence';
    await rig.run(2_000);
    expect(rig.turns).toEqual(['I would like to book for two people on Monday']);
  });

  it('is answered in place of what the agent would have said next', async () => {
    const rig = await overGreeting('I would like to book a table');
    rig.say('Are you still there?');
    await rig.run(8_000);
    expect(rig.turns).toEqual(['I would like to book a table']);
    expect(rig.reports).toMatchObject([
      { heardText: GREETING, interrupted: false },
      { heardText: '', interrupted: true },
    ]);
  });

  it('waits for the end of all such speech', async () => {
    const rig = await overGreeting('I would like to book a table');
    rig.say('This call is recorded.', { interruptible: false });
    await rig.run(rig.tts.durationMs(GREETING) + 500 - rig.nowMs);
    expect(rig.turns).toEqual([]);
    await rig.run(2_500);
    expect(rig.turns).toEqual(['I would like to book a table']);
    expect(rig.reports.map(({ interrupted }) => interrupted)).toEqual([false, false]);
  });

  it('is one however few words the strategy min_words takes for an interruption', async () => {
    const start = { ...defaultTuning.start, strategy: 'min_words' as const, wordsMin: 4 };
    const rig = await overGreeting('a table', { tuning: { ...defaultTuning, start } });
    await rig.run(8_000);
    expect(rig.turns).toEqual(['a table']);
  });

  it('counts among the last words of a caller who hangs up meanwhile', async () => {
    const rig = await overGreeting('I would like to book a table');
    await rig.run(1_000);
    rig.audio.leave();
    await rig.run(100);
    expect(rig.of('last-turn').map(({ turn }) => turn.text)).toEqual([
      'I would like to book a table',
    ]);
  });

  it('gives way to a key', async () => {
    const rig = await overGreeting('I would like to book a table');
    await rig.run(1_000);
    rig.audio.digit('7');
    await rig.run(8_000);
    expect(rig.turns).toEqual(['7']);
    expect(rig.of('backchannel')).toMatchObject([{ isMuted: true }]);
  });

  it.each([
    ['an acknowledgement', 'mhm okay', 0.9],
    ['a guess', 'a table', 0.2],
    ['a greeting', 'hello?', 0.9],
  ])('is none if it is %s', async (_what, text, confidence) => {
    const rig = new CallRig();
    rig.stt.confidence = confidence;
    rig.say(GREETING, { interruptible: false });
    await rig.run(500);
    await rig.says(text);
    await rig.run(8_000);
    expect(rig.turns).toEqual([]);
    expect(rig.of('backchannel')).toMatchObject([{ text, isMuted: true }]);
  });

  it('is one in an acknowledgement that answers a question', async () => {
    const rig = new CallRig();
    rig.audio.expect({ ...OPEN_SPEECH, slots: ['yes_no'] });
    rig.say('Is that right? If not, we change it, which costs nothing, and takes a minute.', {
      interruptible: false,
    });
    await rig.run(1_500);
    await rig.says('yeah');
    await rig.run(8_000);
    expect(rig.turns).toEqual(['yeah']);
  });
});
