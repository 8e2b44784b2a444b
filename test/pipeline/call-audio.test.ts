// Whole calls on the bench: what the caller hears, what the session is told.

import { describe, expect, it } from 'vitest';
import { levelDb } from '../../src/audio/gain.ts';
import { playoutGapSeconds } from '../../src/metrics/metrics.ts';
import { vadOf } from '../fakes/call/vad-of.ts';
import { CallRig } from './call-rig.ts';

const LONG =
  'Thank you for calling, all of our agents are busy at the moment and will be with you.';

/** The first window of a voice is a possibility, the next ones are sure. */
const hesitantVad = vadOf(() => {
  let loud = 0;
  return {
    process(window) {
      loud = levelDb(window) > -40 ? loud + 1 : 0;
      return [0.02, 0.55][loud] ?? 0.95;
    },
  };
});

describe('an undisturbed utterance', () => {
  it.each(['none', 'echo-on-clear', 'drop-on-clear'] as const)(
    'is played to its end before it is reported: %s',
    async (marks) => {
      const rig = new CallRig({ marks, oneWayMs: 40 });
      rig.say('Goodbye and thank you.');
      await rig.run(4_000);
      expect(rig.reports).toMatchObject([
        { utteranceId: 1, heardText: 'Goodbye and thank you.', interrupted: false },
      ]);
      const durationMs = rig.tts.durationMs('Goodbye and thank you.');
      expect(rig.farEnd.playedMs).toBeGreaterThanOrEqual(durationMs);
      expect(rig.of('utterance-finished')[0]?.atMs).toBeGreaterThanOrEqual(
        rig.farEnd.silentSince(9_999),
      );
    },
  );

  it('is sent ahead of real time by no more than the lead', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(3_000);
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(160);
    expect(rig.farEnd.aheadMsMax).toBeGreaterThanOrEqual(80);
  });

  it('never leaves the far end with less than the aim, wherever between two ticks it began', async () => {
    const rig = new CallRig();
    for (const firstAudioMs of [3, 10, 17]) {
      rig.tts.firstAudioMs = firstAudioMs;
      rig.say(LONG);
      await rig.run(500);
      rig.farEnd.aheadMsMin = Number.POSITIVE_INFINITY;
      await rig.run(1_500);
      expect(rig.farEnd.aheadMsMin).toBeGreaterThanOrEqual(80);
      rig.audio.stop();
      await rig.run(500);
    }
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(160);
  });

  it('is sent in messages of the step, however large that is', async () => {
    const stepped = new CallRig();
    const even = new CallRig({ lead: { aimMs: 100, maxMs: 160, stallMsMax: 160, stepMs: 20 } });
    for (const rig of [stepped, even]) {
      rig.say(LONG);
      await rig.run(3_000);
    }
    const { messages, frames } = stepped.farEnd;
    expect(messages).toBeLessThan(frames.length / 2.5);
    expect(even.farEnd.messages).toBe(even.farEnd.frames.length);
    expect(stepped.farEnd.playedMs).toBe(even.farEnd.playedMs);
  });

  it('starts on the wire as soon as its first audio is there', async () => {
    const rig = new CallRig();
    rig.tts.firstAudioMs = 45;
    await rig.run(10);
    rig.say('Hello.');
    await rig.run(200);
    const facts = rig.of('utterance-started')[0]?.facts;
    expect(facts).toMatchObject({ utteranceId: 1 });
    expect((facts?.firstAudioAt ?? 0) - (facts?.firstTextAt ?? 0)).toBe(45);
    expect((facts?.firstFrameAt ?? 0) - (facts?.firstAudioAt ?? 0)).toBe(0);
  });

  it('is finished by a local estimate if its mark never returns', async () => {
    const rig = new CallRig({ marks: 'drop-on-clear' });
    rig.farEnd.losesMarks = true;
    rig.say('Hello there.');
    await rig.run(1_500);
    expect(rig.reports).toEqual([]);
    await rig.run(1_500);
    expect(rig.reports).toMatchObject([{ heardText: 'Hello there.', interrupted: false }]);
  });

  it('comes in order with those behind it, without a gap', async () => {
    const rig = new CallRig();
    rig.say('One.');
    rig.say('Two.');
    await rig.run(2_000);
    expect(rig.reports.map((report) => report.utteranceId)).toEqual([1, 2]);
    expect(rig.kinds).toEqual([
      'utterance-started',
      'utterance-started',
      'utterance-finished',
      'utterance-finished',
    ]);
    expect(rig.farEnd.playedMs).toBe(
      rig.farEnd.silentSince(9_999) - (rig.farEnd.frames[0]?.atMs ?? 0),
    );
  });

  it('without text is over at once, and heard nothing', async () => {
    const rig = new CallRig();
    rig.audio.speak({ utteranceId: 7, interruptible: true }).end();
    await rig.run(20);
    expect(rig.reports).toMatchObject([{ utteranceId: 7, heardText: '', interrupted: false }]);
  });
});

