// Fallback of one call: several synthesisers behind one interface. If a service is slow, silent or down, the next one
// continues from the first clause that was not delivered, and the call stays with it. Clients never retry. This retries
// once, and only while the caller has heard nothing of the utterance.

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

/** Creates the fallback of one call. `close` does not close the services. */
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
      // Audio that cannot be kept is paid again in the call.
      if (request.isAhead === true && request.isFixed !== true) return;
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

/** Synthesizes a fixed line with the current service, which may have it in its cache. Returns false if that fails; the
 *  fault appears with the next utterance. A line ahead of its use counts as a session of the key, and is skipped if
 *  none is free. */
async function fixedLine(
  line: ServiceLine,
  request: SpeechRequest,
  listener: SpeechListener,
  signal: AbortSignal,
): Promise<boolean> {
  const entry = line.current();
  if (entry === undefined) return false;
  const voice = request.voice ?? entry.voice;
  const isAhead = request.isAhead === true && isNew(entry.service, request.text, voice);
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
    // The following code checks for an abort.
    return false;
  } finally {
    if (isAhead) entry.sessions?.endAhead();
  }
  for (const samples of parts) listener.onAudio(samples);
  return parts.length > 0;
}

/** Whether the line is neither cached nor under way, so that it costs a request. */
function isNew(service: TextToSpeech, text: string, voice: string | undefined): boolean {
  return service.kept?.(text, voice) === undefined && service.isUnderWay?.(text, voice) !== true;
}
