// Where Asterisk's events come from, whichever side opened the connection.

import type { ConnectionFault } from './connection-fault.ts';

export interface AriSocketListener {
  /** Events may come from now on. */
  onOpen(): void;
  onMessage(text: string): void;
  /** It was open, or could not be opened; it is tried again after a while. */
  onDown(fault: ConnectionFault): void;
}

export interface AriSocket {
  /** Drops the connection because of a fault; it reconnects after a while. */
  reopen(fault: ConnectionFault): void;
  close(): void;
}

/** The longest event seen has 3 KB; the answer about an application with many calls is longer. */
export const ARI_MESSAGE_BYTES_MAX = 1024 * 1024;
