// Test calls of the doctor to the numbers of a configuration. One may reach our application over a channel that the
// dialplan has dialled (a queue, a ring group): a channel variable, which dialled channels inherit, marks it, and no
// agent starts. The variable is looked up only while a test call is open. Source: asterisk §4.5.

import { z } from 'zod';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import type { PbxInboundCall, PbxListener, PbxStatus } from '../../provider/pbx.ts';
import type { AriClient } from '../rest/client.ts';

/** Channel variable with the id of the doctor's channel. The dialplan may read it too. */
export const TEST_VARIABLE = 'PATCHBAY_DOCTOR';
/** Longest look-up of the variable, during which an unmarked call only rings. */
const LOOK_MS_MAX = 2_000;
/** Look-ups at the same time. Further calls count as callers. */
const LOOKS_MAX = 50;

const variable = z.looseObject({ value: z.string() });

/** `call`: as it arrived. */
type OnArrived = (call: PbxInboundCall) => void;

export class TestCalls {
  /** Open test calls by application, then by the id of the doctor's channel. */
  readonly #open = new Map<string, Map<string, OnArrived>>();
  readonly #clock: Clock;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  isOpen(app: string): boolean {
    return this.#open.has(app);
  }

  /** Opens a test call. Returns the function that ends it. */
  open(app: string, id: string, onArrived: OnArrived): () => void {
    const ofApp = this.#open.get(app) ?? new Map<string, OnArrived>();
    this.#open.set(app, ofApp);
    ofApp.set(id, onArrived);
    return () => {
      ofApp.delete(id);
      if (ofApp.size === 0) this.#open.delete(app);
    };
  }

  /** The same listener, without the doctor's calls. `client`: the connection's current one. */
  screened(listener: PbxListener, app: string, client: () => AriClient): PbxListener {
    /** Statuses of calls that are being looked up. An unanswered call has at most its end. */
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

/** The mark of a test call; undefined for a caller's, or if the look-up fails. Never rejects. */
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
