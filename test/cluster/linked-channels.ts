// Channels of several processes that reach each other without processes: each message goes through the format in
// which processes send them, at once.

import { deserialize, serialize } from 'node:v8';
import { IpcChannel, type IpcTransport } from '../../src/cluster/ipc-channel.ts';
import { API, type IpcHandle } from '../../src/cluster/ipc-message.ts';
import type { Clock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

export interface Wires {
  links: IpcChannel[];
  api: IpcChannel;
  lines: () => Record<string, unknown>[];
  /** The other side is gone. */
  cut(number: number): void;
  sockets: IpcHandle[];
}

/** Those with the numbers 0 to `count`-1, and the API's. */
export function wires(count: number, clock: Clock): Wires {
  const { log, lines } = quietLog();
  const channels = new Map<number, IpcTransport>();
  const sockets: IpcHandle[] = [];
  const linkOf = (number: number): IpcChannel => {
    const channel: IpcTransport = {
      send(text, socket) {
        const to = channels.get(text.to);
        if (socket !== undefined) sockets.push(socket);
        if (to === undefined) return false;
        to.onMessage(deserialize(serialize(text)), socket);
        return true;
      },
      onMessage: () => undefined,
    };
    channels.set(number, channel);
    return new IpcChannel(number, channel, { clock, log });
  };
  const links = Array.from({ length: count }, (_, number) => linkOf(number));
  const cut = (number: number): void => {
    channels.delete(number);
  };
  return { links, api: linkOf(API), lines, cut, sockets };
}
