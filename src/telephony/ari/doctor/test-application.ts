// The doctor's own Stasis application for the time of a check. Everything it creates is removed with it, as is what an
// earlier one of a killed process left.

import { z } from 'zod';
import { parseJson } from '../../../std/json.ts';
import type { ConnectionFault } from '../connection/connection-fault.ts';
import { EventSocket } from '../connection/event-socket.ts';
import { hangUpChannel } from '../rest/best-effort.ts';
import { createChannelIds } from '../rest/channel-ids.ts';
import type { AriClient } from '../rest/client.ts';
import type { AriAccount } from '../rest/config.ts';
import { type AriEvent, ariEvent, channelOf } from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import type { CheckContext } from './check.ts';

/** Leftovers of killed processes that are removed. */
const LEFT_MAX = 100;

export interface TestApplication {
  peer: AriContext;
  /** The id for a new channel, which ends with the test application. `d`: a test call to a number. */
  channelId(kind?: 'm' | 'd'): string;
  /** Removes everything that was created. Never rejects. */
  close(): Promise<void>;
}

const application = z.looseObject({
  channel_ids: z.array(z.string()).catch([]),
  bridge_ids: z.array(z.string()).catch([]),
});

/** The event websocket could not be opened. */
export class EventsUnavailable extends Error {
  readonly fault: ConnectionFault;

  constructor(fault: ConnectionFault) {
    super(fault.message);
    this.fault = fault;
  }
}

/** Uses the existing connection: where Asterisk opens the connection, there is no other. */
export function testOnConnection(context: CheckContext, peer: AriContext): TestApplication {
  return bedOf(context, peer, () => undefined);
}

/** Opens an event websocket of its own. `client`: of the same account. Throws EventsUnavailable, and the error of the
 *  deadline. */
export async function openTestApplication(
  context: CheckContext,
  version: string,
  signal: AbortSignal,
): Promise<TestApplication> {
  const { clock, random, log, client } = context;
  const account: AriAccount = { ...context.account, app: `${context.account.app}_doctor` };
  const watchers = new Map<string, (event: AriEvent) => void>();
  const ids = createChannelIds(account.app, random);
  const socket = await openEvents(context, account, { watchers, signal });
  const peer: AriContext = {
    account,
    client,
    ids,
    clock,
    random,
    log,
    version,
    state: { kind: 'up', version },
    watch(channelId, take) {
      watchers.set(channelId, take);
      return () => watchers.delete(channelId);
    },
  };
  try {
    await clearLeft(client, peer, signal);
  } catch (error) {
    socket.close();
    throw error;
  }
  return bedOf(context, peer, () => socket.close());
}

function openEvents(
  { egress, clock, random }: CheckContext,
  account: AriAccount,
  open: { watchers: ReadonlyMap<string, (event: AriEvent) => void>; signal: AbortSignal },
): Promise<EventSocket> {
  return new Promise((resolve, reject) => {
    const giveUp = (error: Error): void => {
      socket.close();
      reject(error);
    };
    const socket: EventSocket = new EventSocket({
      account,
      egress,
      clock,
      random,
      listener: {
        onOpen: () => resolve(socket),
        onDown: (fault) => giveUp(new EventsUnavailable(fault)),
        onMessage: (text) => {
          const event = ariEvent.safeParse(parseJson(text)).data;
          const channel = event === undefined ? undefined : channelOf(event);
          if (event !== undefined && channel !== undefined) open.watchers.get(channel.id)?.(event);
        },
      },
    });
    const { signal } = open;
    signal.addEventListener('abort', () => giveUp(signal.reason as Error), { once: true });
  });
}

function bedOf(context: CheckContext, peer: AriContext, closeSocket: () => void): TestApplication {
  const made: string[] = [];
  return {
    peer,
    channelId(kind = 'm') {
      const id = peer.ids.make(kind);
      made.push(id);
      return id;
    },
    async close() {
      // Does not depend on the check's deadline.
      await Promise.all(made.map((id) => hangUpChannel(context, id)));
      closeSocket();
    },
  };
}

async function clearLeft(client: AriClient, peer: AriContext, signal: AbortSignal): Promise<void> {
  const path = `applications/${encodeURIComponent(peer.account.app)}`;
  const request = { action: 'application', method: 'GET', path } as const;
  const left = await client.get(request, application, signal);
  const paths = [
    ...left.channel_ids
      .filter((id) => peer.ids.kindOf(id) !== undefined)
      .map((id) => `channels/${id}`),
    ...left.bridge_ids
      .filter((id) => peer.ids.kindOf(id) !== undefined)
      .map((id) => `bridges/${id}`),
  ];
  for (const each of paths.slice(0, LEFT_MAX)) {
    await client.send({ action: 'tidy', method: 'DELETE', path: each }, signal);
  }
}
