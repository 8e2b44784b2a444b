// Event feeds for clients that watch calls: of one run, and of all calls of an organization; in order, and from any
// point on. The stored logs are read behind cursors, so that no event is missed or sent twice, whichever node runs a
// call and however slow the client is.

import type { CallEvent } from '../../model/call-event.ts';
import type { Run } from '../../model/run.ts';
import type { EventCursor, FollowedRun } from '../../store/runs/run-filters.ts';
import type { Store } from '../../store/store.ts';
import { Feedback, type FeedbackItem } from './realtime-feedback.ts';
import { stamp } from './transcript.ts';

/** Calls in the feed at a time. Others wait until one is over; none of their events are lost. */
const FOLLOWED_MAX = 200;
/** Smallest number of events of each call in one read: the more calls, the fewer events of each. */
const EVENTS_OF_EACH_MIN = 20;

/** One message of a feed. */
export interface FeedMessage {
  /** The cursor after this message; null for a message that is not stored, which moves no cursor. */
  id: string | null;
  /** Kind of the message; null for events of a call. */
  event: 'started' | 'completed' | null;
  data: MessageData;
}

/** JSON of a message: every one has these three. */
export interface MessageData {
  type: string;
  payload: Record<string, unknown>;
  timestamp: string;
  [name: string]: unknown;
}

export interface EventFeed {
  /** The available messages; empty if there is nothing new. Throws STORE_UNAVAILABLE. */
  read(): Promise<FeedMessage[]>;
  /** Whether the feed has ended: no message follows. */
  readonly isOver: boolean;
  /** The cursor after all messages that were read; before the first read, that of the client. Empty: none, which is the
   *  beginning. */
  readonly place: string;
  /** Runs that are in the feed at the moment. */
  readonly runIds: Iterable<string>;
  /** Whether everything in the feed is reported to watchers of its runs. */
  readonly isReported: boolean;
  /** A message for an item of a run that is not stored. */
  liveMessage(runId: string, item: FeedbackItem): FeedMessage;
}

/** Events of one run in one read at most. */
const EVENTS_MAX = 500;

function feedMessageOf(
  run: { id: string; workflowId: string },
  item: FeedbackItem,
  id: string | null,
): FeedMessage {
  const data = { workflow_run_id: run.id, workflow_id: run.workflowId, ...item };
  return { id, event: null, data };
}

