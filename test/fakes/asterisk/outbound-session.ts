// ARI outbound websocket: a session that Asterisk keeps while its connection comes and goes. It registers its
// applications once, at its start, and keeps the events of the time without a connection. Source: asterisk §4;
// res/ari/ari_websockets.c of 22.10.1.

import type { Pbx } from './pbx.ts';
import type { AriEvent, EventSink } from './stasis.ts';

/** Events queued for a session without a connection; Asterisk has no limit. */
const QUEUED_MAX = 10_000;

export class OutboundSession implements EventSink {
  readonly isOutbound = true;
  readonly apps: readonly string[];
  readonly #pbx: Pbx;
  readonly #queued: AriEvent[] = [];
  #socket: EventSink | null = null;
  #connections = 0;

  constructor(pbx: Pbx, apps: readonly string[]) {
    this.#pbx = pbx;
    this.apps = apps;
    for (const app of apps) {
      pbx.stasis.connect(app, this, false);
      this.#registered(app);
    }
  }

  /** A new connection. The application is not taken back. */
  attach(socket: EventSink): void {
    this.#socket = socket;
    for (const event of this.#queued.splice(0)) socket.send(event);
    if (this.#connections > 0) for (const app of this.apps) this.#registered(app);
    this.#connections += 1;
  }

  detach(socket: EventSink): void {
    if (this.#socket === socket) this.#socket = null;
  }

  send(event: AriEvent): void {
    if (this.#socket !== null) this.#socket.send(event);
    else if (this.#queued.length < QUEUED_MAX) this.#queued.push(event);
  }

  /** As by `ari shutdown websocket session`: takes the applications from whoever has them. */
  end(): void {
    this.#pbx.stasis.disconnect(this, (app) => this.#pbx.isNeeded(app));
  }

  #registered(app: string): void {
    this.send({
      type: 'ApplicationRegistered',
      timestamp: this.#pbx.timestamp(),
      asterisk_id: '02:00:00:00:00:01',
      application: app,
    });
  }
}
