// Writes the facts of one conversation into its run's log, each with its node.

import { codeOf } from '../../../errors/gateway-error.ts';
import type { CallEventBody } from '../../../model/call-event.ts';
import { ServiceFault } from '../../../speech/service/service-fault.ts';
import type { ServiceChange } from '../../../speech/service/service-reports.ts';

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

  /** Logs a fault. `fatal`: the conversation cannot go on. */
  fault(error: unknown, fatal: boolean): void {
    this.note(faultBody(error, fatal));
  }

  /** Logs a change of service: why the caller heard a pause, and another voice after it. */
  serviceChanged({ job, fault, from, to }: ServiceChange): void {
    const kind = fault instanceof ServiceFault ? fault.kind : fault.code;
    const change = { job, kind, from: from.name, to: to.name };
    const models = { fromModel: from.model, toModel: to.model };
    const message = `${messageOf(fault)}; the call goes on with ${to.name}`;
    const more = { fatal: false, change: { ...change, ...models } };
    this.note({ type: 'fault', code: fault.code, message, ...more });
  }
}

/** The log entry of a fault. */
export function faultBody(error: unknown, fatal: boolean): CallEventBody & { type: 'fault' } {
  const code = codeOf(error) ?? 'UNEXPECTED';
  return { type: 'fault', code, message: messageOf(error), fatal, ...originOf(error) };
}

/** Text for the owner of the call, with the service's own message. */
function messageOf(error: unknown): string {
  const text = codeOf(error) === undefined ? 'Unexpected error' : String((error as Error).message);
  const detail = error instanceof ServiceFault ? error.detail : '';
  return detail === '' ? text : `${text} (${detail})`;
}

/** The service that failed; with its own words if the fault lasts until the owner of the service changes something. */
function originOf(error: unknown) {
  if (!(error instanceof ServiceFault)) return {};
  const { job, service: name, kind, detail, isPermanent } = error;
  const origin = { job, name, kind };
  return isPermanent ? { origin, service: { ...origin, detail } } : { origin };
}
