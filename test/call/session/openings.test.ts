// Who speaks first: the table of docs/openings.md, row by row, in calls of an agent led by a language model.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { dtmfTones } from '../../../src/audio/tones/tone-generator.ts';
import { print } from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { withCallHarness } from '../call-harness.ts';
import { EmbeddedSpeech } from '../embedded-speech.ts';
import {
  babble,
  endOf,
  GREETING,
  music,
  type OpenedCall,
  type OpeningOptions,
  opened,
  type Sound,
  spoken,
} from './opened-call.ts';

const ANSWER_MS_MAX = 700;
const DEAD_AIR_MS_MAX = 2_500;

const held = withCallHarness();

let speech: EmbeddedSpeech;
let hello: Int16Array;
beforeAll(async () => {
  speech = await EmbeddedSpeech.open();
  hello = await spoken('Hello?');
}, 60_000);
afterAll(() => speech.close());

const open = (options: OpeningOptions) => opened(held.harness, speech, options);

const WAYS: [string, OpeningOptions][] = [
  ['outbound, the agent waits', { delayS: 2 }],
  ['outbound, the agent speaks at once', {}],
  ['outbound, the greeting cannot be interrupted', { interruptible: false }],
  ['outbound, the agent waits and has no interim words', { delayS: 2, hasInterim: false }],
  ['outbound, without a wait or interim words', { hasInterim: false }],
  ['inbound', { direction: 'inbound' }],
];

/** Those in which the recogniser has words while the caller speaks. */
const HEARING = WAYS.filter(([, { hasInterim }]) => hasInterim !== false);

function hasNoDeadAir(call: OpenedCall): void {
  expect(call.deadAirMs()).toBeLessThanOrEqual(DEAD_AIR_MS_MAX);
}

/** One greeting, whole, that is not asked of the model. */
function greetedOnce(call: OpenedCall): void {
  expect(call.said[0]).toEqual({ text: GREETING, interrupted: false });
  expect(call.greetings).toBe(1);
  hasNoDeadAir(call);
}

/** The greeting answers the sound, and nothing else does. */
function answers(call: OpenedCall, sound: Sound): void {
  greetedOnce(call);
  const answerMs = call.firstSoundMs(endOf(sound)) - endOf(sound);
  print(`answered after ${Math.round(answerMs)} ms`);
  expect(answerMs).toBeLessThanOrEqual(ANSWER_MS_MAX);
  expect(call.model.spoken).toEqual([]);
}

