// Selects the language model of a review: that of its call, or one that the node names with a key of its own.

import type { GuardedHttp } from '../../../egress/guarded-http.ts';
import type { Log } from '../../../log.ts';
import { checkedService } from '../../../model/speech-services/service-rows.ts';
import { type LlmServiceSettings, llmServices } from '../../../model/speech-services/services.ts';
import type { LanguageModel } from '../../../speech/llm/llm.ts';
import { openLanguageModel } from '../../../speech/vendors/llm-registry.ts';
import type { Clock } from '../../../std/clock.ts';
import type { ReviewNodeSettings } from '../../../workflow/graph/post-call-nodes.ts';
import type { LanguageModelSource, SpeechOwner } from '../../start/setup/call-services.ts';

/** Model of a review whose node says `default`, by the node's `qa_provider`. No vendor has announced an end of these
 *  models. */
const usual = new Map([
  ['openai', 'gpt-5.4'],
  ['openrouter', 'openai/gpt-5.4'],
  ['anthropic', 'claude-sonnet-5'],
  ['azure', 'gpt-5.4'],
]);

export interface ReviewModelDeps {
  models: LanguageModelSource;
  clock: Clock;
  log: Log;
  outside: Pick<GuardedHttp, 'check' | 'connect'>;
}

const { openai, openrouter, anthropic, azure, openai_compatible } = llmServices;
const reviewServices = { openai, openrouter, anthropic, azure, openai_compatible };

/** Creates the review's model; undefined if there is none. Call `close` when the review is over. Throws
 *  OUTSIDE_FORBIDDEN. */
export async function reviewModel(
  deps: ReviewModelDeps,
  review: ReviewNodeSettings,
  owner: SpeechOwner,
): Promise<{ model: LanguageModel; close: () => Promise<void> } | undefined> {
  const { models, clock, log } = deps;
  if (review.usesGatewayModel) {
    const llm = await models.languageModelOf(owner);
    return llm === undefined ? undefined : { model: llm, close: () => Promise.resolve() };
  }
  const settings = settingsOf(review);
  if (settings === undefined) return undefined;
  const own = openLanguageModel([settings], { clock, log, egress: deps.outside });
  return own === undefined ? undefined : { model: own, close: () => own.close() };
}

/** Settings of the service that the node names; undefined if its service, key or address cannot be used. */
function settingsOf(review: ReviewNodeSettings): LlmServiceSettings | undefined {
  const { provider, apiKey, endpoint } = review;
  const model = review.model === 'default' ? usual.get(provider) : review.model;
  if (apiKey === null || model === undefined) return undefined;
  const address = endpoint === null ? {} : { endpoint, base_url: endpoint };
  // Any other service is addressed by its chat interface, at an address of its own.
  const named = usual.has(provider) ? provider : 'openai_compatible';
  const checked = checkedService<LlmServiceSettings>(reviewServices, {
    provider: named,
    api_key: apiKey,
    model,
    ...address,
  });
  return 'settings' in checked ? checked.settings : undefined;
}
