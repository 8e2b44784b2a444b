// A worker's obedience: it takes its commands from the supervisor, not from signals, which a terminal or a
// service manager sends to every process of the group.

import type { Link } from './ipc-channel.ts';
import { SUPERVISOR } from './ipc-message.ts';

export interface Obedient {
  /** Takes no new call, and settles when none is left. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Says that this worker serves, and does from now on what the supervisor says. `leave` ends the process. */
export function obey(link: Link, worker: Obedient, leave: (error?: unknown) => void): void {
  link.onNote('drain', () => {
    worker.drain().then(() => link.note(SUPERVISOR, 'drained', {}), leave);
  });
  link.onNote('stop', () => {
    worker.close().then(() => leave(), leave);
  });
  link.note(SUPERVISOR, 'serving', {});
}
