// The Stasis applications of the simulated PBX: who is connected, what each is told, what it filters out.
// Nothing is kept for an application whose socket is gone, and nothing is told twice to one application.

export type AriEvent = Record<string, unknown> & { type: string };

/** The end of an event socket. */
export interface EventSink {
  send(event: AriEvent): void;
  /** Asterisk opens the connection, and opens it again. */
  readonly isOutbound?: boolean;
}

interface Filter {
  allowed: { type: string }[];
  disallowed: { type: string }[];
}

export class Application {
  readonly name: string;
  sink: EventSink | null = null;
  subscribesAll = false;
  readonly endpoints = new Set<string>();
  filter: Filter = { allowed: [], disallowed: [] };

  constructor(name: string) {
    this.name = name;
  }

  takes(type: string): boolean {
    const { allowed, disallowed } = this.filter;
    if (disallowed.some((each) => each.type === type)) return false;
    return allowed.length === 0 || allowed.some((each) => each.type === type);
  }
}

/** Events of one PBX kept for tests. */
const EVENTS_KEPT_MAX = 20_000;

export class StasisApps {
  readonly apps = new Map<string, Application>();
  /** Everything that was sent, in order. */
  readonly sent: AriEvent[] = [];
  /** Tests may change, repeat, hold back or drop what is sent: it returns what goes out. */
  tap: (event: AriEvent) => AriEvent[] = (event) => [event];
  readonly #entityId: string;
  /** The applications that a session unregisters at its end. */
  readonly #ofSession = new Map<EventSink, Set<string>>();

  constructor(entityId: string) {
    this.#entityId = entityId;
  }

  /** The last session to register has the application; the one before gets ApplicationReplaced, and no more events. */
  connect(name: string, sink: EventSink, subscribesAll: boolean): void {
    const app = this.apps.get(name) ?? new Application(name);
    this.apps.set(name, app);
    if (app.sink !== null) {
      // As res_ari does it: an outbound session goes on as if it still had the application.
      if (app.sink.isOutbound !== true) this.#ofSession.get(app.sink)?.delete(name);
      this.#send(app, { type: 'ApplicationReplaced' });
    }
    app.sink = sink;
    app.subscribesAll = subscribesAll;
    this.#ofSession.set(sink, (this.#ofSession.get(sink) ?? new Set()).add(name));
  }

  /** Unregisters the session's applications, whoever has them. One that still has channels (`isNeeded`) stays. */
  disconnect(sink: EventSink, isNeeded: (app: string) => boolean): void {
    for (const name of this.#ofSession.get(sink) ?? []) {
      const app = this.apps.get(name);
      if (app !== undefined) app.sink = null;
      this.forget(name, isNeeded);
    }
    this.#ofSession.delete(sink);
  }

  /** As by `kill -9`. */
  clear(): void {
    this.apps.clear();
    this.#ofSession.clear();
  }

  forget(name: string, isNeeded: (app: string) => boolean): void {
    const app = this.apps.get(name);
    if (app?.sink === null && !isNeeded(name)) this.apps.delete(name);
  }

  isServed(name: string): boolean {
    return (this.apps.get(name)?.sink ?? null) !== null;
  }

  /** To the applications named, and to those that want everything. */
  tell(recipients: Iterable<string>, event: AriEvent & { timestamp: string }): void {
    const names = new Set(recipients);
    for (const app of this.apps.values()) {
      if (!names.has(app.name) && !app.subscribesAll) continue;
      if (app.takes(event.type)) this.#send(app, event);
    }
  }

  #send(app: Application, event: AriEvent): void {
    const whole = { ...event, asterisk_id: this.#entityId, application: app.name };
    for (const each of this.tap(whole)) {
      if (this.sent.length < EVENTS_KEPT_MAX) this.sent.push(each);
      app.sink?.send(each);
    }
  }
}
