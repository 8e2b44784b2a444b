// The confidence of the embedded recogniser, with two voices of Flite through the telephone band, G.711 and noise. The whole
// measurement is test/bench/recognition; its figures are in docs/recognition.md.

import { describe, expect, it } from 'vitest';
import { missingLibraries } from '../../../../src/speech/stt/pocketsphinx/pocketsphinx-library.ts';
import { measureRecognition, sharesOf } from '../../../bench/recognition/recognition.ts';

const missing = missingLibraries();
const skipped = missing === undefined ? '' : ` (skipped: ${missing})`;
const VOICES = ['flite slt normal', 'flite awb normal'];

describe.skipIf(missing !== undefined)(
  `the confidence of the embedded recogniser${skipped}`,
  () => {
    it('accepts what is expected at once, asks about nearly all of the rest, and accepts little else', async () => {
      const outcomes = await measureRecognition({
        stride: 3,
        speakers: ({ name }) => VOICES.includes(name),
        said: ['answer', 'elsewhere', 'other node', 'backchannel'],
      });
      const answers = sharesOf(outcomes.filter(({ said }) => said === 'answer'));
      const others = sharesOf(outcomes.filter(({ said }) => said !== 'answer'));
      process.stdout.write(`${JSON.stringify({ answers, others })}\n`);
      expect(answers.count).toBeGreaterThan(25);
      expect(others.count).toBeGreaterThan(80);
      expect(answers.accepted).toBeGreaterThan(0.65);
      expect(answers.accepted + answers.asked).toBeGreaterThan(0.75);
      expect(others.accepted).toBeLessThan(0.08);
    }, 300_000);
  },
);
