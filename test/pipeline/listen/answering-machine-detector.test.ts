import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { levelDb } from '../../../src/audio/gain.ts';
import { batchedVad } from '../../../src/audio/vad/vad-batch.ts';
import { loadVadKernel } from '../../../src/audio/vad/vad-loader.ts';
import { readWav } from '../../../src/audio/wav.ts';
import { pcmu } from '../../../src/codec/g711.ts';
import {
  AnsweringMachineDetector,
  toneOf,
} from '../../../src/pipeline/listen/answering-machine-detector.ts';
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

/** What is made of it, over G.711 and with the real VAD; the verdicts with their times. */
function verdicts(pcm: Int16Array, longSpeechMs = 5_000): string[] {
  const said: string[] = [];
  let atMs = 0;
  const machine = new AnsweringMachineDetector({
    longSpeechMs,
    onVerdict: (who) => said.push(`${who} ${Math.round(atMs / 1_000)}s`),
  });
  const ears = new VoiceActivityDetector({
    vad: batchedVad(kernel, new FakeClock()),
    onWindow: () => undefined,
    onBroken: (error) => expect(error).toBeUndefined(),
  });
  const payload = new Uint8Array(160);
  const frame = new Int16Array(160);
  for (let at = 0; at + 160 <= pcm.length; at += 160) {
    atMs = at / 8;
    pcmu.encode(pcm.subarray(at, at + 160), payload);
    pcmu.decode(payload, frame);
    const level = levelDb(frame);
    ears.push(frame, atMs, level);
    machine.push(frame, level, ears.voice.state === 'speech', atMs);
  }
  ears.close();
  return said;
}

const who = (pcm: Int16Array) => verdicts(pcm).map((verdict) => verdict.split(' ')[0]);

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

  it('is a machine after as long as the agent says', () => {
    expect(verdicts(GREETING, 2_000)[0]).toMatch(/^machine_start [23]s$/);
    expect(verdicts(joined(GREETING, silence(1_200)), 30_000)[0]).toMatch(/^human/);
  });
});

describe('a beep', () => {
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
  });
});
