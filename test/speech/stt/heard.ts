// A listener of a recogniser that keeps everything, for tests.

import type { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import type { ServiceUsage } from '../../../src/speech/service/service-means.ts';
import type { RecognizedWords, RecognizerListener } from '../../../src/speech/stt/stt.ts';

export interface Heard extends RecognizerListener {
  partials: string[];
  finals: RecognizedWords[];
  usage: ServiceUsage[];
  faults: ServiceFault[];
}

export function heardBy(): Heard {
  const heard: Heard = {
    partials: [],
    finals: [],
    usage: [],
    faults: [],
    onPartial: ({ text }) => heard.partials.push(text),
    onFinal: (words) => heard.finals.push(words),
    onUsage: (usage) => heard.usage.push(usage),
    onError: (error) => heard.faults.push(error as ServiceFault),
  };
  return heard;
}

/** `ms` of the caller, in frames of 20 ms, of which each sample is `level`. */
export function pushMs(recognizer: { push(frame: Int16Array): void }, ms: number, level = 0): void {
  const frame = new Int16Array(160).fill(level);
  for (let at = 0; at < ms; at += 20) recognizer.push(frame);
}
