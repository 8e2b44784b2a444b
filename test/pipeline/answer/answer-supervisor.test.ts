import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levelDb } from '../../../src/audio/gain.ts';
import { batchedVad } from '../../../src/audio/vad/vad-batch.ts';
import { loadVadKernel } from '../../../src/audio/vad/vad-loader.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import { AnswerSupervisor } from '../../../src/pipeline/answer/answer-supervisor.ts';
import { answeredByOf } from '../../../src/pipeline/answer/answer-verdict.ts';
import { toneOf, tonePairOf } from '../../../src/pipeline/answer/tones.ts';
import { VoiceActivityDetector } from '../../../src/pipeline/listen/voice-activity.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { rounds } from '../../rounds.ts';

const kernel = loadVadKernel();
const FULL = 8_000;

const silence = (ms: number) => new Int16Array(ms * 8);
const tone = (hz: readonly number[], ms: number, peak = FULL) =>
  Int16Array.from({ length: ms * 8 }, (_, i) =>
    hz.reduce(
      (sum, each) => sum + (peak / hz.length) * Math.sin((2 * Math.PI * each * i) / 8_000),
      0,
    ),
  );
function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}
/** One of the callers' voices, without the silence around it. */
function voice(name: string): Int16Array {
  const { samples } = readWav(readFileSync(`fixtures/audio/callers/${name}.wav`));
  const isLoud = (sample: number) => Math.abs(sample) > 300;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud));
}
/** What a machine says, without a pause. */
const GREETING = joined(
  ...['book-an-appointment', 'on-wednesday', 'in-the-morning', 'that-is-right', 'another-day'].map(
    voice,
  ),
);

/** Words that the recogniser returns, at their time in milliseconds. */
interface Words {
  atMs: number;
  text: string;
  isFinal?: boolean;
}

interface Heard {
  longSpeechMs?: number;
  words?: readonly Words[];
  /** Times at which the agent has spoken. */
  agentMs?: readonly number[];
  provider?: { atMs: number; answeredBy: string };
}

/** What is made of it, over G.711 and with the real VAD; the verdicts with their times in seconds. */
function verdicts(pcm: Int16Array, heard: Heard = {}): string[] {
  const { longSpeechMs = 5_000, words = [], agentMs = [], provider } = heard;
  const said: string[] = [];
  const supervisor = new AnswerSupervisor({
    longSpeechMs,
    hasOpenWords: words.length > 0,
    onVerdict: (verdict) =>
      said.push(`${answeredByOf(verdict)} ${Math.round(verdict.atMs / 1_000)}s`),
  });
  const detector = new VoiceActivityDetector({
    vad: batchedVad(kernel, new FakeClock()),
    onWindow: () => undefined,
    onBroken: (error) => expect(error).toBeUndefined(),
  });
  const payload = new Uint8Array(160);
  const frame = new Int16Array(160);
  for (let at = 0; at + 160 <= pcm.length; at += 160) {
    const atMs = at / 8;
    pcmu.encode(pcm.subarray(at, at + 160), payload);
    pcmu.decode(payload, frame);
    const level = levelDb(frame);
    detector.push(frame, atMs, level);
    supervisor.push(frame, level, detector.voice.state === 'speech', atMs);
    for (const { text, isFinal = false } of words.filter((each) => each.atMs === atMs)) {
      supervisor.words(text, { isFinal });
    }
    if (agentMs.includes(atMs)) supervisor.agentSpoke();
    if (provider?.atMs === atMs) supervisor.provider(provider.answeredBy);
  }
  detector.close();
  return said;
}

const who = (pcm: Int16Array, heard: Heard = {}) =>
  verdicts(pcm, heard).map((verdict) => verdict.split(' ')[0]);

