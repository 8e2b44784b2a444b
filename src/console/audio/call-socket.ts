// The media socket of a call (docs/web-calls.md), which reconnects with its resume token for a few seconds after it broke.

export interface CallAccess {
  run_id: string;
  token: string;
  media_url: string;
}

export interface SocketListener {
  /** The socket is open, the first one or a further one. */
  onOpen: () => void;
  /** The socket is broken, and another is being opened. */
  onLost: () => void;
  onAudio: (pcm: ArrayBuffer) => void;
  onMessage: (message: { type: string } & Record<string, unknown>) => void;
  /** The last event: no further socket. 1006 if it was not possible to return in time. */
  onClosed: (code: number, reason: string) => void;
}

/** Bytes that wait to be sent, beyond which frames are dropped: two seconds. */
const WAITING_BYTES_MAX = 64_000;
/** Frames dropped in a row after which the connection counts as broken. */
const DROPPED_MAX = 100;
const RECONNECT_MS = 400;
/** A connection that is broken without a sign takes the browser minutes to notice. */
const OPEN_MS_MAX = 2_500;
const BROKEN: ReadonlySet<number> = new Set([1005, 1006, 1011, 1012, 1013]);

export class CallSocket {
  /** Frames that were dropped. */
  dropped = 0;
  readonly #url: string;
  readonly #listener: SocketListener;
  #token: string;
  #socket: WebSocket | undefined;
  #isOver = false;
  #isOpen = false;
  #returnMs = 0;
  #lostAt: number | undefined;
  #droppedInRow = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly #onOnline = (): void => this.#returnNow();

  constructor({ media_url: url, token }: CallAccess, listener: SocketListener) {
    this.#url = url;
    this.#token = token;
    this.#listener = listener;
    addEventListener('online', this.#onOnline);
    this.#connect();
  }

  /** Sends 20 ms of the microphone. */
  sendAudio(pcm: ArrayBuffer): void {
    const socket = this.#open;
    if (socket === undefined) return;
    if (socket.bufferedAmount <= WAITING_BYTES_MAX) {
      this.#droppedInRow = 0;
      socket.send(pcm);
      return;
    }
    this.dropped += 1;
    this.#droppedInRow += 1;
    if (this.#droppedInRow > DROPPED_MAX) this.#lost(socket);
  }

  send(message: Record<string, unknown>): void {
    this.#open?.send(JSON.stringify(message));
  }

  /** Ends the call from here. */
  close(): void {
    this.send({ type: 'bye' });
    this.#finish();
    this.#socket?.close(1000);
  }

  /** The socket if it takes messages: it closes a moment before it says so. */
  get #open(): WebSocket | undefined {
    return this.#isOpen && this.#socket?.readyState === WebSocket.OPEN ? this.#socket : undefined;
  }

  #connect(): void {
    const protocols = ['patchbay.v1', `token.${this.#token}`];
    const socket = new WebSocket(this.#url, protocols);
    this.#socket = socket;
    socket.binaryType = 'arraybuffer';
    const deadline = setTimeout(() => {
      if (socket.readyState === WebSocket.CONNECTING) socket.close();
    }, OPEN_MS_MAX);
    socket.onopen = () => {
      if (socket !== this.#socket) return;
      this.#isOpen = true;
      this.#droppedInRow = 0;
      this.#listener.onOpen();
    };
    socket.onmessage = ({ data }: MessageEvent<ArrayBuffer | string>) => {
      if (socket !== this.#socket || this.#isOver) return;
      if (typeof data !== 'string') this.#listener.onAudio(data);
      else this.#take(JSON.parse(data));
    };
    socket.onclose = ({ code, reason }) => {
      clearTimeout(deadline);
      if (socket === this.#socket) this.#closed(code, reason, socket);
    };
  }

  #take(message: { type: string } & Record<string, unknown>): void {
    if (message.type === 'started') {
      this.#token = String(message['resume_token']);
      this.#returnMs = Number(message['resume_ms']);
      this.#lostAt = undefined;
    }
    this.#listener.onMessage(message);
  }

  #closed(code: number, reason: string, socket: WebSocket): void {
    if (this.#isOver) return;
    const mayReturn = BROKEN.has(code) && this.#returnMs > 0;
    if (mayReturn) this.#lost(socket);
    else {
      this.#finish();
      this.#listener.onClosed(code, reason);
    }
  }

  /** Opens another socket, at once and then again until the time is over. */
  #lost(socket: WebSocket): void {
    this.#isOpen = false;
    this.#socket = undefined;
    socket.close();
    const isFirst = this.#lostAt === undefined;
    this.#lostAt ??= performance.now();
    if (isFirst) this.#listener.onLost();
    if (performance.now() - this.#lostAt >= this.#returnMs) {
      this.#finish();
      this.#listener.onClosed(1006, 'MEDIA_LOST');
      return;
    }
    this.#timer = setTimeout(() => this.#returnNow(), isFirst ? 0 : RECONNECT_MS);
  }

  #returnNow(): void {
    if (this.#isOver || this.#lostAt === undefined || this.#socket !== undefined) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  #finish(): void {
    this.#isOver = true;
    this.#isOpen = false;
    clearTimeout(this.#timer);
    removeEventListener('online', this.#onOnline);
  }
}