describe('the recogniser', () => {
  it('gets silence while the parties cannot hear each other, and where the line sends nothing', async () => {
    const rig = new CallRig();
    await rig.run(1_000);
    rig.audio.suspend(true);
    await rig.run(30_000);
    rig.audio.suspend(false);
    await rig.run(1_000);
    rig.line = 'nothing';
    await rig.run(30_000);
    // But for a second each time, until there is certainly no audio.
    const missing = rig.nowMs / 20 - rig.stt.framesHeard;
    expect(missing).toBeGreaterThan(40);
    expect(missing).toBeLessThan(110);
    expect(rig.turns).toEqual([]);
  });

  it('is told what the caller has heard from the agent, and no tones', async () => {
    const rig = new CallRig();
    rig.say('And your name?');
    await rig.run(3_000);
    rig.audio.press('12');
    await rig.run(2_000);
    rig.say(LONG);
    await rig.run(1_000);
    rig.audio.stop();
    await rig.run(200);
    expect(rig.stt.agentTexts).toEqual(['And your name?', rig.reports.at(-1)?.heardText]);
    expect(rig.stt.agentTexts[1]).not.toBe(LONG);
  });
});

describe('an interruption', () => {
  it('silences the agent within 200 ms of the onset, and a fade', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    const onsetMs = rig.nowMs;
    await rig.says('I want to talk to sales', 900);
    expect(rig.farEnd.silentSince(onsetMs + 900) - onsetMs).toBeLessThanOrEqual(200);
    await rig.run(1_500);
    expect(rig.turns).toEqual(['I want to talk to sales']);
    expect(rig.of('interruption')[0]?.facts.silenceMs).toBeLessThanOrEqual(200);
  });

  it('is measured from the first of several pieces of voice', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    await rig.voice(200);
    await rig.run(160);
    await rig.says('I want to talk to sales', 600);
    await rig.run(1_500);
    const facts = rig.of('interruption')[0]?.facts;
    expect(facts?.silenceMs).toBeGreaterThan(60);
    expect(facts?.silenceMs).toBeLessThanOrEqual(200);
    expect(facts?.decisionMs).toBeGreaterThan(600);
  });

  it('by words in a noise that had been given up is measured from the noise', async () => {
    const rig = new CallRig();
    await rig.run(4_000);
    rig.line = 'voice';
    await rig.run(500);
    rig.say(LONG);
    await rig.run(1_500);
    rig.stt.understand('please listen to me');
    await rig.run(100);
    expect(rig.of('interruption')[0]?.facts.decisionMs).toBeGreaterThan(1_900);
    expect(rig.of('interruption')[0]?.facts.decisionMs).toBeLessThan(2_200);
  });

  it('on a slow path leaves the words that were played before the clear arrived', async () => {
    const rig = new CallRig({ oneWayMs: 300 });
    rig.say('One two three four five six. Seven eight nine ten eleven twelve thirteen fourteen.');
    await rig.run(3_000);
    rig.audio.stop();
    await rig.run(1_000);
    const fadeMs = 60;
    const heardCharacters = (rig.farEnd.playedMs - fadeMs) / rig.tts.msPerCharacter;
    const heard = rig.reports[0]?.heardText ?? '';
    expect(Math.abs(heard.length - heardCharacters)).toBeLessThan(4);
  });

  it('is emitted before the reports of what it stopped, and those before the turn', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    rig.say('And one more thing.');
    await rig.run(1_000);
    await rig.says('hold on a second please', 800);
    await rig.run(1_500);
    expect(
      rig.kinds.filter((kind) => !['partial', 'caller-speech', 'utterance-started'].includes(kind)),
    ).toEqual(['interruption', 'utterance-finished', 'utterance-finished', 'turn']);
    expect(rig.reports[1]).toMatchObject({ utteranceId: 2, heardText: '', interrupted: true });
  });

  it('leaves in the report only the words that were heard', async () => {
    for (const wordTimings of [true, false]) {
      const rig = new CallRig();
      rig.tts.wordTimings = wordTimings;
      rig.say('One two three four five six seven eight nine ten eleven twelve.');
      await rig.run(1_500);
      await rig.says('stop that now please', 800);
      await rig.run(1_500);
      const report = rig.reports[0];
      expect(report?.interrupted).toBe(true);
      // 60 ms a character: after 1.6 s about 26 characters were heard.
      expect(report?.heardText).toMatch(/^One two three four five( six)?$/);
    }
  });

  it('does not take marks that come back after the clear for played audio', async () => {
    const rig = new CallRig({ marks: 'echo-on-clear', oneWayMs: 50 });
    rig.say('Short one and over.');
    await rig.run(1_040);
    await rig.voice(60);
    expect(rig.farEnd.returned.map(({ name }) => name)).toEqual([]);
    await rig.run(200);
    // All was sent before the clear, so its mark came back with the clear.
    expect(rig.farEnd.returned.map(({ name }) => name)).toEqual(['1:1:0']);
    expect(rig.reports).toEqual([]);
    await rig.run(2_000);
    expect(rig.farEnd.returned.map(({ name }) => name)).toEqual(['1:1:0', '2:1:0']);
    expect(rig.reports).toMatchObject([{ heardText: 'Short one and over.', interrupted: false }]);
  });

  it('fades from the loudness that was played, not from that of the ducked frames in hand', async () => {
    const rig = new CallRig({ vad: () => hesitantVad });
    rig.say(LONG);
    await rig.run(1_000);
    await rig.voice(400);
    expect(rig.farEnd.clears).toBe(1);
    const [before, fade] = rig.farEnd.frames.slice(-4).map(({ pcm }) => Math.abs(pcm[0] ?? 0));
    expect(fade).toBeGreaterThan(0.9 * (before ?? 0));
  });

  it('fades the voice instead of cutting it', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    rig.audio.stop();
    await rig.run(200);
    const levels = rig.farEnd.frames.slice(-3).map((_, nth) => rig.farEnd.frames.at(nth - 3));
    const loudness = levels.map((frame) => Math.max(...(frame?.pcm ?? [0])));
    expect(loudness[0]).toBeGreaterThan(loudness[2] ?? 0);
    expect(Math.abs(rig.farEnd.frames.at(-1)?.pcm.at(-1) ?? 99)).toBeLessThan(200);
  });

  it('by a key stops the agent at once', async () => {
    const rig = new CallRig();
    rig.audio.expect({
      closed: true,
      phrases: [],
      slots: [],
      boost: [],
      digits: { countMax: 1, terminator: null },
    });
    rig.say(LONG);
    await rig.run(1_000);
    rig.audio.digit('2');
    expect(rig.kinds.slice(-4)).toEqual(['digit', 'interruption', 'utterance-finished', 'turn']);
    expect(rig.turns).toEqual(['2']);
    await rig.run(500);
    expect(rig.farEnd.playedMs).toBeLessThan(1_100);
  });

  it('keeps the first word: the recogniser heard every frame of the line', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    await rig.says('wait', 400);
    await rig.run(1_000);
    expect(rig.stt.framesHeard).toBe(rig.nowMs / 20);
    expect(rig.turns).toEqual(['wait']);
  });

  it('reaches no uninterruptible utterance, and its words the dialogue only behind it', async () => {
    const rig = new CallRig();
    rig.say(LONG, { interruptible: false });
    await rig.run(1_000);
    await rig.says('I want to talk to sales', 800);
    await rig.run(1_000);
    expect(rig.farEnd.clears).toBe(0);
    expect(rig.turns).toEqual([]);
    await rig.run(5_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
    expect(rig.turns).toEqual(['I want to talk to sales']);
  });
});

