// Gateways on one bus without Redis: each message goes through the format in which gateways send them, at once.

import { deserialize, serialize } from 'node:v8';
import { IpcChannel, type IpcTransport } from '../../src/cluster/ipc-channel.ts';
import { ALL_GATEWAYS, type IpcMessage } from '../../src/cluster/ipc-message.ts';
import type { Log } from '../../src/log.ts';
import type { Clock } from '../../src/std/clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';

export interface LinkedGateways {
  log: Log;
  lines: () => Record<string, unknown>[];
  /** Every message on the bus. */
  sent: IpcMessage<string>[];
  /** Adds a gateway, or one that has the name of an earlier one. */
  join(name: string): IpcChannel<string>;
  /** The gateway is gone without a word. */
  cut(name: string): void;
}

export function linkedGateways(clock: Clock): LinkedGateways {
  const { log, lines } = quietLog();
  const transports = new Map<string, IpcTransport<string>>();
  const sent: IpcMessage<string>[] = [];

  function join(name: string): IpcChannel<string> {
    const transport: IpcTransport<string> = {
      send(message) {
        if (transports.get(name) !== transport) return false;
        sent.push(message);
        const to = [...transports].filter(
          ([other]) => other !== name && [other, ALL_GATEWAYS].includes(message.to),
        );
        for (const [, each] of to) each.onMessage(deserialize(serialize(message)), undefined);
        return to.length > 0;
      },
      onMessage: () => undefined,
    };
    transports.set(name, transport);
    return new IpcChannel(name, transport, { clock, log });
  }

  return { log, lines, sent, join, cut: (name) => void transports.delete(name) };
}