/** Feed of one run, from its first event or from a given one to its end. */
export class RunFeed implements EventFeed {
  readonly isReported = true;
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
function completedMessage(
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

interface Followed {
  run: FollowedRun;
  feedback: Feedback;
  seq: number;
  /** Last event that the client has. */
  toldSeq: number;
}

/** Feed of all calls of an organization: current calls from their first event, and every new call. The id of a message
 *  contains the cursors of all of them. */
export class OrganizationFeed implements EventFeed {
  readonly isOver = false;
  /** Calls begin without a report. */
  readonly isReported = false;
  readonly #store: Pick<Store, 'runs'>;
  readonly #organizationId: string;
  readonly #followed = new Map<string, Followed>();
  /** Cursors of an earlier connection, for calls that are not followed again yet. */
  readonly #resumed: Map<string, number>;
  /** Runs with larger ids are new. Undefined until the first read. */
  #newestId: string | undefined;
  #place: string;

  /** `lastId` is the id of the client's last message; anything else counts as none. */
  constructor(store: Pick<Store, 'runs'>, organizationId: string, lastId: string | undefined) {
    this.#store = store;
    this.#organizationId = organizationId;
    const { newestId, cursors } = placeIn(lastId);
    this.#newestId = newestId;
    this.#place = newestId === undefined ? '' : (lastId ?? '');
    this.#resumed = new Map(cursors.map(({ runId, seq }) => [runId, seq]));
  }

  get place(): string {
    return this.#place;
  }

  get runIds(): Iterable<string> {
    return this.#followed.keys();
  }

  async read(): Promise<FeedMessage[]> {
    const messages = await this.#follow();
    // Pages that the client already has give no messages.
    let isMore: boolean;
    do {
      isMore = await this.#readPage(messages);
    } while (isMore && messages.length === 0);
    this.#place = this.#cursors();
    return messages;
  }

  /** Reads one page. Returns true if there is more after it. */
  async #readPage(messages: FeedMessage[]): Promise<boolean> {
    const all = [...this.#followed.values()];
    const limit = Math.max(EVENTS_OF_EACH_MIN, Math.floor(EVENTS_MAX / Math.max(1, all.length)));
    const cursors = all.map(({ run, seq }) => ({ runId: run.id, seq }));
    const counts = new Map<string, number>();
    for (const event of await this.#store.runs.eventsAfter(cursors, limit)) {
      counts.set(event.runId, (counts.get(event.runId) ?? 0) + 1);
      this.#tell(event, messages);
    }
    const isFull = ({ run }: Followed): boolean => (counts.get(run.id) ?? 0) >= limit;
    for (const followed of all) {
      if (!followed.run.isCompleted || isFull(followed)) continue;
      this.#followed.delete(followed.run.id);
      messages.push(completedMessage(followed.run, this.#cursors()));
    }
    return all.some(isFull);
  }

  #tell(event: CallEvent, messages: FeedMessage[]): void {
    const followed = this.#followed.get(event.runId);
    if (followed === undefined) return;
    followed.seq = event.seq;
    const item = followed.feedback.next(event);
    if (item === undefined || event.seq <= followed.toldSeq) return;
    messages.push(feedMessageOf(followed.run, item, this.#cursors()));
  }

  /** Reads the current calls, and adds new ones. */
  async #follow(): Promise<FeedMessage[]> {
    const { runs } = this.#store;
    this.#newestId ??= await runs.newestId(this.#organizationId);
    const known = [...this.#resumed.keys(), ...this.#followed.keys()];
    const newestId = this.#newestId;
    const found = await runs.toFollow(this.#organizationId, { known, afterId: newestId });
    const messages: FeedMessage[] = [];
    for (const run of found) {
      const followed = this.#followed.get(run.id);
      if (followed !== undefined) followed.run = run;
      else if (this.#followed.size < FOLLOWED_MAX) messages.push(...this.#begin(run));
      else break; // Runs come in order of age: those after this one are added later.
    }
    return messages;
  }

  #begin(run: FollowedRun): FeedMessage[] {
    const toldSeq = this.#resumed.get(run.id);
    this.#resumed.delete(run.id);
    this.#followed.set(run.id, { run, feedback: new Feedback(), seq: 0, toldSeq: toldSeq ?? 0 });
    if (isNewer(run.id, this.#newestId ?? '0')) this.#newestId = run.id;
    return toldSeq === undefined ? [startedMessage(run, this.#cursors())] : [];
  }

  liveMessage(runId: string, item: FeedbackItem): FeedMessage {
    const run = this.#followed.get(runId)?.run ?? { id: runId, workflowId: '' };
    return feedMessageOf(run, item, null);
  }

  /** The message id with all cursors: `newest;run:seq,run:seq`. */
  #cursors(): string {
    const cursors = [...this.#followed.values()].map(
      ({ run, seq, toldSeq }) => `${run.id}:${Math.max(seq, toldSeq)}`,
    );
    return `${this.#newestId ?? '0'};${cursors.join(',')}`;
  }
}

function startedMessage(run: FollowedRun, id: string): FeedMessage {
  const { name, mode, callType } = run;
  const data = {
    workflow_run_id: run.id,
    workflow_id: run.workflowId,
    type: 'started',
    payload: { name, mode, call_type: callType },
    timestamp: stamp(run.createdAt.getTime()),
    // As in `payload`, for clients of earlier versions.
    name,
    mode,
    call_type: callType,
  };
  return { id, event: 'started', data };
}

function isNewer(one: string, other: string): boolean {
  return BigInt(one) > BigInt(other);
}

/** Parses a message's id. Empty if the id has another format. */
function placeIn(id: string | undefined): {
  newestId: string | undefined;
  cursors: EventCursor[];
} {
  const [, newestId, list = ''] = /^(\d{1,18});([\d:,]{0,7000})$/.exec(id ?? '') ?? [];
  const cursors = [...list.matchAll(/(\d{1,18}):(\d{1,9})(?:,|$)/g)].map(([, runId, seq]) => ({
    runId: runId ?? '',
    seq: Number(seq),
  }));
  return { newestId, cursors: cursors.slice(0, FOLLOWED_MAX) };
}