describe('what is no interruption', () => {
  it("continues the agent's utterance after a backchannel word", async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    await rig.says('mhm', 300);
    await rig.run(8_000);
    expect(rig.of('interruption')).toEqual([]);
    expect(rig.of('backchannel').map(({ text }) => text)).toEqual(['mhm']);
    expect(rig.turns).toEqual([]);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
  });

  it('continues the agent’s utterance after "I see", whose first word alone is ambiguous', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    rig.line = 'voice';
    await rig.run(300);
    rig.stt.understand('I');
    await rig.run(100);
    rig.stt.understand('I see');
    await rig.run(100);
    rig.line = 'silence';
    await rig.run(8_000);
    expect(rig.of('interruption')).toEqual([]);
    expect(rig.of('backchannel').map(({ text }) => text)).toEqual(['I see']);
  });

  it('goes on within a second of a noise', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    await rig.voice(200);
    const endedMs = rig.nowMs;
    const silentMs = rig.farEnd.silentSince(endedMs);
    await rig.run(1_000);
    const resumed = rig.farEnd.frames.find(({ atMs }) => atMs > silentMs);
    expect((resumed?.atMs ?? Number.POSITIVE_INFINITY) - endedMs).toBeLessThanOrEqual(1_000);
    await rig.run(7_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
    expect(rig.turns).toEqual([]);
  });

  // ElevenLabs Scribe sends the words of a committed text as interim words once more.
  it('is interim words that repeat the last turn under a noise', async () => {
    const rig = new CallRig();
    rig.react = ({ type }) => {
      if (type === 'turn') rig.say(LONG);
    };
    await rig.says('I want to cancel my order', 800);
    await rig.run(760);
    expect(rig.of('utterance-started').length).toBe(1);
    rig.line = 'voice';
    await rig.run(180);
    rig.stt.understand('I want to');
    rig.stt.understand('I want to cancel my order');
    await rig.run(60);
    rig.line = 'silence';
    rig.stt.understand('', { silently: true });
    await rig.run(9_000);
    expect(rig.of('interruption')).toEqual([]);
    expect(rig.turns).toEqual(['I want to cancel my order']);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
  });

  it('takes a backchannel word for an answer if it answers the question', async () => {
    const rig = new CallRig();
    rig.audio.expect({ closed: true, phrases: [], slots: ['yes_no'], boost: [] });
    rig.say(`Is that right? ${LONG}`);
    await rig.run(1_500);
    await rig.says('yeah', 400);
    await rig.run(1_000);
    expect(rig.turns).toEqual(['yeah']);
    expect(rig.of('interruption').length).toBe(1);
  });

  it('takes no backchannel word for an answer before it has asked', async () => {
    const rig = new CallRig();
    rig.audio.expect({ closed: true, phrases: [], slots: ['yes_no'], boost: [] });
    rig.say(`${LONG} Is that right?`);
    await rig.run(1_000);
    await rig.says('yeah', 400);
    await rig.run(9_000);
    expect(rig.turns).toEqual([]);
    expect(rig.of('backchannel').map(({ text }) => text)).toEqual(['yeah']);
    expect(rig.reports).toMatchObject([{ interrupted: false }]);
  });
});

