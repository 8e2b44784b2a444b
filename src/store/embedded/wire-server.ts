// Multiplexes many connections onto the one session of the embedded engine. A connection owns the engine from its
// first statement until the engine is ready outside a transaction; the others wait in a priority queue (turn-queue.ts).
// The server rolls back the transaction of a connection that closes inside it. No authentication: only the owner of
// the socket's folder may enter it.

import { createServer, type Server, type Socket } from 'node:net';
import { type Clock, nextTick, type Timer } from '../../std/clock.ts';
import type { PgliteEngine } from './pglite-engine.ts';
import { type Prepared, PreparedStatements } from './prepared-statements.ts';
import { type Traffic, TurnQueue } from './turn-queue.ts';
import {
  BEGIN,
  BEGUN,
  FrontendMessages,
  fatal,
  isStatement,
  isTerminate,
  mustBeReadyAfter,
  queryMessage,
  statementText,
  statusAfter,
  syncMessage,
  type TransactionStatus,
  trafficOf,
  WIRE_MESSAGE_BYTES_MAX,
  welcome,
} from './wire-protocol.ts';

/** Connections at once. Our own pool has ten, and each of 32 workers five; the rest is for psql. */
const CONNECTIONS_MAX = 200;
/** Longest silence of the owner between two messages, because all others wait for it. */
const OWNER_SILENT_MS_MAX = 15_000;
/** Bytes of statements that a client sends ahead while it waits. */
const UNSERVED_BYTES_MAX = 2 * WIRE_MESSAGE_BYTES_MAX;
/** Bytes of unread answers. Beyond, the client is disconnected. */
const UNREAD_BYTES_MAX = 256 * 1024 * 1024;
/** Duration from which a statement beside calls is reported: calls wait for it, and the engine cannot be
 *  interrupted. */
const STATEMENT_MS_MAX = 50;

export interface EngineServerOptions {
  engine: PgliteEngine;
  clock: Clock;
  /** The engine broke or cannot be reset: the process must end. */
  broken: (error: unknown) => void;
  /** A statement kept all others waiting for long. */
  onSlow?: ((statement: SlowStatement) => void) | undefined;
}

export interface SlowStatement {
  traffic: Traffic;
  ms: number;
  /** SQL without parameters. */
  sql: string;
}

interface Session {
  socket: Socket;
  messages: FrontendMessages;
  /** Application name; undefined until the session has started. */
  application: string | undefined;
  /** The message whose SQL the session runs. */
  statement: Uint8Array | undefined;
  prepared: Prepared;
  /** Transaction status; undefined while the engine is in the middle of its messages. */
  status: TransactionStatus | undefined;
  isWaiting: boolean;
  /** Whether it has begun a transaction that the engine begins with its first statement. */
  isBeginning: boolean;
  hasLeft: boolean;
}

export class PostgresWireServer {
  readonly #options: EngineServerOptions;
  readonly #server: Server;
  readonly #sessions = new Set<Session>();
  readonly #waiting = new TurnQueue<Session>();
  readonly #prepared: PreparedStatements;
  #owner: Session | undefined;
  #isTurnDue = false;
  #silence: Timer | undefined;

  constructor(options: EngineServerOptions) {
    this.#options = options;
    this.#server = createServer((socket) => this.#accept(socket));
    const execute = (message: Uint8Array) => this.#execute(message);
    this.#prepared = new PreparedStatements({ clock: options.clock, execute });
  }

