// The calls of a board as the console gets them: what a call is, where it stands, and the last words, from the active runs
// and their event logs. Pure state: live-board.ts reads and sends.

import { Feedback, type FeedbackItem } from '../../call/events/realtime-feedback.ts';
import type { BoardCall, BoardChange, BoardChanges } from '../../model/board-call.ts';
import type { CallEvent } from '../../model/call-event.ts';
import type { ActiveCall } from '../../store/runs/run-filters.ts';
import { contextText, hostOf } from '../http/values.ts';

/** Longest text of last words: two lines of the table. */
const WORDS_CHARACTERS_MAX = 200;

interface Followed {
  call: BoardCall;
  feedback: Feedback;
  /** Last event that was read. */
  seq: number;
}

export class BoardCalls {
  readonly #calls = new Map<string, Followed>();
  #changed = new Map<string, BoardChange>();
  #ended = new Set<string>();

  get runIds(): Iterable<string> {
    return this.#calls.keys();
  }

  get all(): BoardCall[] {
    return [...this.#calls.values()].map(({ call }) => call);
  }

  has(runId: string): boolean {
    return this.#calls.has(runId);
  }

  /** Positions up to which the logs of these runs were read; runs that are not here are left out. */
  cursors(runIds: Iterable<string>): { runId: string; seq: number }[] {
    return [...runIds].flatMap((runId) => {
      const followed = this.#calls.get(runId);
      return followed === undefined ? [] : [{ runId, seq: followed.seq }];
    });
  }

  /** Takes the list of active calls; those that are not in it have ended. */
  list(active: readonly ActiveCall[]): void {
    const left = new Set(this.#calls.keys());
    for (const each of active) {
      left.delete(each.run.id);
      const facts = factsOf(each);
      const followed = this.#calls.get(each.run.id);
      if (followed === undefined) this.#begin(facts);
      else
        this.#change(followed.call, {
          state: facts.state,
          since: facts.since,
          gateway: facts.gateway,
        });
    }
    for (const runId of left) {
      this.#calls.delete(runId);
      this.#changed.delete(runId);
      this.#ended.add(runId);
    }
  }

  takeEvent(event: CallEvent): void {
    const followed = this.#calls.get(event.runId);
    if (followed === undefined || event.seq <= followed.seq) return;
    followed.seq = event.seq;
    const item = followed.feedback.next(event);
    if (item !== undefined) this.#changeBy(followed.call, item);
  }

  /** Takes an item that is not stored: words as they are spoken. */
  takeLive(runId: string, item: FeedbackItem): void {
    const followed = this.#calls.get(runId);
    if (followed !== undefined) this.#changeBy(followed.call, item);
  }

  /** What happened since the last time; undefined if nothing did. */
  takeChanges(): BoardChanges | undefined {
    if (this.#changed.size === 0 && this.#ended.size === 0) return undefined;
    const changes = { calls: [...this.#changed.values()], ended: [...this.#ended] };
    this.#changed = new Map();
    this.#ended = new Set();
    return changes;
  }

  #begin(call: BoardCall): void {
    this.#calls.set(call.run_id, { call, feedback: new Feedback(), seq: 0 });
    this.#changed.set(call.run_id, call);
    this.#ended.delete(call.run_id);
  }

  #changeBy(call: BoardCall, { type, payload, node_name: node }: FeedbackItem): void {
    const speaker = SPEAKERS[type];
    const text = payload['text'];
    this.#change(call, {
      ...(node !== undefined && { node }),
      ...(speaker !== undefined &&
        typeof text === 'string' &&
        text !== '' && { last_speaker: speaker, last_words: shortened(text) }),
    });
  }

  #change(call: BoardCall, wanted: Partial<BoardCall>): void {
    const known: Partial<Record<string, unknown>> = { ...call };
    const news = Object.entries(wanted).filter(([name, value]) => known[name] !== value);
    if (news.length === 0) return;
    const changes = Object.fromEntries(news);
    Object.assign(call, changes);
    const change = this.#changed.get(call.run_id) ?? { run_id: call.run_id };
    // A new call is in the changes as it is.
    if (change !== call) this.#changed.set(call.run_id, { ...change, ...changes });
  }
}

const SPEAKERS: Readonly<Record<string, BoardCall['last_speaker']>> = {
  'rtf-user-transcription': 'caller',
  'rtf-bot-text': 'agent',
};

/** The end of a long text: what was said last. */
function shortened(text: string): string {
  return text.length <= WORDS_CHARACTERS_MAX ? text : `… ${text.slice(-WORDS_CHARACTERS_MAX)}`;
}

function factsOf({ run, workflowName, node }: ActiveCall): BoardCall {
  return {
    run_id: run.id,
    workflow_id: run.workflowId,
    agent: workflowName,
    direction: run.callType,
    provider: run.mode,
    caller_number: contextText(run, 'caller_number'),
    called_number: contextText(run, 'called_number'),
    state: run.state === 'running' ? 'answered' : 'ringing',
    since: (run.startedAt ?? run.createdAt).getTime(),
    gateway: hostOf(node),
    node: null,
    last_speaker: null,
    last_words: null,
  };
}
