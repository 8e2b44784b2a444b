// A short line where the agent's own speech is not there yet, and the waiting tone.

import { describe, expect, it } from 'vitest';
import { levelDbfs } from '../../audio/sounds.ts';
import { StreamedTts } from '../../fakes/services/streamed-tts.ts';
import { hum } from '../../fakes/speech-services.ts';
import { CallRig } from '../call-rig.ts';

const LINE = { utteranceId: 90, text: 'One moment, please.', samples: hum(900, 3_300) };

function level(rig: CallRig, fromMs: number, untilMs: number): number {
  const pcm = new Int16Array((untilMs - fromMs) * 8);
  rig.farEnd.heard(fromMs, pcm);
  return levelDbfs(pcm);
}

describe('an interjection', () => {
  it('is played before an utterance whose words are not there', async () => {
    const rig = new CallRig();
    const speech = rig.audio.speak({ utteranceId: 1, interruptible: true });
    await rig.run(1_000);
    rig.audio.interject(LINE);
    await rig.run(500);
    speech.text('Here is the answer.');
    speech.end();
    await rig.run(3_000);
    const ids = rig.of('utterance-started').map(({ facts }) => facts.utteranceId);
    expect(ids).toEqual([90, 1]);
    expect(rig.reports).toMatchObject([
      { utteranceId: 90, heardText: LINE.text, interrupted: false, startMs: 1_000, endMs: 1_900 },
      { utteranceId: 1, heardText: 'Here is the answer.', interrupted: false, startMs: 1_900 },
    ]);
  });

  it('is not played once the words have come', async () => {
    const rig = new CallRig();
    rig.say('Here is the answer.');
    await rig.run(100);
    rig.audio.interject(LINE);
    await rig.run(100);
    expect(rig.farEnd.playedMs).toBeGreaterThan(0);
    await rig.run(3_000);
    expect(rig.reports).toMatchObject([
      { utteranceId: 90, heardText: '', interrupted: true },
      { utteranceId: 1, heardText: 'Here is the answer.', interrupted: false },
    ]);
  });

  it('is played within an utterance that waits for its words, which goes on behind it', async () => {
    const rig = new CallRig({ tts: (clock) => new StreamedTts({ clock: clock as never }) });
    const speech = rig.audio.speak({ utteranceId: 1, interruptible: true });
    speech.text('Your table is booked for Friday, ');
    await rig.run(4_000);
    rig.audio.interject(LINE);
    await rig.run(1_000);
    speech.text('and we will call you tomorrow.');
    speech.end();
    await rig.run(4_000);
    expect(rig.reports).toMatchObject([
      { utteranceId: 90, heardText: LINE.text, interrupted: false },
      {
        utteranceId: 1,
        heardText: 'Your table is booked for Friday, and we will call you tomorrow.',
        interrupted: false,
      },
    ]);
    expect(rig.of('fault')).toEqual([]);
  });

  it('stops with everything else when the caller interrupts, and the utterance is not lost', async () => {
    const rig = new CallRig();
    const speech = rig.audio.speak({ utteranceId: 1, interruptible: true });
    rig.audio.interject(LINE);
    await rig.run(440);
    rig.audio.stop();
    speech.text('Too late.');
    await rig.run(1_000);
    const [aside, main] = rig.reports;
    expect(aside).toMatchObject({ utteranceId: 90, interrupted: true });
    expect(aside?.heardText).toBe('One moment,');
    expect(main).toMatchObject({ utteranceId: 1, heardText: '', interrupted: true });
    expect(level(rig, 520, 1_400)).toBe(-100);
    expect(rig.farEnd.playedMs).toBeLessThan(520);
  });
});

describe('a caller who speaks during an interjection', () => {
  it.each([true, false])('is not talked over (an answer is awaited: %s)', async (isAwaited) => {
    const rig = new CallRig();
    if (isAwaited) rig.audio.speak({ utteranceId: 1, interruptible: true });
    await rig.run(1_000);
    rig.audio.interject({ ...LINE, samples: hum(5_000, 3_300) });
    await rig.run(300);
    rig.line = 'voice';
    await rig.run(900);
    expect(rig.reports).toMatchObject([{ utteranceId: 90, interrupted: true }]);
    expect(rig.reports[0]?.endMs).toBeLessThan(2_000);
    expect(level(rig, rig.nowMs - 200, rig.nowMs)).toBe(-100);
    expect(rig.audio.silentSince).toBe(Number.POSITIVE_INFINITY);
  });

  it('does not stop it by a click', async () => {
    const rig = new CallRig();
    rig.audio.interject(LINE);
    await rig.run(200);
    rig.line = 'voice';
    await rig.run(100);
    rig.line = 'silence';
    await rig.run(1_500);
    expect(rig.reports).toMatchObject([{ utteranceId: 90, interrupted: false }]);
  });
});

describe('the waiting tone', () => {
  it('sounds softly every two seconds until the agent speaks, and reports nothing', async () => {
    const rig = new CallRig();
    rig.audio.hold(true);
    await rig.run(5_000);
    expect(level(rig, 0, 600)).toBeLessThan(-60);
    for (const at of [600, 2_600, 4_600]) {
      expect(level(rig, at + 40, at + 280)).toBeGreaterThan(-45);
      expect(level(rig, at + 40, at + 280)).toBeLessThan(-30);
    }
    expect(rig.news).toEqual([]);
    expect(rig.audio.speaking).toBe(false);
    rig.say('Here I am.');
    await rig.run(4_000);
    expect(rig.reports).toMatchObject([{ heardText: 'Here I am.' }]);
    const { nowMs } = rig;
    expect(level(rig, nowMs - 2_500, nowMs)).toBe(-100);
  });
});
