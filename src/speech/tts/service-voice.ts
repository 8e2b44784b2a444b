// What every synthesiser that is a service has on our side, for all calls with the same settings: one level for each
// voice, and the audio of fixed lines, which is paid once.

import { RATE_HZ } from '../../audio/pcm.ts';
import { plainSpeech } from './plain-speech.ts';
import { createPromptCache } from './prompt-cache.ts';
import type { SpeechListener, TextToSpeech, UtteranceListener } from './tts.ts';
import { levelled, VoiceLevel } from './voice-level.ts';

/** Two minutes of lines for each settings of a service. */
const LINES_BYTES_MAX = 2_000_000;
/** A greeting: longer lines are spoken as they come. Services take more. */
const LINE_CHARACTERS_MAX = 900;
/** What is played like an utterance of one sentence. */
const LINE_SAMPLES_MAX = 60 * RATE_HZ;
/** Voices that settings and requests name; beyond it all others share one level. */
const VOICES_MAX = 50;

export function serviceVoice(tts: TextToSpeech): TextToSpeech {
  const lines = createPromptCache(LINES_BYTES_MAX);
  const levels = new Map<string, VoiceLevel>();

  function levelOf(voice = ''): VoiceLevel {
    const key = levels.size < VOICES_MAX || levels.has(voice) ? voice : '';
    const known = levels.get(key) ?? new VoiceLevel();
    levels.set(key, known);
    return known;
  }

  function withLevel<Listener extends SpeechListener>(
    listener: Listener,
    voice: string | undefined,
  ): Listener {
    const level = levelled(levelOf(voice));
    const onAudio = (samples: Int16Array): void => {
      level(samples);
      listener.onAudio(samples);
    };
    return Object.assign(Object.create(listener) as Listener, { onAudio });
  }

  const { stream } = tts;
  return {
    name: tts.name,
    model: tts.model,
    async synthesize(request, listener, signal) {
      const { voice = '', isFixed = false, isAhead = false } = request;
      // Pieces of an utterance are plain already.
      const text = isFixed ? plainSpeech(request.text) : request.text;
      const found = isFixed ? lines.find(voice, text) : undefined;
      if (found !== undefined) {
        listener.onAudio(found.samples.slice());
        return;
      }
      const isKept = isFixed && text.length <= LINE_CHARACTERS_MAX;
      // What is thrown away is not worth its price.
      if (isAhead && !isKept) return;
      const parts: Int16Array[] = [];
      let length = 0;
      const heard = withLevel(listener, request.voice);
      const keeping = Object.assign(Object.create(heard) as SpeechListener, {
        onAudio(samples: Int16Array) {
          heard.onAudio(samples);
          length += samples.length;
          if (isKept && length <= LINE_SAMPLES_MAX) parts.push(samples.slice());
        },
      });
      await tts.synthesize({ ...request, text }, keeping, signal);
      if (parts.length > 0 && length <= LINE_SAMPLES_MAX)
        lines.keep(voice, text, { samples: joined(parts), words: [] });
    },
    ...(stream && {
      stream: (voice: string | undefined, listener: UtteranceListener) =>
        stream.call(tts, voice, withLevel(listener, voice)),
    }),
    kept: (text, voice = '') => lines.find(voice, plainSpeech(text))?.samples,
    prepare: () => tts.prepare?.(),
    close: () => tts.close(),
  };
}

export function joined(parts: readonly Int16Array[]): Int16Array {
  const whole = new Int16Array(parts.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const part of parts) {
    whole.set(part, at);
    at += part.length;
  }
  return whole;
}
