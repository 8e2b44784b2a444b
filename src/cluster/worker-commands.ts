// A worker's obedience: it takes its commands from the supervisor, not from signals, which a terminal or a
// service manager sends to every process of the group.

import type { IpcChannel } from './ipc-channel.ts';
import { SUPERVISOR } from './ipc-message.ts';

export interface Drainable {
  /** Takes no new call, and settles when none is left. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Says that this worker serves, and does from now on what the supervisor says. `leave` ends the process. */
export function followSupervisor(
  link: IpcChannel,
  worker: Drainable,
  leave: (error?: unknown) => void,
): void {
  link.onNotification('drain', () => {
    worker.drain().then(() => link.notify(SUPERVISOR, 'drained', {}), leave);
  });
  link.onNotification('stop', () => {
    worker.close().then(() => leave(), leave);
  });
  link.notify(SUPERVISOR, 'serving', {});
}
