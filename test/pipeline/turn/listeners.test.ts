// Callers who acknowledge while the agent speaks, with the embedded recogniser and four grammars. The figures are
// printed, and bounds asserted.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { openPocketSphinx } from '../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import { missingLibraries } from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import type { RecognizedWords, SpeechToText } from '../../../src/speech/stt/stt.ts';
import { type Clock, systemClock } from '../../../src/std/clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import {
  grammarsWith,
  print,
  recognizedAs,
  type Sound,
  SPEAKERS,
  share,
  spokenBySpeakers,
} from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { piecesOf, RealCall, render, type Voice } from '../real-call.ts';
import { LONG } from './barge-ins.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

/** Of the embedded recogniser, for a short sound. */
const FINAL_MS = 60;
const GRAMMARS = grammarsWith(['repeat that', 'help', 'goodbye']);
const ACKNOWLEDGEMENTS = ['mm hmm', 'uh huh', 'okay', 'right', 'I see'];

let sounds: Sound[] = [];
let agent: ReadonlyMap<string, Voice>;
let stt: SpeechToText | undefined;

beforeAll(async () => {
  if (missing !== undefined) return;
  stt = await openPocketSphinx({ clock: systemClock, log: quietLog().log });
  agent = await render(piecesOf(LONG).map((text) => ({ voice: 'slt', text })));
  const texts = ACKNOWLEDGEMENTS;
  sounds = await spokenBySpeakers(texts);
}, 120_000);
afterAll(() => stt?.close());

/** The final words of one sound with one grammar. */
const recognized = (sound: Sound, grammar: string) => recognizedAs(stt, sound, GRAMMARS[grammar]);

function of(texts: readonly string[]): Sound[] {
  return sounds.filter(({ text }) => texts.includes(text));
}

/** A call in which the recogniser's result for the sound comes as its final words. */
async function whileSpeaking(sound: Sound, grammar: string, onsetMs: number): Promise<RealCall> {
  const words = await recognized(sound, grammar);
  const call = new RealCall({ voices: agent, stt: (clock) => recognizes(words, clock) });
  call.audio.expect(GRAMMARS[grammar] ?? OPEN_SPEECH);
  call.say(LONG);
  call.line.play(sound.pcm, onsetMs);
  await call.run(16_500);
  return call;
}

describe.skipIf(missing !== undefined)(`an agent with the embedded recogniser${skipped}`, () => {
  it('has ten speakers to listen to', () => {
    expect(new Set(sounds.map(({ speaker }) => speaker)).size).toBe(SPEAKERS);
  });

  it('is stopped by at most 2 of 100 acknowledgements, and goes on 0.6 s after them', async () => {
    const found: Acknowledged[] = [];
    for (const grammar of Object.keys(GRAMMARS)) {
      for (const [nth, sound] of of(ACKNOWLEDGEMENTS).entries()) {
        found.push(await acknowledged(sound, grammar, 1_500 + ((nth * 337) % 6_000)));
      }
    }
    const count = (what: 'isStopped' | 'isSilent') => found.filter((each) => each[what]).length;
    const pauses = found
      .filter(({ isStopped, pauseMs }) => !isStopped && Number.isFinite(pauseMs))
      .map(({ pauseMs }) => pauseMs)
      .sort((one, other) => one - other);
    const p95 = pauses[Math.floor(pauses.length * 0.95)] ?? Number.NaN;
    print(`resumes after the sound: p50 ${pauses[pauses.length >> 1]} ms, p95 ${p95} ms`);
    const all = found.length;
    const stops = share('acknowledgements that stop the agent', count('isStopped'), all);
    expect(stops).toBeLessThanOrEqual(0.02);
    expect(share('of them followed by silence', count('isSilent'), all)).toBe(0);
    expect(p95).toBeLessThanOrEqual(620);
  }, 240_000);
});

interface Acknowledged {
  isStopped: boolean;
  /** The agent did not finish, and the dialogue was told nothing. */
  isSilent: boolean;
  /** From the end of the sound to the agent's next; NaN if the agent was not paused. */
  pauseMs: number;
}

async function acknowledged(sound: Sound, grammar: string, onsetMs: number): Promise<Acknowledged> {
  const call = await whileSpeaking(sound, grammar, onsetMs);
  const endMs = onsetMs + sound.pcm.length / 8;
  const silentMs = call.soundEndsAfter(onsetMs);
  const resumed = call.farEnd.frames.find(({ atMs }) => atMs > silentMs);
  const isPaused = silentMs < endMs + 500;
  const isFinished = call.of('utterance-finished')[0]?.report.heardText === LONG;
  const isTold = call.of('turn').length + call.of('unrecognized').length > 0;
  const isStopped = call.of('interruption').length > 0;
  await call.audio.close();
  return {
    isStopped,
    isSilent: !(isFinished || isTold),
    pauseMs: isPaused ? (resumed?.atMs ?? Number.POSITIVE_INFINITY) - endMs : Number.NaN,
  };
}

/** Recognises this at once, as a guess, and with its confidence when it is asked. */
function recognizes(words: RecognizedWords, clock: Clock): SpeechToText {
  return {
    name: 'closed',
    model: 'closed',
    capabilities: { interimWords: true, finalMsP99: 300, closedOnly: true },
    open: (_expectation, listener) => ({
      push: () => undefined,
      speechStarted: () => listener.onPartial({ text: words.text, confidence: null }),
      finalize: () => clock.after(FINAL_MS, () => listener.onFinal(words)),
      expect: () => undefined,
      close: () => undefined,
    }),
    close: () => Promise.resolve(),
  };
}
