// Fallback of one call: several synthesisers behind one interface. A service that is slow, silent or down is left for the
// next one, which speaks from the first clause that was not delivered; the call stays there. Clients never retry: this
// does, once, and only while the caller has heard nothing of the utterance.

import { FallbackUtterance } from './fallback-utterance.ts';
import { ServiceLine, type TtsFallbackOptions } from './service-line.ts';
import { synthesizeByStream } from './streaming/synthesize-by-stream.ts';
import type { SpeechStream, TextToSpeech, UtteranceListener } from './tts.ts';

/** One for each call. `close` does not close the services. */
export function createTtsFallback(options: TtsFallbackOptions): TextToSpeech {
  const [first] = options.services;
  if (first === undefined) throw new TypeError('a fallback needs a service');
  const line = new ServiceLine(options);
  const stream = (voice: string | undefined, listener: UtteranceListener): SpeechStream =>
    new FallbackUtterance({ line, clock: options.clock, voice, listener });
  return {
    name: first.service.name,
    model: first.service.model,
    stream,
    synthesize: synthesizeByStream(stream),
    prepare: () => line.current()?.service.prepare?.(),
    close: () => Promise.resolve(),
  };
}