describe('who has answered', () => {
  it.each([
    'yes-please',
    'no-thank-you',
    'that-is-right',
    'in-the-morning',
    'on-wednesday',
    'another-day',
    'book-an-appointment',
  ])('is a person who says %s and waits', (name) => {
    expect(who(joined(silence(600), voice(name), silence(1_500)))).toEqual(['human']);
  });

  it('is a machine that goes on and on, and then beeps', () => {
    const heard = who(joined(GREETING, GREETING, silence(300), tone([1_000], 400), silence(600)));
    expect(heard).toEqual(['machine_start', 'machine_end_beep']);
  });

  it('is a machine if it beeps after a short word', () => {
    const heard = who(joined(voice('yes-please'), tone([1_400], 200), silence(600)));
    expect(heard).toEqual(['machine_end_beep']);
  });

  it('is unknown without speech', () => {
    expect(verdicts(silence(12_000))).toEqual(['unknown 10s']);
  });

  it('is a machine that has finished when it falls silent', () => {
    const heard = verdicts(joined(GREETING, GREETING, silence(3_500)));
    expect(heard.map((each) => each.split(' ')[0])).toEqual([
      'machine_start',
      'machine_end_silence',
    ]);
  });

  it('is a machine after all if a person goes on and on', () => {
    const heard = who(
      joined(voice('yes-please'), silence(1_200), GREETING, GREETING, silence(500)),
    );
    expect(heard).toEqual(['human', 'machine_start']);
  });

  it('is a person who has taken turns with the agent, whatever they say or beep', () => {
    const talk = joined(
      voice('yes-please'),
      silence(3_000),
      voice('on-wednesday'),
      silence(3_000),
      GREETING,
      GREETING,
      tone([1_000], 400),
      silence(600),
    );
    expect(who(talk, { agentMs: [2_000, 6_000] })).toEqual(['human']);
  });

  it.each<[string, string]>([
    ['Please leave your message after the tone', 'machine_start'],
    ['The mailbox is full and cannot accept any messages at this time', 'machine_no_message'],
    ['Hi, please state your name and why you are calling', 'machine_screening'],
    ['For sales, press one. For service, press two', 'machine_menu'],
    ['All of our agents are currently busy', 'machine_hold'],
    ['The number you have dialed is not in service', 'machine_out_of_service'],
  ])('is known by the words "%s"', (text, expected) => {
    const words = [{ atMs: 1_600, text }];
    expect(who(joined(GREETING, silence(400)), { words })[0]).toBe(expected);
  });

  it.each([
    'Hello, you have reached Smith and Sons, this is Anna, how can I help you?',
    "Hello? Sorry, I can't hear you",
    'Hello, you have reached the president of the moon. Just kidding, who is this?',
    'Speaking',
  ])('is a person who says "%s"', (text) => {
    const words = [
      { atMs: 1_800, text, isFinal: true },
      { atMs: 1_000, text: text.slice(0, 20) },
    ];
    expect(who(joined(voice('book-an-appointment'), silence(1_500)), { words })).toEqual(['human']);
  });

  it('is a person who takes the call after a screening', () => {
    const words = [
      { atMs: 1_600, text: 'Please state your name and why you are calling', isFinal: true },
      { atMs: 10_800, text: 'Hello?', isFinal: true },
    ];
    const sound = joined(GREETING, silence(10_000 - GREETING.length / 8), voice('yes-please'));
    const heard = who(joined(sound, silence(3_000)), { words });
    expect(heard).toEqual(['machine_screening', 'machine_screening', 'human']);
  });

  it('has no words of a machine without an open vocabulary: the cadence decides', () => {
    expect(who(joined(GREETING, GREETING, silence(400)))).toEqual(['machine_start']);
  });

  it('is what the provider says only where nothing else is known', () => {
    const word = joined(voice('yes-please'), silence(3_000));
    const provider = { atMs: 2_400, answeredBy: 'machine_start' };
    expect(who(word, { provider })).toEqual(['human']);
    expect(who(silence(4_000), { provider })).toEqual(['machine_start']);
    expect(who(silence(4_000), { provider: { atMs: 2_400, answeredBy: 'fax' } })).toEqual(['fax']);
  });

  it('is no number in service after the special information tone', () => {
    const sit = joined(tone([950], 330), tone([1_400], 330), tone([1_800], 330));
    expect(who(joined(silence(200), sit, silence(500)))).toEqual(['machine_out_of_service']);
  });

  it('is a fax that answers', () => {
    expect(who(joined(silence(500), tone([2_100], 2_800), silence(500)))).toEqual(['fax']);
  });

  it('is a machine after as long as the agent says', () => {
    expect(verdicts(GREETING, { longSpeechMs: 2_000 })[0]).toMatch(/^machine_start [23]s$/);
    expect(verdicts(joined(GREETING, silence(1_200)), { longSpeechMs: 30_000 })[0]).toMatch(
      /^human/,
    );
  });
});

