// Media of calls whose far end connects to us itself, such as a browser: its sockets, one after the other, and the
// messages about the call that it gets beside the audio.

import type { Log } from '../../log.ts';
import type { EndReason } from '../../model/end-reason.ts';
import { returnIdOf, runOfReturnId } from '../../model/return-id.ts';
import type { Clock } from '../../std/clock.ts';
import type { MediaNotices } from '../../telephony/provider/media-protocol.ts';
import type { DirectProvider } from '../../telephony/provider/provider.ts';
import { ReturningMediaSession } from '../../telephony/provider/returning-media-session.ts';
import type { MediaSocket, MediaSocketListener } from '../../transport/media-socket.ts';
import { type MediaPath, webTokenOf } from '../../transport/media-token.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { MediaAdmission } from '../../transport/websocket/media-server.ts';
import type { EventLog, RunLog } from '../events/event-log.ts';
import { Feedback, type FeedbackItem } from '../events/realtime-feedback.ts';
import { runOutcomeOf } from '../events/run-outcome.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { type WebCallFacts, webCallFacts } from '../start/setup/web-call.ts';
import { refuseMedia } from './media-upgrade.ts';
import type { BegunSession } from './session-start.ts';

/** Longest item that is sent; the result of a tool may be of any size. */
const ITEM_CHARACTERS_MAX = 32_768;
/** Sockets of one call in a minute: what breaks more often carries no call. Each return is two events of the log. */
const SOCKETS_MAX = 20;
const SOCKETS_MS = 60_000;

/** Items of both sides' words. */
const TRANSCRIPT_ITEMS: ReadonlySet<string> = new Set([
  'rtf-user-transcription',
  'rtf-bot-text',
  'rtf-bot-started-speaking',
  'rtf-bot-stopped-speaking',
  'rtf-user-mute-started',
  'rtf-user-mute-stopped',
]);

export interface DirectMediaDeps {
  tokens: MediaTokenStore;
  events: EventLog;
  clock: Clock;
  log: Log;
}

type DirectPlan = CallPlan & { provider: DirectProvider };

export class DirectMedia {
  readonly #deps: DirectMediaDeps;
  /** Calls with media, by run. At most as many as there are sessions. */
  readonly #calls = new Map<string, DirectCallMedia>();

  constructor(deps: DirectMediaDeps) {
    this.#deps = deps;
  }

  /** Accepts the first socket of a call whose session has begun. */
  async accept(plan: DirectPlan, begun: BegunSession): Promise<MediaAdmission> {
    const { id } = plan.run;
    const runLog = await this.#deps.events.open(id);
    return {
      accept: (socket) => {
        const onClosed = (): void => void this.#calls.delete(id);
        const call = new DirectCallMedia(this.#deps, { plan, runLog, onClosed });
        this.#calls.set(id, call);
        const listener = call.connect(socket);
        begun.attach(call.media);
        return listener;
      },
    };
  }

  /** Admits a further socket of a call, whose path has the return's id in place of the run's. */
  admitReturn(path: MediaPath): MediaAdmission {
    // The path of providers has other limits, and no rule about origins.
    if (path.isWeb !== true) return refuseMedia('unauthorized', 'path');
    const redeemed = this.#deps.tokens.redeem(path);
    if (redeemed === undefined) return refuseMedia('unauthorized', 'token');
    const call = this.#calls.get(runOfReturnId(path.runId) ?? '');
    if (call === undefined) return refuseMedia('notFound', 'no call waits');
    // The process with the call issues its tokens: this one was used.
    if (redeemed.kind !== 'issued') return refuseMedia('unauthorized', 'token');
    if (!call.hasRoom) return refuseMedia('conflict', 'sockets');
    return { accept: (socket) => call.connect(socket) };
  }
}

class DirectCallMedia {
  readonly media: ReturningMediaSession;
  readonly #deps: DirectMediaDeps;
  readonly #plan: DirectPlan;
  readonly #runLog: RunLog;
  readonly #facts: WebCallFacts;
  readonly #notices: MediaNotices | undefined;
  readonly #feedback = new Feedback();
  readonly #unwatch: () => void;
  readonly #onClosed: () => void;
  /** Events of the log whose items were sent. */
  #sent = 0;
  /** Monotonic times of the sockets of the last minute, in milliseconds. */
  #connectedAtMs: number[] = [];

  constructor(
    deps: DirectMediaDeps,
    { plan, runLog, onClosed }: { plan: DirectPlan; runLog: RunLog; onClosed: () => void },
  ) {
    const { run, provider } = plan;
    this.#deps = deps;
    this.#plan = plan;
    this.#runLog = runLog;
    this.#onClosed = onClosed;
    this.#facts = webCallFacts(run);
    const createProtocol = () => provider.createMedia({ runId: run.id });
    this.#notices = createProtocol().notices;
    this.media = new ReturningMediaSession({
      createProtocol,
      returnMs: provider.returnMs,
      clock: deps.clock,
      log: deps.log.child({ runId: run.id }),
      onClosing: (endReason) => this.#close(endReason),
    });
    this.#unwatch =
      this.#facts.items === 'none'
        ? () => undefined
        : deps.events.live.watch(run.id, {
            onStored: () => this.#sendStored(),
            onLive: (_runId, item) => this.#send(item),
          });
  }

  /** Whether the call may have another socket now. */
  get hasRoom(): boolean {
    const sinceMs = this.#deps.clock.monotonicMs() - SOCKETS_MS;
    this.#connectedAtMs = this.#connectedAtMs.filter((atMs) => atMs > sinceMs);
    return this.#connectedAtMs.length < SOCKETS_MAX;
  }

  connect(socket: MediaSocket): MediaSocketListener {
    this.#connectedAtMs.push(this.#deps.clock.monotonicMs());
    const { id, workflowId, organizationId } = this.#plan.run;
    const { provider } = this.#plan;
    const listener = this.media.connect(socket);
    const subject = { id: returnIdOf(id), workflowId, organizationId, origin: this.#facts.origin };
    const token = this.#deps.tokens.issue(subject, provider.capabilities.callS.max * 1_000);
    this.#notify((notices) =>
      notices.started({
        run_id: id,
        resume_token: webTokenOf(subject, token),
        resume_ms: provider.returnMs,
      }),
    );
    if (this.#facts.items !== 'none') this.#sendStored();
    return listener;
  }

  #sendStored(): void {
    // Items that nobody gets now are sent to the next socket.
    if (!this.media.isConnected) return;
    const { events } = this.#runLog;
    for (; this.#sent < events.length; this.#sent += 1) {
      const event = events[this.#sent];
      const item = event && this.#feedback.next(event);
      if (item !== undefined) this.#send(item);
    }
  }

  #send(item: FeedbackItem): void {
    if (this.#facts.items === 'transcript' && !TRANSCRIPT_ITEMS.has(item.type)) return;
    this.#notify((notices) => {
      const text = notices.item(item);
      return text.length > ITEM_CHARACTERS_MAX ? undefined : text;
    });
  }

  #notify(message: (notices: MediaNotices) => string | undefined): void {
    const text = this.#notices && message(this.#notices);
    if (text !== undefined) this.media.notify(text);
  }

  #close(endReason: EndReason | undefined): void {
    const { run } = this.#plan;
    if (this.#facts.items !== 'none') this.#sendStored();
    this.#unwatch();
    this.#deps.tokens.revoke(returnIdOf(run.id));
    this.#onClosed();
    if (endReason === undefined) return;
    const { disposition } = runOutcomeOf(this.#runLog.events, endReason);
    this.#notify((notices) => notices.ended({ reason: endReason, disposition }));
  }
}
