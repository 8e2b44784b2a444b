// Event feed of one run, from its first event or from a given one to its end.

import type { Run } from '../../model/run.ts';
import type { Store } from '../../store/store.ts';
import { EVENTS_MAX, type EventFeed, type FeedMessage, feedMessageOf } from './event-feed.ts';
import { Feedback, type FeedbackItem } from './realtime-feedback.ts';
import { stamp } from './transcript.ts';

export class RunFeed implements EventFeed {
  readonly #store: Pick<Store, 'runs'>;
  readonly #run: Run;
  readonly #feedback = new Feedback();
  /** Last event that was sent. The log is read from its start all the same, because items build on earlier events. */
  readonly #toldSeq: number;
  #seq = 0;
  #isOver = false;

  /** `lastId` is the id of the client's last message, `run:seq`; anything else counts as none. */
  constructor(store: Pick<Store, 'runs'>, run: Run, lastId: string | undefined) {
    this.#store = store;
    this.#run = run;
    this.#toldSeq = seqIn(lastId, run.id);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  get place(): string {
    return `${this.#run.id}:${Math.max(this.#seq, this.#toldSeq)}`;
  }

  get runIds(): string[] {
    return [this.#run.id];
  }

  async read(): Promise<FeedMessage[]> {
    const messages: FeedMessage[] = [];
    // Pages that the client already has are skipped.
    while (messages.length === 0 && !this.#isOver) {
      if (await this.#readPage(messages)) break;
    }
    return messages;
  }

  /** Reads one page. Returns true if it was the last one so far. */
  async #readPage(messages: FeedMessage[]): Promise<boolean> {
    const { runs } = this.#store;
    const { id, organizationId } = this.#run;
    // The state is read first: the log of a completed run is complete.
    const current = await runs.get(organizationId, id);
    const events = await runs.eventsAfter([{ runId: id, seq: this.#seq }], EVENTS_MAX);
    for (const event of events) {
      this.#seq = event.seq;
      const item = this.#feedback.next(event);
      if (item === undefined || event.seq <= this.#toldSeq) continue;
      messages.push(feedMessageOf(this.#run, item, `${id}:${event.seq}`));
    }
    const isLast = events.length < EVENTS_MAX;
    if (isLast && (current === undefined || current.state === 'completed')) {
      this.#isOver = true;
      messages.push(completedMessage({ ...this.#run, ...current }, this.place));
    }
    return isLast;
  }

  liveMessage(_runId: string, item: FeedbackItem): FeedMessage {
    return feedMessageOf(this.#run, item, null);
  }
}

/** Message about the end of a run. `endedAt` is null for a run that ended without a call. */
export function completedMessage(
  { id: runId, workflowId, disposition, createdAt, endedAt }: CompletedRun,
  id: string,
): FeedMessage {
  const data = {
    workflow_run_id: runId,
    workflow_id: workflowId,
    type: 'completed',
    payload: { disposition },
    timestamp: stamp((endedAt ?? createdAt).getTime()),
    disposition, // As in `payload`, for clients of earlier versions.
  };
  return { id, event: 'completed', data };
}

type CompletedRun = Pick<Run, 'id' | 'workflowId' | 'disposition' | 'createdAt' | 'endedAt'>;

function seqIn(lastId: string | undefined, runId: string): number {
  const [, run, seq] = /^(\d{1,19}):(\d{1,9})$/.exec(lastId ?? '') ?? [];
  return run === runId ? Number(seq) : 0;
}
