// The language model of the node in which the conversation is, as one model for the whole conversation.

import type { LanguageModel } from '../../speech/llm/llm.ts';

interface WithModel {
  /** Undefined: the scripted policy leads. */
  llm: LanguageModel | undefined;
}

/** `current`: what the node has that is asked in; without a model, the first one is asked. Undefined: there is none. A
 *  history with another service's own parts goes on: those are left out (VendorPart). */
export function modelOfNode(
  { llm: first, nodes }: WithModel & { nodes?: ReadonlyMap<string, WithModel> | undefined },
  current: () => WithModel,
): LanguageModel | undefined {
  if (first === undefined || nodes === undefined) return first;
  const now = (): LanguageModel => current().llm ?? first;
  return {
    get name() {
      return now().name;
    },
    get model() {
      return now().model;
    },
    async respond(request, listener, signal) {
      const llm = now();
      const answer = await llm.respond(request, listener, signal);
      return { answeredBy: { service: llm.name, model: llm.model }, ...answer };
    },
    prepare: () => now().prepare(),
    close: () => Promise.resolve(),
  };
}
