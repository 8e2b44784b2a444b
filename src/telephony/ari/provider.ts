// Asterisk as a telephony provider: connections that we hold, over ARI. Source: asterisk.md; contract §7.5.

import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { PbxProvider } from '../provider.ts';
import { createRest } from '../rest.ts';
import { type AriAccount, accountOf } from './account.ts';
import { socketCarriers } from './carriers.ts';
import { createAriClient, httpCarrier } from './client.ts';
import { AriConnection } from './connection.ts';
import { type AriReach, createAriControl } from './control.ts';
import { EventSocket } from './event-socket.ts';
import { createIds } from './ids.ts';
import { legOpener } from './leg.ts';
import { SocketDoor } from './media-door.ts';

/** Asterisk itself has no limit; ours is the workflow's. */
const CALL_S_MAX = 86_400;

export function createAriProvider(options: { clock: Clock; random: Random }): PbxProvider {
  const { clock, random } = options;
  const rest = createRest({ provider: 'ari', clock });
  const door = new SocketDoor();
  const openLeg = legOpener(socketCarriers(door));
  /** By Stasis application. */
  const connections = new Map<string, AriConnection>();

  function reach(account: AriAccount): AriReach {
    const connection = connections.get(account.app);
    const client = connection?.client ?? clientOf(account);
    return { account, client, ids: createIds(account.app, random), connection };
  }

  const clientOf = (account: AriAccount) => createAriClient(() => httpCarrier(rest, account));

  return {
    name: 'ari',
    capabilities: {
      answerStyle: 'event',
      digitsIn: true,
      digitsOut: 'rest',
      answeringMachine: false,
      transfer: ['cold', 'refer'],
      transferAwaits: 'answer',
      closeEndsCall: true,
      idempotentDial: true,
      callS: { max: CALL_S_MAX },
    },
    formatAddress: (addressNormalized) => addressNormalized,
    control: createAriControl(reach),
    pbx: {
      connect({ credentials }, { listener, log }) {
        const account = accountOf(credentials);
        const connection: AriConnection = new AriConnection({
          account,
          client: clientOf(account),
          listener,
          openLeg,
          openSocket: (socketListener) =>
            new EventSocket({ account, clock, random, listener: socketListener }),
          clock,
          random,
          log,
          onClosed: () => {
            if (connections.get(account.app) === connection) connections.delete(account.app);
          },
        });
        connections.set(account.app, connection);
        return connection;
      },

      takeSocket: (socket) => door.take(socket),

      examine: () => Promise.resolve([]),
    },
  };
}
