// The models that the forms of services offer, and the ends that their services have announced. A release runs these
// tests for its own day (RELEASE_DAY).

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { retirementNotice, retirementOf } from '../../../src/model/speech-services/retirements.ts';
import {
  llmServices,
  sttServices,
  ttsServices,
} from '../../../src/model/speech-services/services.ts';
import { dayAfter } from '../../../src/std/calendar-day.ts';

/** Days for which a release's models must last. */
const DAYS_MIN = 90;
const day = process.env['RELEASE_DAY'] ?? dayOfRelease();

/** Day of the newest release in the changelog. */
function dayOfRelease(): string {
  const changelog = readFileSync(new URL('../../../CHANGELOG.md', import.meta.url), 'utf8');
  return /^## [\d.]+ \((\d{4}-\d{2}-\d{2})\)/m.exec(changelog)?.[1] ?? '';
}

const form = z.object({
  properties: z.record(
    z.string(),
    z.object({ default: z.unknown().optional(), examples: z.array(z.unknown()).optional() }),
  ),
});

type Offer = { provider: string; model: string };

/** Models that a service's form names: the default first. */
function offersOf([provider, row]: [string, z.ZodType]): Offer[] {
  const { model } = form.parse(z.toJSONSchema(row, { io: 'input' })).properties;
  const names = [model?.default, ...(model?.examples ?? [])];
  return [...new Set(names)].flatMap((name) =>
    typeof name === 'string' ? [{ provider, model: name }] : [],
  );
}

const offers = [llmServices, sttServices, ttsServices].flatMap((rows) =>
  Object.entries<z.ZodType>(rows).flatMap(offersOf),
);

/** Whether the model ends too early for a release of the day. A service whose interface ends as a whole keeps its form
 *  until then. */
function endsTooEarly(offer: Offer): boolean {
  const retirement = retirementOf(offer);
  if (retirement === undefined) return false;
  const { endsOn, successor } = retirement;
  if (endsOn === undefined) return true;
  return endsOn <= (successor === undefined ? day : dayAfter(day, DAYS_MIN));
}

describe('the forms of services', () => {
  it('offer no model that ends within 90 days of the release', () => {
    expect(day).toMatch(/^\d{4}-\d{2}-\d{2}$/);
    expect(offers.length).toBeGreaterThan(40);
    expect(offers.filter(endsTooEarly)).toEqual([]);
  });
});

describe('retirements', () => {
  const Now = Date.parse('2026-11-28T12:00:00Z');

  it.each([
    ['groq', 'llama-3.3-70b-versatile', 'ended on 2026-08-16. Use openai/gpt-oss-120b.'],
    ['deepseek', 'deepseek-chat', 'ended on 2026-07-24. Use deepseek-flash.'],
    ['xai', 'grok-4-fast-non-reasoning', 'ended on 2026-05-15. Use grok-4.3.'],
    ['cerebras', 'llama-3.3-70b', 'ended on 2026-02-16. Use gpt-oss-120b.'],
    ['google', 'gemini-2.5-flash', 'ends on 2026-12-01. Use gemini-3.5-flash-lite.'],
    ['google', 'gemini-2.5-pro', 'ends on 2026-12-01. Use gemini-3.8-flash.'],
    [
      'elevenlabs',
      'eleven_turbo_v2_5',
      'is no longer recommended by its service. Use eleven_flash_v2_5.',
    ],
    [
      'openai',
      'gpt-4o-mini-tts',
      'ends on 2027-01-06. The service has no other model for this interface.',
    ],
  ])('names the end of %s %s and the successor', (provider, model, rest) => {
    expect(retirementNotice({ provider, model }, Now)).toBe(`The model ${model} ${rest}`);
  });

  it.each([
    ['together', 'llama-3.3-70b'],
    ['openai_compatible', 'tts-1'],
    ['openrouter', 'openai/gpt-oss-120b'],
    ['cartesia', 'sonic-2-2025-05-08'],
    ['flite', undefined],
  ])('has none of %s %s', (provider, model) => {
    expect(retirementOf({ provider, model })).toBeUndefined();
  });

  it.each([
    ['openrouter', 'openai/gpt-4.1-mini-2025-04-14', 'gpt-4.1-mini'],
    ['anthropic', 'claude-sonnet-4-20250514', 'claude-sonnet-4'],
    ['cartesia', 'sonic-2-2025-03-07', 'sonic-2-2025-03-07'],
  ])('finds %s %s by its name with and without a date', (provider, model, found) => {
    expect(retirementOf({ provider, model })).toMatchObject({ model: found });
  });
});
