// An utterance in pieces at a synthesiser that takes sentences only: each piece is a request of its own, one after the
// other.

import { GatewayError } from '../../../errors/gateway-error.ts';
import { isSpeakable } from '../speakable.ts';
import type { SpeechStream, TextToSpeech, UtteranceListener } from '../tts.ts';

export function streamBySentences(
  tts: TextToSpeech,
  voice: string | undefined,
  listener: UtteranceListener,
): SpeechStream {
  const abort = new AbortController();
  const waiting: string[] = [];
  let samplesBefore = 0;
  let isRunning = false;
  let isEnded = false;
  let isOver = false;

  function end(report: () => void): void {
    if (isOver) return;
    isOver = true;
    report();
  }

  async function run(): Promise<void> {
    isRunning = true;
    // The caller's own call returns first.
    await Promise.resolve();
    for (let text = waiting.shift(); text !== undefined && !isOver; text = waiting.shift()) {
      const offsetMs = samplesBefore / 8;
      await tts.synthesize(
        { text, voice },
        {
          onAudio(samples) {
            samplesBefore += samples.length;
            if (!isOver) listener.onAudio(samples);
          },
          onWords(words) {
            const shifted = words.map(({ word, startMs, endMs }) => {
              return { word, startMs: startMs + offsetMs, endMs: endMs + offsetMs };
            });
            if (!isOver) listener.onWords(shifted);
          },
          onUsage: (usage) => listener.onUsage?.(usage),
          onUnspoken: (error) => listener.onUnspoken?.(error),
        },
        abort.signal,
      );
    }
    isRunning = false;
    if (isEnded) end(() => listener.onDone());
  }

  function wake(): void {
    if (isRunning || isOver) return;
    run().catch((error: unknown) => {
      const known =
        error instanceof GatewayError
          ? error
          : new GatewayError('TTS_FAILED', { reason: 'unexpected' }, error);
      end(() => listener.onError(known));
    });
  }

  return {
    push(text) {
      if (isEnded || !isSpeakable(text)) return;
      waiting.push(text);
      wake();
    },
    flush: () => undefined,
    end() {
      isEnded = true;
      wake();
    },
    cancel() {
      isOver = true;
      waiting.length = 0;
      abort.abort();
    },
  };
}