describe('a beep', () => {
  const sweep = (from: number, to: number, ms: number) => {
    let phase = 0;
    return Int16Array.from({ length: ms * 8 }, (_, i) => {
      phase += (2 * Math.PI * (from + ((to - from) * i) / (ms * 8))) / 8_000;
      return FULL * Math.sin(phase);
    });
  };

  it.each<[string, Int16Array]>([
    ['two tones at once', tone([900, 1_500], 400)],
    ['a tone that slides up', sweep(800, 1_600, 400)],
    ['a tone that slides down', sweep(1_500, 900, 300)],
    ['two short tones', joined(tone([1_200], 90), silence(100), tone([1_200], 90))],
    ['three short tones', joined(...Array(3).fill(joined(tone([950], 100), silence(80))))],
  ])('is %s', (_, sound) => {
    expect(who(joined(GREETING, silence(300), sound, silence(400)))).toContain('machine_end_beep');
  });

  it('is no silence after a word, though its begin passes for a voice', () => {
    const beep = tone([653], 939, 1_200);
    expect(who(joined(silence(323), beep, silence(300)))).toEqual(['machine_end_beep']);
  });

  it('is one steady tone of any usual pitch, length and level', () => {
    const beeps = fc.record({
      hz: fc.integer({ min: 650, max: 2_400 }),
      ms: fc.integer({ min: 200, max: 1_800 }),
      peak: fc.integer({ min: 1_200, max: 30_000 }),
      before: fc.integer({ min: 300, max: 340 }),
    });
    fc.assert(
      fc.property(beeps, ({ hz, ms, peak, before }) => {
        const heard = who(joined(silence(before), tone([hz], ms, peak), silence(300)));
        expect(heard).toEqual(['machine_end_beep']);
      }),
      { numRuns: rounds(200) },
    );
  });

  it.each<[string, Int16Array]>([
    [
      'ring-back of America',
      joined(tone([440, 480], 2_000), silence(1_000), tone([440, 480], 2_000)),
    ],
    ['ring-back of Europe', joined(tone([425], 1_000), silence(1_000), tone([425], 1_000))],
    ['busy of America', joined(tone([480, 620], 500), silence(500), tone([480, 620], 500))],
    ['busy of Europe', joined(tone([425], 500), silence(500), tone([425], 500))],
    ['a dial tone', tone([350, 440], 3_000)],
    ['a tone that goes on', tone([1_000], 4_000)],
    ['a click', joined(tone([1_000], 60), silence(300))],
    ['keys', joined(tone([697, 1_209], 150), silence(100), tone([852, 1_477], 150), silence(300))],
    ['a soft tone', joined(tone([1_000], 400, 250), silence(300))],
  ])('is not %s', (_, sound) => {
    expect(who(joined(silence(500), sound, silence(300)))).not.toContain('machine_end_beep');
  });

  it('is not in the voices of people', () => {
    const samples = readWav(readFileSync('fixtures/audio/vad/speech.wav')).samples;
    expect(verdicts(samples).join()).not.toContain('beep');
  });

  it('has the pitch that it has', () => {
    for (const hz of [600, 1_000, 1_400, 2_000]) {
      expect(Math.abs(toneOf(tone([hz], 20)) - hz)).toBeLessThan(2);
    }
    expect(toneOf(silence(20))).toBe(0);
    const pair = tonePairOf(tone([900, 1_500], 20));
    expect(pair?.lowHz).toBeCloseTo(900, -1);
    expect(pair?.highHz).toBeCloseTo(1_500, -1);
  });
});
