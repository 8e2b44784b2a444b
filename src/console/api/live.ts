// The active calls of the organization over one websocket, /console/live: all calls first, then what changed. The socket
// reconnects with exponential backoff and jitter.

import type { BoardCall, BoardMessage } from '../../model/board-call.ts';
import { loadSession } from './session.ts';

export interface LiveState {
  status: 'opening' | 'open' | 'broken' | 'unavailable';
  /** By the id of their runs; undefined until they were read once. Another map after each change. */
  calls: ReadonlyMap<string, BoardCall> | undefined;
  /** All calls of the organization; more than `calls` if those are too many. */
  total: number;
  /** The gateway's clock minus that of this machine, in milliseconds. */
  clockMs: number;
}

/** Longest wait before the socket is opened again; the first is a second. Up to half of it is left to chance, so that all
 *  pages do not come back to a gateway at once. */
const BACKOFF_MS_MAX = 30_000;

export class LiveCalls {
  readonly #url: string;
  readonly #listeners = new Set<() => void>();
  #state: LiveState = { status: 'opening', calls: undefined, total: 0, clockMs: 0 };
  #socket: WebSocket | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #failures = 0;

  constructor(path = '/console/live') {
    this.#url = new URL(path, location.href).href.replace(/^http/, 'ws');
  }

  get state(): LiveState {
    return this.#state;
  }

  /** Opens the socket with the first listener, and closes it with the last. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    if (this.#listeners.size === 1) this.#open();
    return () => {
      this.#listeners.delete(listener);
      if (this.#listeners.size === 0) this.#close();
    };
  };

  readonly read = (): LiveState => this.#state;

  #open(): void {
    const socket = new WebSocket(this.#url);
    this.#socket = socket;
    socket.onmessage = ({ data }: MessageEvent<string>) =>
      this.#take(JSON.parse(data) as BoardMessage);
    socket.onclose = () => {
      if (socket !== this.#socket) return;
      this.#set({ status: 'broken' });
      // Browsers do not say why a socket was refused: the session may be over.
      loadSession().catch(() => undefined);
      const waitMs = Math.min(BACKOFF_MS_MAX, 1_000 * 2 ** this.#failures);
      this.#failures += 1;
      this.#timer = setTimeout(() => this.#open(), waitMs * (1 - Math.random() / 2));
    };
  }

  #close(): void {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = undefined;
    socket?.close();
    this.#state = { status: 'opening', calls: undefined, total: 0, clockMs: 0 };
  }

  #take(message: BoardMessage): void {
    this.#failures = 0;
    if (message.type === 'unavailable') {
      this.#set({ status: 'unavailable' });
      return;
    }
    const { total } = message;
    if (message.type === 'snapshot') {
      const calls = new Map(message.calls.map((call) => [call.run_id, call]));
      this.#set({ status: 'open', calls, total, clockMs: message.now - Date.now() });
      return;
    }
    const calls = new Map(this.#state.calls);
    for (const change of message.calls) {
      // A call that is new has all fields.
      calls.set(change.run_id, { ...calls.get(change.run_id), ...change } as BoardCall);
    }
    for (const runId of message.ended) calls.delete(runId);
    this.#set({ status: 'open', calls, total });
  }

  #set(changes: Partial<LiveState>): void {
    this.#state = { ...this.#state, ...changes };
    for (const listener of this.#listeners) listener();
  }
}
