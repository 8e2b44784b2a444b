// The language model of the current node, as one model for the whole conversation.

import type { LanguageModel } from '../../../speech/llm/llm.ts';

interface WithModel {
  /** The language model; undefined: the scripted policy leads. */
  llm: LanguageModel | undefined;
}

/** A model that passes each request to the model of the current node, or to the first one if the node has none.
 *  Undefined if the conversation has no model. `current`: the current node. Parts of the history that belong to
 *  another service are left out (VendorPart). */
export function modelOfNode(
  { llm: first, nodes }: WithModel & { nodes?: ReadonlyMap<string, WithModel> | undefined },
  current: () => WithModel,
): LanguageModel | undefined {
  const some = first ?? [...(nodes?.values() ?? [])].find(({ llm }) => llm !== undefined)?.llm;
  if (some === undefined || nodes === undefined) return some;
  const now = (): LanguageModel => current().llm ?? some;
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
