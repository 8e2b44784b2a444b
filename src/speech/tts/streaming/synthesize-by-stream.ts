// Synthesizes one sentence as an utterance of one piece.

import { isSpeakable } from '../speakable.ts';
import type { SpeechListener, SpeechRequest, TextToSpeech } from '../tts.ts';

export function synthesizeByStream(
  stream: NonNullable<TextToSpeech['stream']>,
): TextToSpeech['synthesize'] {
  return (request: SpeechRequest, listener: SpeechListener, signal: AbortSignal) => {
    if (signal.aborted) return Promise.reject(signal.reason);
    if (!isSpeakable(request.text)) return Promise.resolve();
    return new Promise<void>((resolve, reject) => {
      const onAbort = (): void => {
        utterance.cancel();
        reject(signal.reason);
      };
      const over = (): void => signal.removeEventListener('abort', onAbort);
      const utterance = stream(request.voice, {
        onAudio: (samples) => listener.onAudio(samples),
        onWords: (words) => listener.onWords(words),
        onUsage: (usage) => listener.onUsage?.(usage),
        onUnspoken: (error) => listener.onUnspoken?.(error),
        onDone() {
          over();
          resolve();
        },
        onError(error) {
          over();
          reject(error);
        },
      });
      signal.addEventListener('abort', onAbort, { once: true });
      utterance.push(request.text);
      utterance.end();
    });
  };
}
