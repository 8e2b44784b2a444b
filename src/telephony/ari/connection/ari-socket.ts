// The source of Asterisk's events, whichever side opened the connection.

import type { ConnectionFault } from './connection-fault.ts';

export interface AriSocketListener {
  /** Events may arrive from now on. */
  onOpen(): void;
  onMessage(text: string): void;
  /** The connection was lost, or could not be opened. It is retried later. */
  onDown(fault: ConnectionFault): void;
}

export interface AriSocket {
  /** Closes the connection because of a fault. It reconnects later. */
  reopen(fault: ConnectionFault): void;
  close(): void;
}

/** Longest message. The longest observed event has 3 KB; the answer about an application with many calls is longer. */
export const ARI_MESSAGE_BYTES_MAX = 1024 * 1024;
