import { describe, expect, it } from 'vitest';
import { costOf, readPriceTable } from '../../src/model/price-table.ts';

const prices = readPriceTable(
  JSON.stringify({
    llm: {
      'openai|||small': {
        prompt_per_million: 2,
        completion_per_million: 8,
        cached_per_million: 0.5,
      },
      groq: { prompt_per_million: 1, completion_per_million: 1 },
    },
    tts: { elevenlabs: { per_million_characters: 50 } },
    stt: { 'deepgram|||nova-3-general': { per_hour: 0.36 } },
    call: { per_minute: 0.01 },
  }),
);

function tokens(prompt: number, completion: number, read = 0) {
  const spent = { prompt_tokens: prompt, completion_tokens: completion };
  return { ...spent, total_tokens: prompt + completion, cache_read_input_tokens: read };
}

describe('the cost of a run', () => {
  it('is the sum of its services and of the call', () => {
    const usage = {
      llm: { 'openai|||small': tokens(10_000, 1_000, 4_000), 'groq|||any': tokens(500_000, 0) },
      tts: { 'elevenlabs|||eleven_flash_v2_5': 2_000 },
      stt: { 'deepgram|||nova-3-general': 120 },
      call_duration_seconds: 120,
    };
    expect(costOf(usage, prices)).toEqual({
      total_cost_usd: 0.022 + 0.5 + 0.1 + 0.012 + 0.02,
      cost_breakdown_usd: { llm: 0.522, tts: 0.1, stt: 0.012, call: 0.02 },
      services_without_price: [],
    });
  });

  it('has a price of its own for what a model writes to its cache, and reads from it', () => {
    const price = { prompt_per_million: 1, completion_per_million: 5 };
    const usage = {
      llm: { anthropic: { ...tokens(10_000, 1_000, 4_000), cache_creation_input_tokens: 2_000 } },
    };
    const cost = (more: object) =>
      costOf(usage, readPriceTable(JSON.stringify({ llm: { anthropic: { ...price, ...more } } })))
        .cost_breakdown_usd.llm;
    expect(cost({})).toBe(0.015);
    expect(cost({ cached_per_million: 0.1, cache_write_per_million: 1.25 })).toBe(0.0119);
  });

  it('names the services without a price', () => {
    const usage = { llm: {}, tts: { 'flite|||slt': 90 }, stt: { 'deepgram|||flux': 3 } };
    const cost = costOf(usage, prices);
    expect(cost.services_without_price).toEqual(['tts:flite|||slt', 'stt:deepgram|||flux']);
    expect(cost.total_cost_usd).toBe(0);
  });

  it('is none for a call that never began', () => {
    expect(costOf({ llm: {}, tts: {}, stt: {}, call_duration_seconds: 0 }, prices)).toMatchObject({
      total_cost_usd: 0,
    });
  });
});

it.each([
  ['not json', 'is no JSON'],
  ['{"tts":{"flite":{"per_character":1}}}', 'per_million_characters'],
  ['{"sst":{}}', 'sst'],
  ['{"stt":{"deepgram":{"per_hour":-1}}}', 'per_hour'],
])('the price table %s is refused in words', (text, words) => {
  expect(() => readPriceTable(text)).toThrow(words);
});
