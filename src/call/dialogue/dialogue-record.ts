// Writes the facts of one conversation into its run's log, with the node of each.

import { codeOf } from '../../errors/gateway-error.ts';
import type { CallEventBody } from '../../model/call-event.ts';
import { ServiceFault } from '../../speech/service/service-fault.ts';

/** The current node. */
export interface NodePlace {
  nodeId: string | null;
  nodeName: string | null;
}

export class DialogueRecord {
  readonly #append: (body: CallEventBody) => void;
  #place: NodePlace;

  constructor(
    append: (body: CallEventBody) => void,
    place: NodePlace = { nodeId: null, nodeName: null },
  ) {
    this.#append = append;
    this.#place = place;
  }

  /** The current node and its name. */
  get place(): NodePlace {
    return this.#place;
  }

  note(body: CallEventBody): void {
    if (body.type === 'node.entered') {
      this.#place = { nodeId: body.nodeId, nodeName: body.nodeName };
    }
    this.#append(body);
  }

  /** `fatal`: the conversation cannot go on. */
  fault(error: unknown, fatal: boolean): void {
    const code = codeOf(error);
    const text = code === undefined ? 'Unexpected error' : String((error as Error).message);
    // The owner of the call reads it, who must know what the service says.
    const detail = error instanceof ServiceFault ? error.detail : '';
    const message = detail === '' ? text : `${text} (${detail})`;
    this.note({ type: 'fault', code: code ?? 'UNEXPECTED', message, fatal, ...lasting(error) });
  }
}

/** What the owner of a service must know who has to change something. */
function lasting(error: unknown) {
  if (!(error instanceof ServiceFault) || !error.isPermanent) return {};
  const { job, service: name, kind, detail } = error;
  return { service: { job, name, kind, detail } };
}
