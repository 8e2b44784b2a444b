// This process's share of the calls of a connection that another process holds: the connection's own code, whose events
// come from the holder instead of a socket. Requests go to Asterisk directly.

import type { PbxShare } from '../../provider/pbx.ts';
import type { AriSocket, AriSocketListener } from './ari-socket.ts';
import type { AriConnection } from './connection.ts';
import { type Answer, question, type ToHolder, toMember } from './member-messages.ts';

/** Why there are no events at present. */
const HOLDER_GONE = {
  code: 'PBX_NOT_CONNECTED',
  message: 'The process with the connection to the PBX has ended, or cannot be reached.',
  isPermanent: false,
} as const;

export interface ConnectionShareOptions {
  /** Makes the connection with the socket that `openSocket` gives it. */
  connect: (openSocket: (listener: AriSocketListener) => AriSocket) => AriConnection;
  send: (message: ToHolder) => void;
}

export class ConnectionShare implements PbxShare {
  readonly connection: AriConnection;
  readonly #send: ConnectionShareOptions['send'];
  #listener: AriSocketListener | undefined;
  #takesDials = false;

  constructor({ connect, send }: ConnectionShareOptions) {
    this.#send = send;
    this.connection = connect((listener) => {
      this.#listener = listener;
      const reopen: AriSocket['reopen'] = ({ code, message, isPermanent }) =>
        send({ kind: 'fault', fault: { code, message, isPermanent } });
      return { reopen, close: () => undefined };
    });
    this.connection.onTelephone = (id) => send({ kind: 'channel', id });
    this.connection.onUnconfigured = (number) => send({ kind: 'unconfigured', number });
  }

  get takesDials(): boolean {
    return this.#takesDials && !this.isOver && this.connection.state.kind === 'up';
  }

  get isOver(): boolean {
    return this.connection.isClosed;
  }

  get calls(): number {
    return this.connection.held.calls.size;
  }

  take(message: unknown): void {
    const told = toMember.parse(message);
    if (told.kind === 'event') this.#listener?.onMessage(told.text);
    else this.#listener?.onDown(told.fault);
  }

  async answer(message: unknown): Promise<Answer> {
    const { version, takesDials } = question.parse(message);
    this.#takesDials = takesDials;
    this.connection.version = version;
    const isReady = await this.connection.resync();
    return { tag: this.connection.ids.tag, channels: this.connection.foreignChannels, isReady };
  }

  holderGone(): void {
    this.#listener?.onDown(HOLDER_GONE);
  }

  holderBack(): void {
    if (this.connection.state.kind !== 'up') this.#send({ kind: 'missed' });
  }
}
