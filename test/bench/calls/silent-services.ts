// What a call's pipeline needs around it, as small as can be: for benchmarks and tests of the pipeline itself.

import type { RecordingFile } from '../../../src/pipeline/recorder.ts';
import type { SpeechToText } from '../../../src/speech/stt/stt.ts';
import type { TextToSpeech } from '../../../src/speech/tts/tts.ts';

export const nowhere: RecordingFile = {
  append: () => true,
  skip: () => undefined,
  patch: () => true,
  error: undefined,
  close: () => Promise.resolve(),
};

/** Gives a minute of the same sample for any text. */
export const minuteTts: TextToSpeech = {
  name: 'minute',
  model: 'minute',
  synthesize(_request, listener) {
    listener.onAudio(new Int16Array(60 * 8_000).fill(1_000));
    return Promise.resolve();
  },
  close: () => Promise.resolve(),
};

export const ignoreEvents = (): void => undefined;

/** Recognises nothing. */
export const deafStt: SpeechToText = {
  name: 'deaf',
  model: 'deaf',
  capabilities: { interimWords: true, finalMsP99: 100 },
  open: () => ({
    push: () => undefined,
    speechStarted: () => undefined,
    finalize: () => undefined,
    expect: () => undefined,
    close: () => undefined,
  }),
  close: () => Promise.resolve(),
};
