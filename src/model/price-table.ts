// Prices of speech services, set by the operator, and the cost of a run at these prices. The gateway includes no
// prices, which change monthly.

import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { isObject } from '../std/json.ts';

const usd = z.number().min(0).max(1_000_000);

const priceTable = z.strictObject({
  /** Prices in US dollars by `service|||model`, or by `service` for all of its models. */
  llm: z
    .record(
      z.string(),
      z.strictObject({
        prompt_per_million: usd,
        completion_per_million: usd,
        /** Default: the price of other prompt tokens. */
        cached_per_million: usd.optional(),
        /** Default: the price of other prompt tokens. */
        cache_write_per_million: usd.optional(),
      }),
    )
    .default({}),
  tts: z.record(z.string(), z.strictObject({ per_million_characters: usd })).default({}),
  stt: z.record(z.string(), z.strictObject({ per_hour: usd })).default({}),
  /** Price of the call itself, with any provider. */
  call: z.strictObject({ per_minute: usd }).optional(),
});

export type PriceTable = z.infer<typeof priceTable>;

export interface RunCost {
  total_cost_usd: number;
  cost_breakdown_usd: { llm: number; tts: number; stt: number; call: number };
  /** Used services without a price; their cost is missing in the total. */
  services_without_price: string[];
}

/** Path of a price table in a setting: the file is read once. */
export const priceFile = z.string().transform((path, context) => {
  try {
    return readPriceTable(readFileSync(path, 'utf8'));
  } catch (error) {
    const problem = error instanceof Error ? error.message : 'cannot be read';
    context.addIssue({ code: 'custom', message: `${path}: ${problem}` });
    return z.NEVER;
  }
});

/** Parses a price table. Throws an Error with a readable message. */
export function readPriceTable(text: string): PriceTable {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    throw new Error('is no JSON');
  }
  const table = priceTable.safeParse(parsed);
  if (table.success) return table.data;
  throw new Error(z.prettifyError(table.error));
}

/** Cost of a run. `usage`: its usage information. */
export function costOf(usage: Record<string, unknown>, prices: PriceTable): RunCost {
  const without: string[] = [];
  const sum = <Price, Amount>(
    job: 'llm' | 'tts' | 'stt',
    table: Record<string, Price>,
    cost: (amount: Amount, price: Price) => number,
  ): number => {
    let total = 0;
    const amounts = isObject(usage[job]) ? usage[job] : {};
    for (const [name, amount] of Object.entries(amounts)) {
      const price = table[name] ?? table[name.split('|||')[0] ?? name];
      if (price === undefined) without.push(`${job}:${name}`);
      else total += cost(amount as Amount, price);
    }
    return total;
  };
  const llm = sum('llm', prices.llm, (tokens: Tokens, price) => {
    const cached = price.cached_per_million ?? price.prompt_per_million;
    const written = price.cache_write_per_million ?? price.prompt_per_million;
    const { prompt_tokens: prompt, completion_tokens: completion } = tokens;
    const { cache_read_input_tokens: read, cache_creation_input_tokens: write = 0 } = tokens;
    const fresh = Math.max(0, prompt - read - write) * price.prompt_per_million;
    const cache = read * cached + write * written;
    return (fresh + cache + completion * price.completion_per_million) / 1e6;
  });
  const tts = sum('tts', prices.tts, (characters: number, price) => {
    return (characters * price.per_million_characters) / 1e6;
  });
  const stt = sum(
    'stt',
    prices.stt,
    (seconds: number, price) => (seconds * price.per_hour) / 3_600,
  );
  const seconds = Number(usage['call_duration_seconds'] ?? 0);
  const call = (seconds / 60) * (prices.call?.per_minute ?? 0);
  return {
    total_cost_usd: rounded(llm + tts + stt + call),
    cost_breakdown_usd: {
      llm: rounded(llm),
      tts: rounded(tts),
      stt: rounded(stt),
      call: rounded(call),
    },
    services_without_price: without,
  };
}

/** Tokens in the form of the run's usage. */
interface Tokens {
  prompt_tokens: number;
  completion_tokens: number;
  cache_read_input_tokens: number;
  /** Absent in runs of older versions. */
  cache_creation_input_tokens?: number;
}

/** Rounds to a millionth of a dollar. */
function rounded(dollars: number): number {
  return Math.round(dollars * 1e6) / 1e6;
}
