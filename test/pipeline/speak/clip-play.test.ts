// Recorded clips in a call: played, interrupted, and accounted for like any utterance.

import { describe, expect, it } from 'vitest';
import { hum } from '../../fakes/speech-services.ts';
import { CallRig } from '../call-rig.ts';

const WORDS = 'one two three four five six seven eight nine ten';
/** Two seconds. */
const CLIP = hum(2_000, 4_000);

describe('a clip', () => {
  it('is heard whole, and reported with all its words', async () => {
    const rig = new CallRig();
    rig.play(WORDS, CLIP);
    await rig.run(3_000);
    expect(rig.reports).toMatchObject([{ heardText: WORDS, interrupted: false }]);
    const [{ startMs, endMs } = { startMs: 0, endMs: 0 }] = rig.reports;
    expect(endMs - startMs).toBeGreaterThanOrEqual(1_990);
    expect(endMs - startMs).toBeLessThanOrEqual(2_020);
    expect(rig.farEnd.marksSent).toHaveLength(1);
    expect(rig.tts.asked).toEqual([]);
  });

  it('begins at once: nothing has to be synthesized', async () => {
    const rig = new CallRig();
    rig.play(WORDS, CLIP);
    expect(rig.farEnd.frames.length).toBeGreaterThan(0);
    expect(rig.kinds).toEqual(['utterance-started']);
  });

  it('that is interrupted was heard as far as its transcript goes by time', async () => {
    const rig = new CallRig();
    rig.play(WORDS, CLIP);
    await rig.run(1_000);
    await rig.says('please stop that', 800);
    await rig.run(2_000);
    const [report] = rig.reports;
    expect(report?.interrupted).toBe(true);
    const heard = report?.heardText.split(' ') ?? [];
    expect(WORDS.startsWith(report?.heardText ?? '-')).toBe(true);
    expect(heard.length).toBeGreaterThanOrEqual(4);
    expect(heard.length).toBeLessThanOrEqual(7);
    expect(rig.turns).toEqual(['please stop that']);
    expect(rig.farEnd.clears).toBeGreaterThan(0);
  });

  it('that may not be interrupted is played to its end', async () => {
    const rig = new CallRig();
    rig.play(WORDS, CLIP, { interruptible: false });
    await rig.run(500);
    await rig.says('please stop that', 800);
    await rig.run(3_000);
    expect(rig.reports).toMatchObject([{ heardText: WORDS, interrupted: false }]);
  });

  it('goes on where it was held when the caller said nothing after all', async () => {
    const rig = new CallRig();
    rig.play(WORDS, CLIP);
    await rig.run(1_000);
    await rig.voice(200);
    await rig.run(4_000);
    expect(rig.reports).toMatchObject([{ heardText: WORDS, interrupted: false }]);
  });

  it('takes its place between what is spoken', async () => {
    const rig = new CallRig();
    rig.say('Before.');
    rig.play('recorded', CLIP);
    rig.say('After.');
    await rig.run(8_000);
    expect(rig.reports.map(({ heardText }) => heardText)).toEqual([
      'Before.',
      'recorded',
      'After.',
    ]);
  });

  it('without words is played and reported without', async () => {
    const rig = new CallRig();
    rig.play('', CLIP);
    await rig.run(3_000);
    expect(rig.reports).toMatchObject([{ heardText: '', interrupted: false }]);
    expect(rig.farEnd.playedMs).toBeGreaterThanOrEqual(1_980);
  });

  it('comes back as echo without stopping itself', async () => {
    const rig = new CallRig();
    rig.play(WORDS, CLIP, { interruptible: true });
    const echo = new Int16Array(160);
    for (let ms = 0; ms < 3_000; ms += 20) {
      rig.farEnd.heard(rig.nowMs - 100, echo);
      await rig.plays(echo.map((sample) => sample / 10));
    }
    expect(rig.reports).toMatchObject([{ heardText: WORDS, interrupted: false }]);
    expect(rig.turns).toEqual([]);
  });

  it('given to a call that is closed is over before it began', async () => {
    const rig = new CallRig();
    await rig.audio.close();
    rig.play(WORDS, CLIP);
    expect(rig.reports).toMatchObject([{ heardText: '', interrupted: true }]);
  });
});
