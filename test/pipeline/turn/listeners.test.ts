// Callers who acknowledge while the agent speaks, with the embedded recogniser and four grammars. The figures are
// printed, and bounds asserted.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { openPocketSphinx } from '../../../src/speech/stt/pocketsphinx/pocketsphinx.ts';
import { missingLibraries } from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import {
  grammarsWith,
  recognizedAs,
  type Sound,
  SPEAKERS,
  spokenBySpeakers,
} from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { piecesOf, render, type Voice } from '../real-call.ts';
import { type Acknowledged, acknowledged, recognizes, sharesOf } from './acknowledging-caller.ts';
import { LONG } from './barge-ins.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;

/** For a short sound. */
const EMBEDDED = { finalMs: 60, finalMsP99: 300, closedOnly: true };
const GRAMMARS = grammarsWith(['repeat that', 'help', 'goodbye']);
const NAMES = Object.keys(GRAMMARS);
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

describe.skipIf(missing !== undefined)(`an agent with the embedded recogniser${skipped}`, () => {
  it('has ten speakers to listen to', () => {
    expect(new Set(sounds.map(({ speaker }) => speaker)).size).toBe(SPEAKERS);
  });

  it('is stopped by at most 2 of 100 acknowledgements, and goes on 0.6 s after them', async () => {
    const found: Acknowledged[] = [];
    for (const [nth, sound] of of(ACKNOWLEDGEMENTS).entries()) {
      // Each with two of the four grammars: the ten speakers of an acknowledgement have all of them.
      for (const grammar of [nth, nth + 1].map((each) => NAMES[each % NAMES.length] ?? '')) {
        const words = await recognized(sound, grammar);
        found.push(
          await acknowledged({
            agent,
            stt: (clock) => recognizes({ ...EMBEDDED, words }, clock),
            expectation: GRAMMARS[grammar] ?? OPEN_SPEECH,
            pcm: sound.pcm,
            onsetMs: 1_500 + ((nth * 337) % 6_000),
          }),
        );
      }
    }
    expect(found.length).toBe(2 * ACKNOWLEDGEMENTS.length * SPEAKERS);
    const { stopped, silent, pauses, pauseMsP95 } = sharesOf(found);
    expect(stopped).toBeLessThanOrEqual(0.02);
    expect(silent).toBe(0);
    expect(pauses).toBeGreaterThan(0.5 * found.length);
    expect(pauseMsP95).toBeLessThanOrEqual(620);
  }, 240_000);
});
