// Links of several workers that reach each other without processes: each message goes through the format in
// which processes send them, at once.

import type { Socket } from 'node:net';
import { deserialize, serialize } from 'node:v8';
import { IpcChannel, type IpcTransport } from '../../src/cluster/ipc-channel.ts';
import type { Clock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

export interface Wires {
  links: IpcChannel[];
  lines: () => Record<string, unknown>[];
  /** Nobody is there any more. */
  cut(number: number): void;
  sockets: (Socket | undefined)[];
}

/** Links with the numbers 0 to `count`-1. */
export function wires(count: number, clock: Clock): Wires {
  const { log, lines } = quietLog();
  const channels: (IpcTransport | undefined)[] = [];
  const sockets: (Socket | undefined)[] = [];
  const links = Array.from({ length: count }, (_, number) => {
    const channel: IpcTransport = {
      send(text, socket) {
        const to = channels[text.to];
        sockets.push(socket);
        if (to === undefined) return false;
        to.onMessage(deserialize(serialize(text)), socket);
        return true;
      },
      onMessage: () => undefined,
    };
    channels.push(channel);
    return new IpcChannel(number, channel, { clock, log });
  });
  const cut = (number: number): void => {
    channels[number] = undefined;
  };
  return { links, lines, cut, sockets };
}
