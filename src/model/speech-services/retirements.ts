// Models whose end their vendors have announced; vendors/ has the dates and sources, checked on 28 November 2026. The
// forms offer none of them as a default or example that ends within 90 days of a release
// (test/model/speech-services/retirements.test.ts), unless the service has no other model for the interface.

import { dayAt } from '../../std/calendar-day.ts';
import type { ConfiguredService } from './model-configuration.ts';
import { announcements } from './services.ts';

interface Retirement {
  /** Name of the model, with or without a date at its end. */
  model: string;
  /** The day from which the service refuses the model, or answers with another one. Undefined: no day is announced, but
   *  the service's documentation no longer recommends the model. */
  endsOn: string | undefined;
  /** The successor; undefined if the interface ends with the model. */
  successor: string | undefined;
}

/** The retirement of a service's model; undefined if none is announced. OpenRouter's names begin with the vendor. */
export function retirementOf({ provider, model }: ConfiguredService): Retirement | undefined {
  if (typeof model !== 'string') return undefined;
  const whole = model.replace(/^(openai|anthropic)\/(?!gpt-oss)/, '');
  const undated = whole.replace(/-(\d{8}|\d{4}-\d{2}-\d{2})$/, '');
  const announced = Object.hasOwn(announcements, provider) ? announcements[provider] : [];
  for (const { ends } of announced ?? []) {
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
