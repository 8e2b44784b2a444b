import { describe, expect, it } from 'vitest';
import { createPromptCache } from '../../../src/speech/tts/prompt-cache.ts';

const speech = (samples: number) => ({ samples: new Int16Array(samples), words: [] });

describe('prompt cache', () => {
  it('finds a prompt by its voice and words, for any white space', () => {
    const cache = createPromptCache(10_000);
    const hello = speech(10);
    cache.keep('slt', 'Hello  there', hello);
    expect(cache.find('slt', ' Hello there\n')).toBe(hello);
    expect(cache.find('rms', 'Hello there')).toBeUndefined();
  });

  it('removes the least recently used entry', () => {
    const cache = createPromptCache(5_000);
    cache.keep('v', 'a', speech(1_000));
    cache.keep('v', 'b', speech(1_000));
    cache.find('v', 'a');
    cache.keep('v', 'c', speech(1_000));
    expect(['a', 'b', 'c'].map((text) => cache.find('v', text) !== undefined)).toEqual([
      true,
      false,
      true,
    ]);
  });

  it('counts a prompt once, however often it is kept', () => {
    const cache = createPromptCache(5_000);
    cache.keep('v', 'a', speech(1_000));
    for (let i = 0; i < 10; i++) cache.keep('v', 'b', speech(1_000));
    expect(cache.find('v', 'a')).toBeDefined();
  });

  it('does not keep what is larger than itself', () => {
    const cache = createPromptCache(5_000);
    cache.keep('v', 'a', speech(1_000));
    cache.keep('v', 'huge', speech(10_000));
    expect(cache.find('v', 'huge')).toBeUndefined();
    expect(cache.find('v', 'a')).toBeDefined();
  });
});
