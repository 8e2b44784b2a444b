// The callers' recordings against the embedded recogniser, under the agents' own grammars, with the noise
// and the levels of different lines: every word must be understood in every run.

import { afterAll, describe, expect, it } from 'vitest';
import { FRAME_SAMPLES, msToSamples } from '../../src/audio/pcm.ts';
import { workflowDefinition } from '../../src/model/workflow.ts';
import type { RecognizedWords, SpeechToText } from '../../src/speech/stt/stt.ts';
import { openSpeechToText } from '../../src/speech/vendors/stt-registry.ts';
import { systemClock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { Conversation } from '../workflow/conversation.ts';
import { speechSpan } from './caller.ts';
import { inbound, outbound, recording } from './scenario.ts';

/** Louder and quieter lines, each with another noise. */
const RUNS = Number(process.env['RECOGNITION_RUNS'] ?? 7);
/** Largest sample of the noise; a simulated line has none at all. */
const NOISE = [0, 1, 2, 4, 8, 16, 32];
const SILENCE_MS = 400;
/** The detector hears speech a little late. */
const ONSET_MS = 100;

const stt = await openSpeechToText(
  { service: 'pocketsphinx' },
  { clock: systemClock, log: quietLog().log },
);

afterAll(async () => {
  await stt?.close();
});

describe.skipIf(stt === undefined).each([inbound, outbound])(
  'the $direction caller',
  (scenario) => {
    const definition = workflowDefinition.parse(scenario.definition);

    it.each(Array.from({ length: RUNS }, (_, run) => run))(
      'is understood in run %i',
      async (run) => {
        const call = new Conversation(definition, 'scripted').start(scenario.initialContext);
        const heard: string[] = [];
        for (const { alwaysKeys, audio, keys } of scenario.sayings) {
          call.heard();
          if (alwaysKeys || stt === undefined) {
            call.keys(keys);
            continue;
          }
          const { expectation } = call.last('expect');
          const words = await understood(stt, expectation, line(recording(audio), run));
          heard.push(`${words.text} ${String(words.confidence)}`);
          call.caller(words.text, words.confidence);
        }
        call.heard();
        expect(call.gathered, heard.join(', ')).toEqual(scenario.expected.gathered);
        expect(call.engine.summarize(call.state).nodesVisited.at(-1)).toBe(
          scenario.expected.endNode,
        );
      },
    );
  },
);

/** The recording between silences, as the line of this run carries it. */
function line(speech: Int16Array, run: number): Int16Array {
  const silence = msToSamples(SILENCE_MS);
  const samples = new Int16Array(speech.length + 2 * silence);
  samples.set(speech, silence);
  const gain = 1 - 0.15 * (run % 5);
  const noise = NOISE[run % NOISE.length] ?? 0;
  let state = run + 1;
  return samples.map((sample) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.round(sample * gain + ((state >>> 16) % (2 * noise + 1)) - noise);
  });
}

async function understood(
  service: SpeechToText,
  expectation: Parameters<SpeechToText['open']>[0],
  samples: Int16Array,
): Promise<RecognizedWords> {
  const begins = speechSpan(samples).fromMs + ONSET_MS;
  return await new Promise((resolve, reject) => {
    const recognizer = service.open(expectation, {
      onPartial: () => undefined,
      onFinal: (words) => {
        recognizer.close();
        resolve(words);
      },
      onError: reject,
    });
    let started = false;
    for (let at = 0; at + FRAME_SAMPLES <= samples.length; at += FRAME_SAMPLES) {
      recognizer.push(samples.subarray(at, at + FRAME_SAMPLES));
      if (started || at < msToSamples(begins)) continue;
      recognizer.speechStarted();
      started = true;
    }
    recognizer.finalize();
  });
}
