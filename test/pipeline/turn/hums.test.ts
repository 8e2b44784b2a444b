// Callers who hum their acknowledgement while the agent speaks: hums that no recogniser was set with, in whole calls with the
// embedded recogniser, and with services that make words of them, nothing, or nothing in time. The figures are printed.

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { missingLibraries } from '../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import { hums } from '../../audio/hums.ts';
import { openInProcess } from '../../speech/stt/pocketsphinx/human-speech.ts';
import { grammarsWith, print } from '../../speech/stt/pocketsphinx/synthetic-speech.ts';
import { at, piecesOf, render, type Voice } from '../real-call.ts';
import { type Acknowledged, acknowledged, recognizes, sharesOf } from './acknowledging-caller.ts';
import { LONG } from './barge-ins.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
const GRAMMARS = Object.values(grammarsWith(['repeat that', 'help', 'goodbye']));
const LEVELS_DB = [-20, -26, -32];
const HUMS = hums().map(({ name, pcm }, nth) => ({
  name,
  pcm: at(pcm, LEVELS_DB[nth % LEVELS_DB.length] ?? -20),
  onsetMs: 1_500 + ((nth * 337) % 6_000),
}));
/** The end of a frame on the wire, and the windows of the detector. */
const ROUNDED_MS = 40;

let agent: ReadonlyMap<string, Voice>;
beforeAll(async () => {
  agent = await render(piecesOf(LONG).map((text) => ({ voice: 'slt', text })));
}, 60_000);

describe.skipIf(missing !== undefined)(`an agent with the embedded recogniser${skipped}`, () => {
  let stt: SpeechToText | undefined;
  beforeAll(() => {
    stt = openInProcess();
  }, 60_000);
  afterAll(() => stt?.close());

  it('is stopped by at most 2 of 100 hums, and goes on 0.6 s after them', async () => {
    if (stt === undefined) expect.unreachable();
    const recogniser = stt;
    const found: Acknowledged[] = [];
    for (const [nth, hum] of HUMS.entries()) {
      // Each with two of the four grammars.
      for (const grammar of [nth, nth + 1]) {
        const expectation = GRAMMARS[grammar % GRAMMARS.length] ?? OPEN_SPEECH;
        const one = await acknowledged({ ...hum, agent, stt: () => recogniser, expectation });
        if (one.isStopped) print(`stopped by ${hum.name}`);
        found.push(one);
      }
    }
    const { stopped, silent, pauses, pauseMsP95 } = sharesOf(found);
    expect(found.length).toBe(64);
    expect(stopped).toBeLessThanOrEqual(0.02);
    expect(silent).toBe(0);
    expect(pauses).toBeGreaterThan(0.5 * found.length);
    expect(pauseMsP95).toBeLessThanOrEqual(600 + ROUNDED_MS);
  }, 240_000);
});

describe('an agent with a recogniser of a service', () => {
  const FinalMsP99 = 700;

  it.each([
    ['makes words of hums', 'Mm-hmm.', 250],
    ['makes words of hums as late as it ever is', 'Mm-hmm.', FinalMsP99],
    ['makes no words of hums', '', 250],
    ['never answers', '', undefined],
  ])(
    'that %s goes on within its p99 and 0.3 s',
    async (_what, text, finalMs) => {
      const words = { text, confidence: null };
      const service = { words, finalMs, finalMsP99: FinalMsP99, closedOnly: false };
      const found: Acknowledged[] = [];
      for (const hum of HUMS.filter((_hum, nth) => nth % 2 === 0)) {
        const stt = (clock: Parameters<typeof recognizes>[1]) => recognizes(service, clock);
        found.push(await acknowledged({ ...hum, agent, stt, expectation: OPEN_SPEECH }));
      }
      const { stopped, silent, pauses, pauseMsP95 } = sharesOf(found);
      expect(stopped).toBe(0);
      expect(silent).toBe(0);
      expect(pauses).toBeGreaterThan(0.5 * found.length);
      expect(pauseMsP95).toBeLessThanOrEqual(FinalMsP99 + 300 + ROUNDED_MS);
    },
    120_000,
  );
});
