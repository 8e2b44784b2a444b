// Calls that the doctor places to numbers of a configuration. Such a call may reach our application over a channel that
// the dialplan has dialled (a queue, a ring group): a channel variable, which every dialled channel inherits, marks it,
// and no agent starts for it. The variable is looked up only while such a call is open. Source: asterisk §4.5.

import { z } from 'zod';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { PbxInboundCall, PbxListener, PbxStatus } from '../../provider/pbx.ts';
import type { AriClient } from '../rest/client.ts';

/** Its value is the id of the doctor's channel. The dialplan may look at it too. */
export const TEST_VARIABLE = 'PATCHBAY_DOCTOR';
/** A caller waits for it; an unmarked one rings meanwhile. */
const LOOK_MS_MAX = 2_000;
/** Calls that are looked up at the same time; further ones are callers. */
const LOOKS_MAX = 50;

const variable = z.looseObject({ value: z.string() });

/** `call`: as it arrived. */
type OnArrived = (call: PbxInboundCall) => void;

export class TestCalls {
  /** By application, then by the id of the doctor's channel. */
  readonly #open = new Map<string, Map<string, OnArrived>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Returns the function that ends it. */
  open(app: string, id: string, onArrived: OnArrived): () => void {
    const ofApp = this.#open.get(app) ?? new Map<string, OnArrived>();
    this.#open.set(app, ofApp);
    ofApp.set(id, onArrived);
    return () => {
      ofApp.delete(id);
      if (ofApp.size === 0) this.#open.delete(app);
    };
  }

  /** The same listener, without the doctor's calls. `client`: as it is now. */
  screened(listener: PbxListener, app: string, client: () => AriClient): PbxListener {
    /** Calls that are being looked up, with their statuses meanwhile: unanswered calls have their end at most. */
    const pending = new Map<string, PbxStatus[]>();
    const screen = async (call: PbxInboundCall): Promise<void> => {
      const statuses: PbxStatus[] = [];
      pending.set(call.callId, statuses);
      const mark = await markOf(client(), this.#clock, call.callId);
      pending.delete(call.callId);
      if (mark !== undefined) {
        this.#open.get(app)?.get(mark)?.(call);
        return; // The doctor's channel ends it.
      }
      listener.onInbound(call);
      for (const status of statuses) listener.onStatus(status);
    };
    return {
      onState: (state) => listener.onState(state),
      onEarlyMedia: (call) => listener.onEarlyMedia(call),
      onAnswered: (call) => listener.onAnswered(call),
      onInbound: (call) => {
        if (this.#open.has(app) && pending.size < LOOKS_MAX) void screen(call);
        else listener.onInbound(call);
      },
      onStatus: (status) => {
        const statuses = pending.get(status.callId);
        if (statuses === undefined) listener.onStatus(status);
        else statuses.push(status);
      },
    };
  }
}

/** Undefined if it is a caller's, or cannot be looked up. Never rejects. */
async function markOf(
  client: AriClient,
  clock: Clock,
  callId: string,
): Promise<string | undefined> {
  const deadline = deadlineSignal(clock, LOOK_MS_MAX, 'look for the mark');
  const path = `channels/${encodeURIComponent(callId)}/variable`;
  const query = { variable: TEST_VARIABLE };
  try {
    const request = { action: 'look', method: 'GET', path, query } as const;
    const { status, body } = await client.send(request, deadline.signal);
    return status === 200 ? variable.safeParse(body).data?.value : undefined;
  } catch {
    return undefined; // A caller is never lost because of a test.
  } finally {
    deadline.done();
  }
}
