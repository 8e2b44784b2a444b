// Commands of the supervisor to a forked process: drain and stop. The process ignores signals, because a terminal or a
// service manager sends them to every process of the group. Sends the heartbeat to the supervisor.

import { z } from 'zod';
import type { Clock } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { SUPERVISOR } from './ipc-message.ts';

/** Interval of heartbeats; the supervisor kills a process without them. */
export const HEARTBEAT_MS = 2_500;

export interface Drainable {
  /** Accepts no new call, and settles when none is left. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** Epoch of the gateway, which the supervisor sends when the database is open. Call this before any `await`: a
 *  message without a receiver is lost. */
export function gatewayEpoch(link: IpcChannel): Promise<string> {
  return new Promise((resolve) => {
    link.onNotification('epoch', (epoch) => resolve(z.string().parse(epoch)));
  });
}

/** Reports that this process serves, and follows the supervisor's commands from now on. `leave` ends the
 *  process. */
export function followSupervisor(
  link: IpcChannel,
  process: Drainable,
  { clock, leave }: { clock: Clock; leave: (error?: unknown) => void },
): void {
  link.onNotification('drain', () => {
    process.drain().then(() => link.notify(SUPERVISOR, 'drained', {}), leave);
  });
  link.onNotification('stop', () => {
    process.close().then(() => leave(), leave);
  });
  link.notify(SUPERVISOR, 'serving', {});
  beat();
  function beat(): void {
    link.notify(SUPERVISOR, 'heartbeat', {});
    clock.after(HEARTBEAT_MS, beat);
  }
}
