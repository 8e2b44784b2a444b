// Who may speak: both starting at once, the strategies of contract §5.5, noise, a full disk, a slow socket.

import { describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { defaultTuning, type TurnTuning } from '../../../src/pipeline/turn/turn-tuning.ts';
import { MemoryRecording } from '../../fakes/call/memory-recording.ts';
import { FakeStt } from '../../fakes/speech-services.ts';
import { CallRig } from '../call-rig.ts';

const LONG =
  'Thank you for calling, all of our agents are busy at the moment and will be with you.';

function tuning(start: Partial<TurnTuning['start']>): TurnTuning {
  return { ...defaultTuning, start: { ...defaultTuning.start, ...start } };
}

describe('caller and agent together', () => {
  it('the agent does not begin while the caller says words, and its words are dropped', async () => {
    const rig = new CallRig();
    rig.line = 'voice';
    await rig.run(300);
    rig.stt.understand('one more');
    rig.say(LONG);
    await rig.run(800);
    expect(rig.farEnd.frames).toEqual([]);
    rig.stt.understand('one more question');
    rig.line = 'silence';
    await rig.run(1_500);
    expect(rig.turns).toEqual(['one more question']);
    expect(rig.reports).toMatchObject([{ heardText: '', interrupted: true }]);
    expect(rig.of('interruption')).toEqual([]);
  });

  it('the agent begins after 400 ms of a noise that is no words, and noise does not stop it', async () => {
    const rig = new CallRig();
    rig.line = 'voice';
    await rig.run(1_000);
    rig.say(LONG);
    await rig.run(8_000);
    const first = rig.of('utterance-started')[0];
    expect(first?.facts.mediaMs).toBeGreaterThanOrEqual(1_400);
    expect(first?.facts.mediaMs).toBeLessThanOrEqual(1_500);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
  });

  it('an utterance that had hardly begun starts again after a noise', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(160);
    await rig.voice(120);
    await rig.run(9_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
    expect(rig.farEnd.playedMs).toBeGreaterThan(rig.tts.durationMs(LONG) + 100);
  });

  it('voice for a second and a half interrupts without a word', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    await rig.voice(2_000);
    expect(rig.of('interruption').length).toBe(1);
    expect(rig.reports).toMatchObject([{ interrupted: true }]);
  });

  it('a short answer at the very end of the agent’s words is an answer', async () => {
    const rig = new CallRig();
    rig.say('Would you like that?');
    await rig.run(700);
    await rig.says('yeah', 240);
    await rig.run(3_000);
    expect(rig.turns).toEqual(['yeah']);
    expect(rig.reports).toMatchObject([{ heardText: 'Would you like that?', interrupted: false }]);
  });
});

describe('an answer that a closed grammar doubts, said while the agent goes on after its question', () => {
  const Asks = `Which number? ${LONG}`;

  /** The caller says `text` once the agent has asked. */
  async function doubted(text: string, { confidence = 0.4, said = Asks } = {}) {
    let embedded: FakeStt | undefined;
    const rig = new CallRig({
      stt: (clock) => {
        embedded = new FakeStt(clock);
        embedded.capabilities = { ...embedded.capabilities, closedOnly: true };
        return embedded;
      },
    });
    rig.say(said);
    await rig.run(2_000);
    if (embedded === undefined) throw new Error('no recogniser');
    embedded.confidence = confidence;
    rig.line = 'voice';
    await rig.run(600);
    embedded.understand(text, { silently: true });
    rig.line = 'silence';
    await rig.run(1_500);
    return Object.assign(rig, { embedded });
  }

  it('is asked about when the agent has finished', async () => {
    const rig = await doubted('four one two');
    expect(rig.turns).toEqual([]);
    expect(rig.audio.speaking).toBe(true);
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([{ heardText: Asks, interrupted: false }]);
    expect(rig.turns).toEqual(['four one two']);
    const [turn] = rig.of('turn');
    expect(turn?.turn.confidence).toBe(0.4);
    const end = rig.reports[0]?.endMs ?? 0;
    // What the caller waits for counts from the agent's end.
    expect((turn?.turn.lastSpeechAt ?? 0) - end).toBeLessThan(200);
    expect(rig.of('backchannel')).toEqual([]);
  });

  it('is asked about behind a full-width question mark too', async () => {
    const rig = await doubted('four one two', { said: `哪个号码？${LONG}` });
    await rig.run(8_000);
    expect(rig.turns).toEqual(['four one two']);
  });

  it.each([
    ['of one word, as hums are taken for', 'four', {}],
    ['that are an acknowledgement', 'uh huh', {}],
    ['before any question', 'four one two', { said: LONG }],
    ['that are no better than a guess', 'four one two', { confidence: 0.2 }],
  ])('is none in words %s', async (_which, text, how) => {
    const rig = await doubted(text, how);
    await rig.run(8_000);
    expect(rig.turns).toEqual([]);
    expect(rig.of('backchannel').map((event) => event.text)).toEqual([text]);
  });

  it('gives way to a key, to newer words and to a new question', async () => {
    const keyed = await doubted('four one two');
    keyed.audio.digit('7');
    await keyed.run(8_000);
    expect(keyed.turns).toEqual(['7']);
    expect(keyed.of('backchannel').map((event) => event.text)).toEqual(['four one two']);
    const again = await doubted('four one two');
    again.embedded.confidence = 0.9;
    again.line = 'voice';
    await again.run(600);
    again.embedded.understand('four one three', { silently: true });
    again.line = 'silence';
    await again.run(8_000);
    expect(again.turns).toEqual(['four one three']);
    const asked = await doubted('four one two');
    asked.audio.expect({ ...OPEN_SPEECH, closed: true, slots: ['yes_no'] });
    await asked.run(8_000);
    expect(asked.turns).toEqual([]);
  });
});