describe('faults', () => {
  it('goes on with the next sentence when one fails, and says what was heard of it', async () => {
    const rig = new CallRig();
    rig.tts.fails = { text: 'second', afterMs: 700 };
    rig.say('This is the first sentence. And this is the second sentence. And here the third one.');
    await rig.run(8_000);
    expect(rig.of('fault').map(({ error }) => error.code)).toEqual(['TTS_FAILED']);
    expect(rig.reports[0]?.heardText).toBe(
      'This is the first sentence. And this is And here the third one.',
    );
  });

  it('leaves the keypad when the recogniser fails', async () => {
    const rig = new CallRig();
    await rig.run(200);
    rig.stt.die();
    await rig.voice(600);
    await rig.run(1_000);
    expect(rig.of('fault').map(({ error }) => error.code)).toEqual(['STT_FAILED']);
    rig.audio.digit('5');
    rig.audio.digit('#');
    expect(rig.turns).toEqual(['5']);
  });

  it("limits an internal fault in a recogniser's result to this call", async () => {
    const rig = new CallRig();
    await rig.voice(200);
    const nonsense = null as unknown as string; // What no service may give.
    expect(() => rig.stt.understand(nonsense)).not.toThrow();
    expect(rig.of('broken')).toHaveLength(1);
  });

  it('keeps what was recognised when the recogniser fails in the middle of a turn', async () => {
    const rig = new CallRig();
    await rig.says('my name is Ada', 600);
    rig.stt.die();
    await rig.run(1_500);
    expect(rig.turns).toEqual(['my name is Ada']);
  });

  it('survives a stall of 500 ms with no more than the lead in one burst', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    const gapsBefore = await gaps();
    rig.clock.stall(500);
    const before = rig.farEnd.frames.length;
    await rig.run(20);
    expect((rig.farEnd.frames.length - before) * 20).toBeLessThanOrEqual(160 + 160 + 20);
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
    const { count, seconds } = await gaps();
    expect(count - gapsBefore.count).toBe(1);
    const heard = rig.farEnd.frames.slice(before - 1, before + 1);
    const gapMs = (heard[1]?.atMs ?? 0) - (heard[0]?.untilMs ?? 0);
    expect(gapMs).toBeGreaterThan(300);
    expect((seconds - gapsBefore.seconds) * 1_000).toBeCloseTo(gapMs, 3);
  });

  it('counts no gap where nothing was to be said, or a caller cut in', async () => {
    const before = await gaps();
    const rig = new CallRig();
    rig.say('Good morning.');
    await rig.run(3_000);
    rig.clock.stall(500);
    rig.say(LONG);
    await rig.run(2_000);
    await rig.says('wait a minute please');
    await rig.run(2_000);
    rig.say('Yes?');
    await rig.run(3_000);
    expect(rig.of('interruption')).toHaveLength(1);
    expect(await gaps()).toEqual(before);
  });
});

/** Gaps of all calls so far. */
async function gaps(): Promise<{ count: number; seconds: number }> {
  const { values } = await playoutGapSeconds.get();
  const partOf = (part: string) =>
    values.find(({ metricName }) => metricName?.endsWith(part))?.value ?? 0;
  return { count: partOf('_count'), seconds: partOf('_sum') };
}