describe('the opening of a call', () => {
  it.each(WAYS)('"hello?" at once: the greeting is the answer (%s)', async (_way, options) => {
    const sound = { pcm: hello, atMs: 100, text: 'Hello?' };
    const call = await open({ ...options, sounds: [sound] });
    answers(call, sound);
    // An agent that speaks at once has begun before, and given way.
    if (options.delayS !== undefined) expect(call.firstSoundMs()).toBeGreaterThan(endOf(sound));
  });

  it('"yes?" at once is such a greeting too', async () => {
    const sound = { pcm: await spoken('Yes?'), atMs: 300, text: 'Yes?' };
    answers(await open({ delayS: 2, sounds: [sound] }), sound);
  });

  it.each([WAYS[1], WAYS[2], WAYS[5]] as typeof WAYS)(
    '"hello?" over the greeting: it goes on to its end (%s)',
    async (_way, options) => {
      const sound = { pcm: hello, atMs: 1_500, text: 'Hello?' };
      answers(await open({ ...options, sounds: [sound] }), sound);
    },
  );

  it.each(
    WAYS.slice(1, 3).flatMap(([way, options]) =>
      [40, 200, 360].map((atMs) => [way, atMs, options] as const),
    ),
  )('both begin at once: one gives way (%s, %i ms)', async (_way, atMs, options) => {
    const sound = { pcm: hello, atMs, text: 'Hello?' };
    answers(await open({ ...options, sounds: [sound] }), sound);
  });

  it.each(WAYS)('silence: the agent greets by itself (%s)', async (_way, options) => {
    const call = await open({ ...options, ms: 12_000 });
    greetedOnce(call);
    expect(call.firstSoundMs()).toBeLessThanOrEqual(DEAD_AIR_MS_MAX);
    expect(call.model.spoken).toEqual([]);
  });

  it.each([WAYS[0], WAYS[1]] as typeof WAYS)(
    'a name that comes late gets the answer, not a second greeting (%s)',
    async (_way, options) => {
      const first = { pcm: hello, atMs: 300, text: 'Hello?' };
      const name = { pcm: await spoken('Miller speaking.'), atMs: 2_400, text: 'Miller speaking.' };
      const call = await open({ ...options, sounds: [first, name] });
      expect(call.turns.at(-1)).toBe('Miller speaking.');
      expect(call.greetings).toBe(1);
      expect(call.model.spoken).toHaveLength(1);
      expect(call.said.at(-1)?.interrupted).toBe(false);
      hasNoDeadAir(call);
    },
  );

  it.each(HEARING)('background voices do not keep it from greeting (%s)', async (_way, options) => {
    const sounds = [{ pcm: await babble(12_000), atMs: 0, isBehind: true }];
    const call = await open({ ...options, sounds });
    expect(call.said[0]).toEqual({ text: GREETING, interrupted: false });
    expect(call.greetings).toBe(1);
    // Behind the greeting the agent waits, and asks once for words.
    expect(call.deadAirMs('first words')).toBeLessThanOrEqual(DEAD_AIR_MS_MAX);
  });

  it.each([
    ['before the greeting', { delayS: 2 }, 300],
    ['over the greeting', {}, 1_500],
  ])('"who is this?" is answered by the greeting: %s', async (_when, options, atMs) => {
    const sound = { pcm: await spoken('Who is this?'), atMs, text: 'Who is this?' };
    answers(await open({ ...options, sounds: [sound] }), sound);
  });

  it('"who is this?" behind the greeting is a question to the model', async () => {
    const sound = { pcm: await spoken('Who is this?'), atMs: 7_600, text: 'Who is this?' };
    const call = await open({ sounds: [sound], ms: 16_000 });
    greetedOnce(call);
    expect(call.turns).toEqual(['Who is this?']);
    expect(call.model.spoken).toHaveLength(1);
  });

  it.each([WAYS[0], WAYS[1]] as typeof WAYS)(
    'a child is answered like anybody (%s)',
    async (_way, options) => {
      const pcm = await spoken('Hello?', { voice: 'slt', pitch: 1.45 });
      const sound = { pcm, atMs: 200, text: 'Hello?' };
      answers(await open({ ...options, sounds: [sound] }), sound);
    },
  );

  it('hold music first: who comes behind it is greeted from the beginning', async () => {
    const sounds: Sound[] = [
      { pcm: music(7_000), atMs: 0, isBehind: true },
      { pcm: hello, atMs: 7_400, text: 'Hello?' },
    ];
    const call = await open({ delayS: 2, sounds, ms: 20_000 });
    const [first, ...others] = call.said;
    expect(first?.interrupted).toBe(true);
    expect(others).toEqual([{ text: GREETING, interrupted: false }]);
    const helloEndMs = endOf(sounds[1] as Sound);
    expect(call.firstSoundMs(helloEndMs) - helloEndMs).toBeLessThanOrEqual(ANSWER_MS_MAX);
    hasNoDeadAir(call);
  });

  it.each([-50, -40, -30])('line noise of %i dBFS does not open it', async (noiseDb) => {
    const call = await open({ delayS: 2, noiseDb, ms: 12_000 });
    greetedOnce(call);
    expect(call.firstSoundMs()).toBeGreaterThanOrEqual(1_900);
  });

  it.each([-50, -40])('line noise of %i dBFS covers no "hello?"', async (noiseDb) => {
    const sound = { pcm: hello, atMs: 300, text: 'Hello?' };
    answers(await open({ delayS: 2, noiseDb, sounds: [sound] }), sound);
  });

  it('clicks and tones on the line do not open or stop it', async () => {
    const sounds = [{ pcm: dtmfTones('5'), atMs: 700, isBehind: true }];
    const call = await open({ sounds, ms: 12_000 });
    greetedOnce(call);
    expect(call.firstSoundMs()).toBeLessThanOrEqual(500);
  });

  it('a model that opens is asked once, with the words of who has answered', async () => {
    const sound = { pcm: hello, atMs: 300, text: 'Hello?' };
    const call = await open({ delayS: 2, byModel: true, sounds: [sound] });
    greetedOnce(call);
    expect(call.model.spoken).toHaveLength(1);
    expect(JSON.stringify(call.model.spoken[0]?.messages)).toContain('Hello?');
    expect(call.firstSoundMs() - endOf(sound)).toBeLessThanOrEqual(ANSWER_MS_MAX + 300);
  });
});
