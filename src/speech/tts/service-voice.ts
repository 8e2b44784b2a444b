// Shared state of a synthesiser service, for all calls with the same settings: level of each voice, start cushion for
// its jitter, and a cache of fixed lines, which are paid once.

import { RATE_HZ } from '../../audio/pcm.ts';
import { softLimited } from '../../audio/soft-limiter.ts';
import { telephoneBand } from '../../audio/telephone-band.ts';
import type { Clock } from '../../std/clock.ts';
import { SharedWork } from '../../std/shared-work.ts';
import type { ServiceUsage } from '../service/service-means.ts';
import { SPEECH_LEVEL } from './loudness-normalization.ts';
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

/** Blocks of speech after which a voice is known and no longer measured. */
const KNOWN_BLOCKS = 2_000;
/** Blocks of speech after which a gain is applied. */
const FIRST_BLOCKS = 30;
/** 10 ms at 8 kHz. */
const BLOCK_SAMPLES = 80;
/** Level of -45 dBFS, below which a block is a pause. */
const ACTIVE_LEVEL = 184;
const GAIN_MIN = 0.25;
const GAIN_MAX = 4;
/** Difference of half a decibel, below which the gain stays. */
const NEAR = 10 ** (0.5 / 20);
/** Fastest change of the gain: 6 dB in a second. */
const GROWTH_PER_SAMPLE = 2 ** (1 / 8_000);

/** Level of one voice in the telephone band, measured over all calls while it speaks, and the gain that brings it to
 *  the level of the embedded voices. While a voice is not yet known, the gain changes slowly. */
class VoiceLevel {
  #power = 0;
  #blocks = 0;
  #gain = 1;

  /** Current gain of the voice, at which a new utterance begins. */
  get gain(): number {
    return this.#gain;
  }

  get isKnown(): boolean {
    return this.#blocks >= KNOWN_BLOCKS;
  }

  /** Measures `band`: audio of the voice, filtered to the telephone band. */
  measure(band: Float64Array): void {
    for (let from = 0; from + BLOCK_SAMPLES <= band.length; from += BLOCK_SAMPLES) {
      let sum = 0;
      for (let i = from; i < from + BLOCK_SAMPLES; i++) sum += (band[i] as number) ** 2;
      const power = sum / BLOCK_SAMPLES;
      if (power < ACTIVE_LEVEL ** 2) continue;
      this.#power += power;
      this.#blocks += 1;
    }
    if (this.#blocks < FIRST_BLOCKS) return;
    const wanted = SPEECH_LEVEL / Math.sqrt(this.#power / this.#blocks);
    const isNear = wanted < NEAR && wanted > 1 / NEAR;
    this.#gain = isNear ? 1 : Math.min(GAIN_MAX, Math.max(GAIN_MIN, wanted));
  }
}

/** Applies the gain to the audio of one utterance, in order and in place. */
function levelled(voice: VoiceLevel): (samples: Int16Array) => void {
  const filter = telephoneBand();
  let gain = voice.gain;
  return (samples) => {
    if (!voice.isKnown) {
      const band = Float64Array.from(samples);
      filter.process(band);
      voice.measure(band);
    }
    const target = voice.gain;
    if (gain === 1 && target === 1) return;
    for (let i = 0; i < samples.length; i++) {
      if (gain < target) gain = Math.min(target, gain * GROWTH_PER_SAMPLE);
      else if (gain > target) gain = Math.max(target, gain / GROWTH_PER_SAMPLE);
      samples[i] = softLimited((samples[i] as number) * gain);
    }
  };
}
