// Models whose end their services have announced, with the date and the source. The forms offer none of them as a
// default or example that ends within 90 days of a release (test/model/speech-services/retirements.test.ts), unless the
// service has no other model for the interface. Checked on 28 November 2026.

import { dayAt } from '../../std/calendar-day.ts';
import type { ConfiguredService } from './model-configuration.ts';

interface Retirement {
  /** Name of the model, with or without a date at its end. */
  model: string;
  /** The day from which the service refuses the model, or answers with another one. Undefined: no day is announced, but
   *  the service's documentation no longer recommends the model. */
  endsOn: string | undefined;
  /** The successor; undefined if the interface ends with the model. */
  successor: string | undefined;
}

interface Announcement {
  /** Providers to which it applies. */
  services: readonly string[];
  source: string;
  ends: readonly (readonly [
    endsOn: string | undefined,
    successor: string | undefined,
    models: string,
  ])[];
}

/** Successors of reasoning models are models that answer without reasoning. */
const announcements: readonly Announcement[] = [
  {
    services: ['openai', 'azure', 'openrouter'],
    source: 'https://developers.openai.com/api/docs/deprecations',
    ends: [
      ['2026-10-23', 'gpt-5.4-nano', 'gpt-4.1-nano gpt-3.5-turbo'],
      ['2026-10-23', 'gpt-5.4-mini', 'gpt-4-turbo gpt-4 o1 o3-mini o4-mini'],
      ['2026-12-11', 'gpt-5.4-mini', 'gpt-5-mini gpt-5-nano'],
      ['2026-12-11', 'gpt-5.4', 'gpt-5 o3 gpt-5-pro'],
      ['2027-01-14', 'gpt-5.4-mini', 'gpt-4.1-mini gpt-4o-mini'],
      ['2027-01-14', 'gpt-5.4', 'gpt-4.1 gpt-4o'],
      ['2027-04-01', 'gpt-5.4-mini', 'gpt-5.4-nano gpt-5.1'],
      ['2027-01-06', undefined, 'tts-1 tts-1-hd gpt-4o-mini-tts'],
      ['2027-02-26', 'gpt-transcribe', 'whisper-1 gpt-4o-transcribe gpt-4o-mini-transcribe'],
    ],
  },
  {
    services: ['anthropic', 'openrouter'],
    source: 'https://platform.claude.com/docs/en/about-claude/model-deprecations',
    ends: [
      ['2026-02-19', 'claude-haiku-5-5', 'claude-3-5-haiku'],
      ['2026-06-15', 'claude-sonnet-5', 'claude-sonnet-4'],
      ['2026-06-15', 'claude-opus-5-5', 'claude-opus-4'],
      ['2026-11-30', 'claude-sonnet-5', 'claude-sonnet-4-5'],
    ],
  },
  {
    services: ['google'],
    source: 'https://ai.google.dev/gemini-api/docs/deprecations',
    ends: [
      ['2026-06-01', 'gemini-3.5-flash', 'gemini-2.0-flash gemini-2.0-flash-001'],
      ['2026-12-01', 'gemini-3.5-flash-lite', 'gemini-2.5-flash'],
      ['2026-12-01', 'gemini-3.8-flash', 'gemini-2.5-pro'],
    ],
  },
  {
    services: ['groq'],
    source: 'https://console.groq.com/docs/deprecations',
    ends: [
      ['2026-08-16', 'openai/gpt-oss-120b', 'llama-3.3-70b-versatile'],
      ['2026-08-16', 'openai/gpt-oss-20b', 'llama-3.1-8b-instant'],
    ],
  },
  {
    services: ['deepseek'],
    source: 'https://api-docs.deepseek.com/quick_start/pricing',
    ends: [['2026-07-24', 'deepseek-flash', 'deepseek-chat deepseek-reasoner']],
  },
  {
    services: ['xai'],
    source: 'https://docs.x.ai/docs/migration/may-15-retirement',
    ends: [
      ['2026-05-15', 'grok-4.3', 'grok-4-fast-non-reasoning grok-4-fast-reasoning grok-3'],
      ['2026-05-15', 'grok-4.3', 'grok-4-1-fast-non-reasoning grok-4-1-fast-reasoning grok-4-0709'],
    ],
  },
  {
    services: ['cerebras'],
    source: 'https://inference-docs.cerebras.ai/support/deprecation',
    ends: [
      ['2026-02-16', 'gpt-oss-120b', 'llama-3.3-70b qwen-3-32b'],
      ['2026-05-27', 'gpt-oss-120b', 'llama3.1-8b qwen-3-235b-a22b-instruct-2507'],
    ],
  },
  {
    services: ['elevenlabs'],
    source: 'https://elevenlabs.io/docs/overview/models',
    ends: [
      [undefined, 'eleven_flash_v2_5', 'eleven_turbo_v2_5'],
      [undefined, 'eleven_flash_v2', 'eleven_turbo_v2'],
    ],
  },
  {
    services: ['cartesia'],
    source: 'https://docs.cartesia.ai/build-with-cartesia/tts-models/api-changes',
    ends: [
      ['2026-06-01', 'sonic-3.5', 'sonic sonic-english sonic-multilingual'],
      ['2026-06-01', 'sonic-3.5', 'sonic-2-2025-03-07 sonic-turbo-2025-03-07'],
    ],
  },
];

/** The retirement of a service's model; undefined if none is announced. OpenRouter's names begin with the vendor. */
export function retirementOf({ provider, model }: ConfiguredService): Retirement | undefined {
  if (typeof model !== 'string') return undefined;
  const whole = model.replace(/^(openai|anthropic)\/(?!gpt-oss)/, '');
  const undated = whole.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  for (const { services, ends } of announcements) {
    if (!services.includes(provider)) continue;
    for (const [endsOn, successor, models] of ends) {
      const name = models.split(' ').find((each) => each === whole || each === undated);
      if (name !== undefined) return { model: name, endsOn, successor };
    }
  }
  return undefined;
}

/** A notice about the retirement of a service's model; undefined if none is announced. */
export function retirementNotice(service: ConfiguredService, now: number): string | undefined {
  const retirement = retirementOf(service);
  if (retirement === undefined) return undefined;
  const { endsOn, successor } = retirement;
  const verb = hasEnded(retirement, now) ? 'ended' : 'ends';
  const end =
    endsOn === undefined ? 'is no longer recommended by its service' : `${verb} on ${endsOn}`;
  const advice =
    successor === undefined
      ? 'The service has no other model for this interface.'
      : `Use ${successor}.`;
  return `The model ${service['model']} ${end}. ${advice}`;
}

/** Whether the model has ended at the moment (milliseconds since 1970). */
export function hasEnded({ endsOn }: Retirement, now: number): boolean {
  return endsOn !== undefined && endsOn <= dayAt(now, 'UTC');
}
