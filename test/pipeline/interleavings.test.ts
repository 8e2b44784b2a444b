// Any events in any order: each utterance is reported once, in order, with words of its own.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { UtteranceText } from '../../src/pipeline/call-audio-options.ts';
import { rounds } from '../rounds.ts';
import { CallRig } from './call-rig.ts';

type Step =
  | { do: 'run'; ms: number }
  | { do: 'say'; sentences: number; interruptible: boolean; open: boolean }
  | { do: 'more' | 'end' | 'cancel'; which: number }
  | { do: 'voice'; ms: number; words: string }
  | { do: 'key'; key: string }
  | { do: 'ring'; on: boolean }
  | { do: 'stop' | 'stall' | 'loseMarks' | 'ttsFails' | 'sttDies' };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('run' as const), ms: fc.nat(1_500) }) },
  {
    weight: 3,
    arbitrary: fc.record({
      do: fc.constant('say' as const),
      sentences: fc.integer({ min: 0, max: 3 }),
      interruptible: fc.boolean(),
      open: fc.boolean(),
    }),
  },
  fc.record({ do: fc.constantFrom('more', 'end', 'cancel'), which: fc.nat(5) }),
  fc.record({
    do: fc.constant('voice' as const),
    ms: fc.integer({ min: 20, max: 2_500 }),
    words: fc.constantFrom('', 'mhm', 'I have a question', 'stop'),
  }),
  fc.record({ do: fc.constant('key' as const), key: fc.constantFrom('1', '#') }),
  fc.record({ do: fc.constant('ring' as const), on: fc.boolean() }),
  fc.record({ do: fc.constantFrom('stop', 'stall', 'loseMarks', 'ttsFails', 'sttDies') }),
);

describe('under random interleavings', () => {
  it('every utterance is reported exactly once, in order, with its own words only', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(step, { maxLength: 14 }),
        fc.constantFrom('none', 'echo-on-clear', 'drop-on-clear'),
        async (steps, marks) => {
          const rig = new CallRig({ marks, oneWayMs: 30 });
          const texts = await perform(rig, steps);
          await rig.run(400);
          await rig.audio.close();
          const { reports } = rig;
          expect(reports.map((report) => report.utteranceId)).toEqual([...texts.keys()]);
          for (const { utteranceId, heardText, interrupted, startMs, endMs } of reports) {
            const said = (texts.get(utteranceId) ?? '').trim().split(/\s+/);
            const heard = heardText.split(/\s+/).filter((word) => word !== '');
            expect(heard.every((word) => said.includes(word))).toBe(true);
            if (!interrupted && rig.of('fault').length === 0) {
              expect(heardText).toBe(said.join(' '));
            }
            expect(endMs).toBeGreaterThanOrEqual(startMs);
          }
          const started = rig.of('utterance-started').map(({ facts }) => facts.utteranceId);
          expect(started).toEqual([...new Set(started)].sort((a, b) => a - b));
        },
      ),
      { numRuns: rounds(50, 2_000) },
    );
  }, 60_000);
});

/** Returns the text of each utterance by its id. */
async function perform(rig: CallRig, steps: readonly Step[]): Promise<Map<number, string>> {
  const texts = new Map<number, string>();
  const open: { id: number; speech: UtteranceText }[] = [];
  for (const each of steps) {
    if (each.do === 'say') say(rig, each, texts, open);
    else if ('which' in each) change(each, texts, open);
    else await happen(rig, each);
  }
  return texts;
}

function say(
  rig: CallRig,
  step: Extract<Step, { do: 'say' }>,
  texts: Map<number, string>,
  open: { id: number; speech: UtteranceText }[],
): void {
  const id = texts.size + 1;
  texts.set(id, '');
  const speech = rig.audio.speak({ utteranceId: id, interruptible: step.interruptible });
  for (let nth = 0; nth < step.sentences; nth++) {
    const text = `This is sentence ${nth} of ${id}. `;
    texts.set(id, (texts.get(id) ?? '') + text);
    speech.text(text);
  }
  if (step.open) open.push({ id, speech });
  else speech.end();
}

function change(
  step: Extract<Step, { which: number }>,
  texts: Map<number, string>,
  open: { id: number; speech: UtteranceText }[],
): void {
  const at = step.which % Math.max(1, open.length);
  const chosen = open[at];
  if (chosen === undefined) return;
  if (step.do === 'end') {
    chosen.speech.end();
    open.splice(at, 1); // What comes after the end is nobody's text.
  } else if (step.do === 'cancel') chosen.speech.cancel();
  else {
    const text = `Then more of ${chosen.id} came. `;
    texts.set(chosen.id, (texts.get(chosen.id) ?? '') + text);
    chosen.speech.text(text);
  }
}

async function happen(
  rig: CallRig,
  step: Exclude<Step, { do: 'say' } | { which: number }>,
): Promise<void> {
  switch (step.do) {
    case 'run':
      return rig.run(step.ms);
    case 'voice':
      return step.words === '' ? rig.voice(step.ms) : rig.says(step.words, step.ms);
    case 'key':
      return rig.audio.digit(step.key);
    case 'ring':
      return rig.audio.ring(step.on);
    case 'stop':
      return rig.audio.stop();
    case 'stall':
      return rig.clock.stall(300);
    case 'loseMarks':
      rig.farEnd.losesMarks = true;
      return;
    case 'ttsFails':
      rig.tts.fails = { text: 'sentence 1', afterMs: 300 };
      return;
    case 'sttDies':
      return rig.stt.die();
  }
}
