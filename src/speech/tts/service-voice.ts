// Shared state of a synthesiser service, for all calls with the same settings: level of each voice, start cushion for
// its jitter, and a cache of fixed lines, which are paid once.

import { RATE_HZ } from '../../audio/pcm.ts';
import type { Clock } from '../../std/clock.ts';
import { SharedWork } from '../../std/shared-work.ts';
import type { ServiceUsage } from '../service/service-means.ts';
import { plainSpeech } from './plain-speech.ts';
import { createPromptCache } from './prompt-cache.ts';
import type {
  SpeechListener,
  SpeechRequest,
  SpeechStream,
  StreamOptions,
  TextToSpeech,
  UtteranceListener,
} from './tts.ts';
import { type UtteranceJitter, VoiceJitter } from './voice-jitter.ts';
import { levelled, VoiceLevel } from './voice-level.ts';

/** Cache size for each settings of a service: two minutes of lines. */
const LINES_BYTES_MAX = 2_000_000;
/** Longest line that is cached: a greeting. Longer lines are streamed. Services accept more. */
const LINE_CHARACTERS_MAX = 900;
/** Longest cached audio: it is played as one sentence. */
const LINE_SAMPLES_MAX = 60 * RATE_HZ;
/** Voices that settings and requests name. Beyond that, all others share one level. */
const VOICES_MAX = 50;

export function serviceVoice(tts: TextToSpeech, clock: Clock): TextToSpeech {
  const lines = createPromptCache(LINES_BYTES_MAX);
  const underWay = new SharedWork<Int16Array>();
  const levels = new Map<string, VoiceLevel>();
  const jitter = new VoiceJitter(clock);

  function levelOf(voice = ''): VoiceLevel {
    const key = levels.size < VOICES_MAX || levels.has(voice) ? voice : '';
    const known = levels.get(key) ?? new VoiceLevel();
    levels.set(key, known);
    return known;
  }

  function withLevel<Listener extends SpeechListener>(
    listener: Listener,
    voice: string | undefined,
    arrivals: UtteranceJitter,
  ): Listener {
    const level = levelled(levelOf(voice));
    const onAudio = (samples: Int16Array): void => {
      arrivals.audio(samples.length);
      level(samples);
      listener.onAudio(samples);
    };
    return Object.assign(Object.create(listener) as Listener, { onAudio });
  }

  const render: TextToSpeech['synthesize'] = (request, listener, signal) =>
    tts.synthesize(request, withLevel(listener, request.voice, jitter.begin()), signal);

  /** A copy of the line's audio; empty if it is longer than a line. Calls that need it at the same time share one
   *  request, which the first one counts. */
  async function lineOf(
    request: SpeechRequest,
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<Int16Array> {
    const { voice = '', text } = request;
    const kept = lines.find(voice, text);
    if (kept !== undefined) return kept.samples.slice();
    const line = async (untilLeft: AbortSignal): Promise<Int16Array> => {
      const parts: Int16Array[] = [];
      let length = 0;
      const onAudio = (samples: Int16Array): void => {
        length += samples.length;
        if (length <= LINE_SAMPLES_MAX) parts.push(samples);
      };
      const onUsage = (usage: ServiceUsage) => listener.onUsage?.(usage);
      await render(request, { onAudio, onWords: () => undefined, onUsage }, untilLeft);
      if (length > LINE_SAMPLES_MAX) return new Int16Array(0);
      const samples = joined(parts);
      if (length > 0) lines.keep(voice, text, { samples, words: [] });
      return samples;
    };
    return (await underWay.run(keyOf(voice, text), line, signal)).slice();
  }

  const { stream } = tts;
  return {
    name: tts.name,
    model: tts.model,
    get cushionMs() {
      return jitter.cushionMs;
    },
    async synthesize(request, listener, signal) {
      const { isFixed = false, isAhead = false } = request;
      // Pieces of an utterance are plain text already.
      const text = isFixed ? plainSpeech(request.text) : request.text;
      const isKept = isFixed && text.length <= LINE_CHARACTERS_MAX;
      const asked = { ...request, text };
      if (isKept) {
        const samples = await lineOf(asked, listener, signal);
        if (samples.length > 0) listener.onAudio(samples);
      }
      // Audio that is not kept is not worth its price.
      else if (!isAhead) await render(asked, listener, signal);
    },
    ...(stream && {
      stream: (voice: string | undefined, listener: UtteranceListener, how?: StreamOptions) => {
        const arrivals = jitter.begin();
        const levelled = withLevel(listener, voice, arrivals);
        return withTexts(stream.call(tts, voice, levelled, how), arrivals);
      },
    }),
    kept: (text, voice = '') => lines.find(voice, plainSpeech(text))?.samples,
    isUnderWay: (text, voice = '') => underWay.has(keyOf(voice, plainSpeech(text))),
    prepare: () => tts.prepare?.(),
    close: () => tts.close(),
  };
}

function keyOf(voice: string, text: string): string {
  return `${voice}\n${text}`;
}

function withTexts(stream: SpeechStream, arrivals: UtteranceJitter): SpeechStream {
  return {
    push: (text) => {
      arrivals.text();
      stream.push(text);
    },
    flush: () => stream.flush(),
    end: () => stream.end(),
    cancel: () => stream.cancel(),
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