describe('what an unfinished interruption leaves behind', () => {
  // Ducked or held under the caller's voice, the agent came to its end or was taken back; the next words
  // were then 12 dB too quiet, or were not heard at all until the caller made another sound.
  it('is no ducking: after an answer given at its end the agent speaks as loud as before', async () => {
    const rig = new CallRig({ tuning: tuning({ strategy: 'min_words' }) });
    rig.say('Would you like that?');
    await rig.run(900);
    await rig.says('yes please', 600);
    await rig.run(1_500);
    expect(rig.turns).toEqual(['yes please']);
    rig.say(LONG);
    await rig.run(1_000);
    expect(rig.farEnd.levelAt(rig.nowMs - 60)).toBeCloseTo(rig.farEnd.levelAt(500), 0);
  });

  it('is no silence: what follows an utterance taken back while it was held is heard', async () => {
    const rig = new CallRig();
    const speech = rig.audio.speak({ utteranceId: 7, interruptible: true });
    speech.text(LONG);
    await rig.run(1_000);
    await rig.voice(100);
    expect(rig.farEnd.clears).toBe(1);
    speech.cancel();
    await rig.run(100);
    rig.say('I am sorry, there was a fault.');
    await rig.run(5_000);
    expect(rig.reports.at(-1)).toMatchObject({
      heardText: 'I am sorry, there was a fault.',
      interrupted: false,
    });
  });
});

describe('words without detected speech', () => {
  it('are the agent’s own if it has just said them, and the caller’s otherwise', async () => {
    for (const [text, turns] of [
      ['you like that', []],
      ['no I do not', ['no I do not']],
    ] as const) {
      const rig = new CallRig();
      rig.say('Would you like that?');
      await rig.run(1_900);
      rig.stt.understand(text, { silently: true });
      rig.stt.final();
      await rig.run(500);
      expect(rig.turns, text).toEqual(turns);
    }
  });
});

