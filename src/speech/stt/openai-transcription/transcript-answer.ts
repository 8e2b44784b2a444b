// Parses the answer of a transcription service to words, without those that its model hallucinates for silence or
// noise.
// Source: OpenAI's `verbose_json`, and the same of faster-whisper and whisper.cpp.

import { isObject } from '../../../std/json.ts';
import { joinTexts, wordCount } from '../../../std/text/unspaced-text.ts';
import type { RecognizedWord, RecognizedWords } from '../stt.ts';
import { isInventedPhrase } from './invented-phrases.ts';

/** Whisper's own thresholds for a segment that is probably no speech and of low confidence. */
const NO_SPEECH_PROBABILITY = 0.6;
const LOG_PROBABILITY = -1;
/** Voice below this length is too short for an invented phrase. */
const SHORT_VOICE_MS = 1_000;
const WORDS_MAX = 2_000;
const TEXT_CHARACTERS_MAX = 10_000;

export interface Spoken {
  /** Start of the audio on the call's clock. */
  startMs: number;
  /** Duration of voice activity. */
  voiceMs: number;
  /** Prompt of the model. An answer that repeats it contains nothing from the caller. */
  prompt: string;
}

/** Seconds that the service bills for the audio, if reported. Source: OpenAI's `usage` of type `duration`. */
export function billedSecondsOf(answer: unknown): unknown {
  const usage = isObject(answer) ? answer['usage'] : undefined;
  return isObject(usage) ? usage['seconds'] : undefined;
}

/** Words of an answer. Undefined if it is no transcript. Never throws. */
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
    // Some servers send the language's English name.
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

/** Confidence: the mean over the segments, weighted by length. */
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

/** Times of words, from the answer, its segments (whisper.cpp) or its chunks (Hugging Face). */
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
