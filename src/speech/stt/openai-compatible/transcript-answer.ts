// What a transcription service answered, as words: without what its model invents where there is no speech.
// Source: OpenAI's `verbose_json`, and the same of faster-whisper and whisper.cpp.

import { isObject } from '../../../std/json.ts';
import { joinTexts, wordCount } from '../../../std/text/unspaced-text.ts';
import type { RecognizedWord, RecognizedWords } from '../stt.ts';
import { isInventedPhrase } from './invented-phrases.ts';

/** Whisper's own thresholds: a segment that is probably no speech, and that the model is not sure of. */
const NO_SPEECH_PROBABILITY = 0.6;
const LOG_PROBABILITY = -1;
/** Phrases that are too long for so short a voice. */
const SHORT_VOICE_MS = 1_000;
const WORDS_MAX = 2_000;
const TEXT_CHARACTERS_MAX = 10_000;

export interface Spoken {
  /** Where the audio begins on the call's clock. */
  startMs: number;
  /** How long the voice was active. */
  voiceMs: number;
  /** What the model was primed with: an answer that repeats it has nothing of the caller. */
  prompt: string;
}

/** What the service bills for the audio, where it says so. Source: OpenAI's `usage` of type `duration`. */
export function billedSecondsOf(answer: unknown): unknown {
  const usage = isObject(answer) ? answer['usage'] : undefined;
  return isObject(usage) ? usage['seconds'] : undefined;
}

/** Never throws; undefined for what is no transcript. */
export function wordsOfAnswer(answer: unknown, spoken: Spoken): RecognizedWords | undefined {
  if (!isObject(answer)) return undefined;
  const segments = listOf(answer['segments']);
  const kept = segments.filter((segment) => !isInvented(segment));
  const whole = answer['text'];
  if (segments.length === 0 && typeof whole !== 'string' && whole !== null) return undefined;
  const isCut = kept.length < segments.length;
  const text = tidy(isCut || typeof whole !== 'string' ? textsOf(kept) : whole);
  if (text === '' || isInventedText(text, spoken)) return { text: '', confidence: null };
  const words = isCut ? [] : timesIn(answer, kept, spoken.startMs);
  const language = answer['language'];
  return {
    text,
    confidence: confidenceOf(kept),
    ...(words.length > 0 && { words }),
    // Some servers give the language's English name.
    ...(typeof language === 'string' && language.length <= 3 && { language }),
  };
}

function listOf(value: unknown): Record<string, unknown>[] {
  return Array.isArray(value) ? value.slice(0, WORDS_MAX).filter(isObject) : [];
}

function isInvented({ no_speech_prob: none, avg_logprob: sure }: Record<string, unknown>): boolean {
  if (typeof none !== 'number' || typeof sure !== 'number') return false;
  return none > NO_SPEECH_PROBABILITY && sure < LOG_PROBABILITY;
}

function isInventedText(text: string, { voiceMs, prompt }: Spoken): boolean {
  const bare = bareOf(text);
  if (bare === '') return true;
  if (prompt !== '' && bareOf(prompt) === bare && wordCount(bare) > 1) return true;
  return voiceMs < SHORT_VOICE_MS && isInventedPhrase(bare);
}

function bareOf(text: string): string {
  return text
    .toLowerCase()
    .replace(/[^\p{L}\p{N}. -]+/gu, '')
    .replace(/\.+$/, '')
    .trim();
}

function textsOf(segments: readonly Record<string, unknown>[]): string {
  return joinTexts(segments.map(({ text }) => (typeof text === 'string' ? text.trim() : '')));
}

function tidy(text: string): string {
  return text.slice(0, TEXT_CHARACTERS_MAX).replace(/\s+/g, ' ').trim();
}

/** The probability of a word, as the mean of the segments by their length. */
function confidenceOf(segments: readonly Record<string, unknown>[]): number | null {
  let sum = 0;
  let length = 0;
  for (const { avg_logprob: sure, text } of segments) {
    if (typeof sure !== 'number' || typeof text !== 'string') continue;
    sum += sure * text.length;
    length += text.length;
  }
  return length === 0 ? null : Math.min(1, Math.exp(sum / length));
}

/** Of the answer, of its segments (whisper.cpp), or of its chunks (Hugging Face). */
function timesIn(
  answer: Record<string, unknown>,
  segments: readonly Record<string, unknown>[],
  startMs: number,
): RecognizedWord[] {
  const own = listOf(answer['words']);
  const inner = segments.flatMap((segment) => listOf(segment['words']));
  const found = own.length > 0 ? own : inner;
  const words: RecognizedWord[] = [];
  for (const { word, start, end } of found.slice(0, WORDS_MAX)) {
    if (typeof word !== 'string' || typeof start !== 'number' || typeof end !== 'number') return [];
    const text = word.trim();
    if (text === '') continue;
    words.push({
      word: text,
      startMs: Math.round(startMs + start * 1_000),
      endMs: Math.round(startMs + end * 1_000),
    });
  }
  return words;
}