  listen(path: string): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(path, () => {
        this.#server.off('error', reject);
        resolve();
      });
    });
  }

  /** Disconnects all clients; uncommitted work is rolled back. */
  close(): Promise<void> {
    const closed = new Promise<void>((resolve) => this.#server.close(() => resolve()));
    for (const session of this.#sessions) {
      session.socket.destroy();
      this.#leave(session);
    }
    return closed;
  }

  #accept(socket: Socket): void {
    if (this.#sessions.size >= CONNECTIONS_MAX) {
      socket.on('error', () => undefined); // It is being refused; nothing is lost.
      socket.end(fatal('53300', 'too many connections'), () => socket.destroy());
      return;
    }
    const session: Session = {
      socket,
      messages: new FrontendMessages(),
      application: undefined,
      statement: undefined,
      prepared: { name: undefined },
      status: 'idle',
      isWaiting: false,
      isBeginning: false,
      hasLeft: false,
    };
    this.#sessions.add(session);
    socket.on('data', (chunk) => this.#receive(session, chunk));
    socket.on('error', () => this.#leave(session));
    socket.on('close', () => this.#leave(session));
  }

  #receive(session: Session, chunk: Buffer): void {
    session.messages.push(chunk);
    if (session.messages.bytes > UNSERVED_BYTES_MAX) {
      session.socket.destroy();
      this.#leave(session);
      return;
    }
    if (session.application === undefined && !this.#start(session)) return;
    if (session === this.#owner) {
      this.#serve(session);
    } else if (!session.isWaiting && !this.#begins(session)) {
      session.isWaiting = true;
      const traffic = trafficOf(session.application ?? '') ?? 'api';
      this.#waiting.push(session, traffic, this.#options.clock.monotonicMs());
    }
    this.#scheduleTurn();
  }

  /** Whether the message only begins a transaction. The engine stays free for others until the first statement arrives,
   *  which may take as long as the client's event loop is busy. */
  #begins(session: Session): boolean {
    if (session.isBeginning || !session.messages.takeIf(BEGIN)) return false;
    session.isBeginning = true;
    session.socket.write(BEGUN);
    return session.messages.bytes === 0;
  }

  /** Starts the session. Returns whether it may be served. */
  #start(session: Session): boolean {
    for (;;) {
      const startup = session.messages.startup();
      if (startup === undefined) return false;
      if (startup.kind === 'encrypt') {
        session.socket.write('N');
        continue;
      }
      if (startup.kind !== 'start') {
        session.socket.destroy();
        return false;
      }
      session.application = startup.settings.get('application_name') ?? '';
      session.socket.write(welcome());
      return true;
    }
  }

  /** Schedules a turn after everything that has arrived is read, so that the most urgent message is first. */
  #scheduleTurn(): void {
    if (this.#isTurnDue || this.#owner !== undefined || this.#waiting.length === 0) return;
    this.#isTurnDue = true;
    void nextTick().then(() => {
      this.#isTurnDue = false;
      this.#takeTurn();
    });
  }

  #takeTurn(): void {
    if (this.#owner !== undefined) return;
    let next = this.#waiting.take(this.#options.clock.monotonicMs());
    while (next?.hasLeft === true) next = this.#waiting.take(this.#options.clock.monotonicMs());
    if (next === undefined) return;
    next.isWaiting = false;
    this.#owner = next;
    if (!next.isBeginning || this.#begin(next)) this.#serve(next);
    this.#scheduleTurn();
  }

  /** Serves the owner until it has nothing more; then releases the engine if it is idle. */
  #serve(session: Session): void {
    this.#silence?.cancel();
    // One statement has five messages: their answers are sent in one write.
    session.socket.cork();
    const isServed = this.#answer(session);
    session.socket.uncork();
    if (!isServed) return;
    if (session.socket.writableLength > UNREAD_BYTES_MAX) session.socket.destroy();
    if (session.status === 'idle') {
      this.#release(session);
    } else {
      this.#silence = this.#options.clock.after(OWNER_SILENT_MS_MAX, () => {
        session.socket.destroy();
        this.#leave(session);
      });
    }
  }

  /** Runs the owner's messages one at a time (the engine loses the rest of a batch after an error) until none is left.
   *  False if the session has ended, or the engine broke. */
  #answer(session: Session): boolean {
    for (;;) {
      const message = session.messages.next();
      if (message === undefined) return true;
      if (message === null || isTerminate(message)) {
        session.socket.destroy();
        this.#leave(session);
        return false;
      }
      const answer = this.#executeFor(session, message);
      if (answer === undefined) return false;
      session.status = statusAfter(answer);
      session.socket.write(answer);
      if (session.status === undefined && mustBeReadyAfter(message, answer)) {
        // After a panic (a full disk, a failed fsync) the engine sends no more.
        this.#options.broken(new Error('the engine does not become ready'));
        return false;
      }
    }
  }

  /** Begins the transaction in the engine. False if the engine broke. */
  #begin(session: Session): boolean {
    session.isBeginning = false;
    const answer = this.#execute(BEGIN);
    if (answer === undefined) return false;
    session.status = statusAfter(answer);
    if (session.status === 'open') return true;
    this.#options.broken(new Error('the engine did not begin a transaction'));
    return false;
  }

  #leave(session: Session): void {
    if (session.hasLeft) return;
    session.hasLeft = true;
    this.#sessions.delete(session);
    if (session !== this.#owner) return;
    this.#silence?.cancel();
    if (session.status !== 'idle' && !this.#rollBack(session)) return;
    this.#release(session);
    this.#scheduleTurn();
  }

  /** Resets the engine: ends a half-sent statement, then the transaction. */
  #rollBack(session: Session): boolean {
    if (session.status === undefined) {
      const answer = this.#execute(syncMessage());
      if (answer === undefined) return false;
      session.status = statusAfter(answer);
    }
    if (session.status === 'idle') return true;
    const answer = this.#execute(queryMessage('rollback'));
    if (answer === undefined) return false;
    if (statusAfter(answer) === 'idle') return true;
    this.#options.broken(new Error('the engine stays in a transaction after a rollback'));
    return false;
  }

  #release(session: Session): void {
    // Other clients may have changed settings of the shared session.
    if (trafficOf(session.application ?? '') === undefined) {
      if (this.#execute(queryMessage('discard all')) === undefined) return;
      this.#prepared.forget();
    }
    this.#owner = undefined;
  }

  #executeFor(session: Session, message: Buffer): Uint8Array | undefined {
    const { clock, onSlow } = this.#options;
    const traffic = trafficOf(session.application ?? '');
    // Other clients' statements may have a name.
    if (traffic === undefined) return this.#execute(message);
    if (isStatement(message)) session.statement = message;
    const startedMs = clock.monotonicMs();
    const answer = this.#prepared.run(session.prepared, session.status, message);
    const ms = clock.monotonicMs() - startedMs;
    if (ms > STATEMENT_MS_MAX && session.statement !== undefined) {
      onSlow?.({ traffic, ms, sql: statementText(session.statement) });
    }
    return answer;
  }

  /** The answer to a message. Undefined if the engine broke; no client is served after that. */
  #execute(message: Uint8Array): Uint8Array | undefined {
    try {
      return this.#options.engine.execute(message);
    } catch (error) {
      this.#options.broken(error);
      return undefined;
    }
  }
}
