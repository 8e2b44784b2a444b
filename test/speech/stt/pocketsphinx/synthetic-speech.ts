// Sounds of ten synthetic speakers for the embedded recogniser, and what it recognises of them. Flite makes them at run
// time; a resampled voice speaks lower and slower, as another person does.

import { expect } from 'vitest';
import { createResampler } from '../../../../src/audio/resample/resampler.ts';
import { type ExpectedInput, OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import type { RecognizedWords, SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { at, render } from '../../../pipeline/real-call.ts';
import { openRecognizer, utter } from '../stt-contract.ts';

const VOICES = ['slt', 'rms', 'awb', 'kal16', 'kal'];
export const SPEAKERS = 2 * VOICES.length;

export interface Sound {
  text: string;
  speaker: string;
  pcm: Int16Array;
}

/** Four closed grammars that accept `globals` as well. */
export function grammarsWith(globals: string[]): Record<string, ExpectedInput> {
  const closed = { ...OPEN_SPEECH, closed: true, phrases: globals };
  const menu = ['book an appointment', 'make an appointment', 'cancel an appointment', ...globals];
  return {
    'yes or no': { ...closed, slots: ['yes_no'] },
    menu: { ...closed, phrases: menu },
    weekday: { ...closed, slots: ['weekday'] },
    digits: { ...closed, slots: ['digits'] },
  };
}

/** Every text by every speaker, at -20 dBFS. */
export async function spokenBySpeakers(texts: readonly string[]): Promise<Sound[]> {
  const sounds: Sound[] = [];
  for (const voice of VOICES) {
    const spoken = await render(texts.map((text) => ({ voice, text })));
    for (const text of texts) {
      const pcm = spoken.get(text)?.pcm ?? new Int16Array();
      const slow = createResampler({ fromHz: 11_025, toHz: 12_000 }).process(pcm).slice();
      sounds.push({ text, speaker: voice, pcm: at(pcm, -20) });
      sounds.push({ text, speaker: `${voice}, slower`, pcm: at(slow, -20) });
    }
  }
  return sounds;
}

/** Between two silences, as the gate passes it on. */
export function line(pcm: Int16Array): Int16Array {
  const sound = new Int16Array(pcm.length + 5_600);
  sound.set(pcm, 3_200);
  return sound;
}

/** The final words of one sound with one grammar. */
export async function recognizedAs(
  stt: SpeechToText | undefined,
  { pcm }: Sound,
  expectation: ExpectedInput | undefined,
): Promise<RecognizedWords> {
  if (stt === undefined || expectation === undefined) expect.unreachable();
  const call = openRecognizer(stt, expectation);
  utter(call.recognizer, line(pcm));
  const words = await call.final();
  call.recognizer.close();
  return words;
}

/** Figures are for the reader of the tests' output. */
export function print(figure: string): void {
  process.stdout.write(`${figure}\n`);
}

export function share(what: string, count: number, all: number): number {
  print(`${what}: ${count} of ${all} (${((100 * count) / all).toFixed(1)} %)`);
  return count / all;
}