describe('the strategy', () => {
  it('min_words ignores fewer words and stops at enough, or at a word that means stop', async () => {
    for (const [text, stops] of [
      ['two words', false],
      ['these are three', true],
      ['stop', true],
    ] as const) {
      const rig = new CallRig({ tuning: tuning({ strategy: 'min_words', wordsMin: 3 }) });
      rig.say(LONG);
      await rig.run(1_000);
      await rig.says(text, 600);
      await rig.run(1_500);
      expect(rig.of('interruption').length, text).toBe(stops ? 1 : 0);
      expect(rig.turns, text).toEqual(stops ? [text] : []);
      expect(rig.of('backchannel').length, text).toBe(stops ? 0 : 1);
      expect(rig.farEnd.clears > 0, text).toBe(stops);
    }
  });

  it('min_words ducks the agent by about 12 dB while the caller makes a sound', async () => {
    const rig = new CallRig({ tuning: tuning({ strategy: 'min_words' }) });
    rig.say(LONG);
    await rig.run(1_000);
    const before = rig.farEnd.levelAt(900);
    await rig.voice(500);
    const ducked = rig.farEnd.levelAt(rig.nowMs - 60);
    expect(before - ducked).toBeGreaterThan(11);
    expect(before - ducked).toBeLessThan(13);
    await rig.run(1_500);
    expect(rig.farEnd.levelAt(rig.nowMs - 60)).toBeCloseTo(before, 0);
  });

  it('provisional_vad pauses for its time and goes on if no words came', async () => {
    const rig = new CallRig({ tuning: tuning({ strategy: 'provisional_vad', pauseMs: 1_500 }) });
    rig.say(LONG);
    await rig.run(1_000);
    await rig.voice(2_600);
    const gaps = rig.farEnd.frames.map(
      (frame, nth, all) => frame.atMs - (all[nth - 1]?.untilMs ?? 0),
    );
    const pauseMs = Math.max(...gaps.slice(1));
    expect(pauseMs).toBeGreaterThan(1_200);
    expect(pauseMs).toBeLessThan(1_600);
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
  });
});

describe('a bug met on a tick of the clock', () => {
  it('is reported once as the end of this call, and reaches neither clock nor process', async () => {
    const rig = new CallRig();
    const bug = new Error('a bug');
    rig.react = (item) => {
      if (item.type === 'utterance-started') throw bug;
    };
    rig.say(LONG);
    await rig.run(400);
    expect(rig.of('broken').map(({ error }) => error)).toEqual([bug]);
    await rig.audio.close();
  });

  it("in the handling of a recogniser's result ends this call alone", async () => {
    const rig = new CallRig();
    const bug = new Error('a bug');
    rig.react = (item) => {
      if (item.type === 'turn') throw bug;
    };
    await rig.says('hello there', 600);
    await rig.run(2_000);
    expect(rig.of('broken').map(({ error }) => error)).toEqual([bug]);
    await rig.audio.close();
  });
});

describe('the call goes on', () => {
  it('with a hole in the recording when the disk is full', async () => {
    const recording = new MemoryRecording();
    recording.bytesMax = 50_000;
    const rig = new CallRig({ recording });
    rig.say(LONG);
    await rig.run(4_000);
    await rig.says('hello I am here', 600);
    await rig.run(1_500);
    expect(rig.of('fault').map(({ error }) => error.code)).toEqual(['RECORDING_FAILED']);
    expect(rig.turns).toEqual(['hello I am here']);
    const summary = await rig.audio.close();
    expect(summary?.seconds).toBeCloseTo(6.1, 1);
    expect(recording.lostBytes).toBeGreaterThan(4 * 32_000);
  });

  it('with both sides in the recording, at the times they were heard', async () => {
    const recording = new MemoryRecording();
    const rig = new CallRig({ recording });
    await rig.run(500);
    rig.say('Hello.');
    await rig.run(1_500);
    await rig.voice(200);
    await rig.run(500);
    const summary = await rig.audio.close();
    expect(summary).toEqual({ seconds: rig.nowMs / 1_000, bytes: recording.bytes.length });
    const pcm = new Int16Array(recording.bytes.buffer, recording.bytes.byteOffset + 44);
    const first = (channel: number) => {
      for (let i = channel; i < pcm.length; i += 2) {
        if (Math.abs(pcm[i] as number) > 1_000) return (i >> 1) / 8;
      }
      return Number.NaN;
    };
    expect(first(1)).toBeCloseTo(rig.farEnd.frames[0]?.atMs ?? 0, 0);
    expect(first(0)).toBeCloseTo(2_000, 0);
  });

  it('sends nothing more to a socket that does not take it, and goes on when it does', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(1_000);
    rig.farEnd.bufferedBytes = 20_000;
    const sent = rig.farEnd.frames.length;
    await rig.run(1_000);
    expect(rig.farEnd.frames.length).toBe(sent);
    rig.farEnd.bufferedBytes = 0;
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG, interrupted: false }]);
  });

  it('with a fault when the synthesiser gives nothing for five seconds', async () => {
    const rig = new CallRig();
    rig.tts.firstAudioMs = 60_000;
    rig.say('This never comes.');
    await rig.run(6_000);
    expect(rig.of('fault').map(({ error }) => error.code)).toEqual(['TTS_TIMEOUT']);
    expect(rig.reports).toMatchObject([{ heardText: '', interrupted: false }]);
  });
});
