// Cache of rendered speech by its words, so that greetings and menus are available at once. Bounded by bytes; the
// least recently used entry is dropped first.

import type { WordTiming } from './tts.ts';

export interface CachedSpeech {
  /** Audio at 8 kHz, owned by the cache: copy before passing on. */
  samples: Int16Array;
  words: readonly WordTiming[];
}

export interface PromptCache {
  find(voice: string, text: string): CachedSpeech | undefined;
  keep(voice: string, text: string, speech: CachedSpeech): void;
}

/** Approximate memory of a word's timing with its text. */
const WORD_BYTES = 100;

export function createPromptCache(bytesMax: number): PromptCache {
  const entries = new Map<string, CachedSpeech>();
  let bytes = 0;

  function drop(key: string): void {
    const old = entries.get(key);
    if (old === undefined) return;
    entries.delete(key);
    bytes -= sizeOf(key, old);
  }

  return {
    find(voice, text) {
      const key = keyOf(voice, text);
      const speech = entries.get(key);
      if (speech === undefined) return undefined;
      // The map's order is the order of use.
      entries.delete(key);
      entries.set(key, speech);
      return speech;
    },
    keep(voice, text, speech) {
      const key = keyOf(voice, text);
      drop(key);
      if (sizeOf(key, speech) > bytesMax) return;
      entries.set(key, speech);
      bytes += sizeOf(key, speech);
      for (const oldest of entries.keys()) {
        if (bytes <= bytesMax) break;
        drop(oldest);
      }
    },
  };
}

function keyOf(voice: string, text: string): string {
  return `${voice}\n${text.replace(/\s+/g, ' ').trim()}`;
}

function sizeOf(key: string, speech: CachedSpeech): number {
  return speech.samples.byteLength + speech.words.length * WORD_BYTES + 2 * key.length;
}
