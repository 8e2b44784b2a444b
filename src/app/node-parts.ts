// Parts of every process that uses the store: the egress rule and the language model. No speech and no media: a process
// without calls loads neither.

import type { Config } from '../config.ts';
import { createEgress, type Egress } from '../egress/egress-rule.ts';
import type { Log } from '../log.ts';
import type { LanguageModel } from '../speech/llm/llm.ts';
import { openLanguageModel } from '../speech/vendors/llm-registry.ts';
import { systemClock as clock } from '../std/clock.ts';

/** Limit for a stop after the calls are drained. */
export const STOP_MS_MAX = 15_000;

/** Egress rule for addresses of users. */
export function egressOf({ isSignUpOpen, outsideAllowed: allowed }: Config): Egress {
  return createEgress({ isSignUpOpen, allowed });
}

export function openGatewayModel(
  { model }: Pick<Config, 'model'>,
  log: Log,
): LanguageModel | undefined {
  if (model === undefined) return openLanguageModel([], { clock, log });
  const { baseUrl, apiKey, name } = model;
  const settings = { provider: 'openai', base_url: baseUrl, api_key: apiKey, model: name } as const;
  return openLanguageModel([settings], { clock, log });
}
