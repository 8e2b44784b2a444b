// Fallback of one call: several synthesisers behind one interface. A service that is slow, silent or down is left for the
// next one, which speaks from the first clause that was not delivered; the call stays there. Clients never retry: this
// does, once, and only while the caller has heard nothing of the utterance.

import { audioWaitMsOfAll, FallbackUtterance } from './fallback-utterance.ts';
import { ServiceLine, type TtsFallbackOptions } from './service-line.ts';
import { synthesizeByStream } from './streaming/synthesize-by-stream.ts';
import type {
  SpeechListener,
  SpeechRequest,
  SpeechStream,
  TextToSpeech,
  UtteranceListener,
} from './tts.ts';

/** One for each call. `close` does not close the services. */
export function createTtsFallback(options: TtsFallbackOptions): TextToSpeech {
  const [first] = options.services;
  if (first === undefined) throw new TypeError('a fallback needs a service');
  const line = new ServiceLine(options);
  const stream = (voice: string | undefined, listener: UtteranceListener): SpeechStream =>
    new FallbackUtterance({ line, clock: options.clock, voice, listener });
  const byStream = synthesizeByStream(stream);
  return {
    get name() {
      return (line.chosen ?? first).service.name;
    },
    get model() {
      return (line.chosen ?? first).service.model;
    },
    get cushionMs() {
      return line.current()?.service.cushionMs ?? 0;
    },
    audioWaitMs: audioWaitMsOfAll(options.services),
    isLatinOnly: first.service.isLatinOnly === true,
    stream,
    async synthesize(request, listener, signal) {
      if (request.isFixed !== true || !(await fixedLine(line, request, listener, signal))) {
        await byStream(request, listener, signal);
      }
    },
    kept(text, voice) {
      const entry = line.current();
      const samples = entry?.service.kept?.(text, voice ?? entry.voice);
      if (entry !== undefined && samples !== undefined) line.played(entry);
      return samples;
    },
    prepare: () => line.prepare(),
    close: () => Promise.resolve(),
  };
}

/** The line by the service that speaks, which may have kept it. False if that fails; the fault shows with the next
 *  utterance. A line that is made ahead counts with the key, and is left out where that has no room. */
async function fixedLine(
  line: ServiceLine,
  request: SpeechRequest,
  listener: SpeechListener,
  signal: AbortSignal,
): Promise<boolean> {
  const entry = line.current();
  if (entry === undefined) return false;
  const voice = request.voice ?? entry.voice;
  const isAhead =
    request.isAhead === true && entry.service.kept?.(request.text, voice) === undefined;
  if (isAhead && !line.admitAhead(entry)) return true;
  const parts: Int16Array[] = [];
  const buffer: SpeechListener = {
    onAudio: (samples) => parts.push(samples),
    onWords: () => undefined,
    onUsage: (usage) => listener.onUsage?.(usage),
  };
  try {
    await entry.service.synthesize({ ...request, voice }, buffer, signal);
  } catch {
    // An abort is noticed by what follows.
    return false;
  } finally {
    if (isAhead) entry.sessions?.endAhead();
  }
  for (const samples of parts) listener.onAudio(samples);
  return parts.length > 0;
}
