// Messages between call workers of different gateways, which have no bus of their own: the API processes relay them. A
// worker is addressed by its name in the store. A message that may be lost is reported to the workers, and so is a
// gateway that comes or goes.

import { z } from 'zod';
import type { IpcChannel } from './ipc-channel.ts';
import { API, gatewayOfNode, workerOfNode } from './ipc-message.ts';

/** Longest deadline of a request. */
const ASK_MS_MAX = 10_000;

const topic = z.enum(['pbx-event', 'pbx-report', 'pbx-ask']);
const remoteMessage = z.object({ from: z.string(), to: z.string(), topic, body: z.unknown() });
const remoteRequest = remoteMessage.extend({ ms: z.number().positive().max(ASK_MS_MAX) });
const gatewayNotice = z.object({
  gateway: z.string(),
  /** `unsent`: it can be reached, but may have missed a message. */
  is: z.enum(['gone', 'back', 'unsent']),
});

export type RemoteTopic = z.infer<typeof topic>;
export type RemoteMessage = z.infer<typeof remoteMessage>;
export type GatewayNotice = z.infer<typeof gatewayNotice>;

/** The end at a call worker. */
export class RemoteMessages {
  readonly #link: IpcChannel;
  readonly #own: string;

  /** `own`: name of this worker in the store. */
  constructor(link: IpcChannel, own: string) {
    this.#link = link;
    this.#own = own;
  }

  /** Sets the receivers. */
  take(receivers: {
    onMessage(message: RemoteMessage): void;
    answer(message: RemoteMessage): Promise<unknown>;
    onNotice(notice: GatewayNotice): void;
  }): void {
    const link = this.#link;
    link.onNotification('remote-note', (body) => receivers.onMessage(remoteMessage.parse(body)));
    link.onRequest('remote-ask', (body) => receivers.answer(remoteRequest.parse(body)));
    link.onNotification('remote-gateway', (body) => receivers.onNotice(gatewayNotice.parse(body)));
  }

  /** Sends a one-way message. False if this gateway's API process cannot be reached. */
  send(to: string, topic: RemoteTopic, body: unknown): boolean {
    return this.#link.notify(API, 'remote-note', { from: this.#own, to, topic, body });
  }

  /** Sends a request. Throws as `IpcChannel.request`. */
  ask(
    to: string,
    topic: RemoteTopic,
    { body, ms }: { body: unknown; ms: number },
  ): Promise<unknown> {
    return this.#link.request(API, 'remote-ask', { from: this.#own, to, topic, body, ms }, ms);
  }
}

/** Relays these messages, at the API process. The returned function reports the state of another gateway to the workers.
 *  `workers`: numbers of those that run. */
export function relayRemoteMessages(
  bus: IpcChannel<string>,
  link: IpcChannel,
  workers: () => readonly number[],
): (notice: GatewayNotice) => void {
  const notify = (notice: GatewayNotice): void => {
    for (const worker of workers()) link.notify(worker, 'remote-gateway', notice);
  };
  link.onNotification('remote-note', (body) => {
    const message = remoteMessage.parse(body);
    const gateway = gatewayOfNode(message.to);
    if (!bus.notify(gateway, 'remote-note', message)) notify({ gateway, is: 'unsent' });
  });
  link.onRequest('remote-ask', (body) => {
    const wanted = remoteRequest.parse(body);
    return bus.request(gatewayOfNode(wanted.to), 'remote-ask', wanted, wanted.ms);
  });
  bus.onNotification('remote-note', (body) => {
    const message = remoteMessage.parse(body);
    link.notify(receiverOf(message), 'remote-note', message);
  });
  bus.onRequest('remote-ask', (body) => {
    const wanted = remoteRequest.parse(body);
    return link.request(receiverOf(wanted), 'remote-ask', wanted, wanted.ms);
  });
  return notify;
}

function receiverOf({ to }: RemoteMessage): number {
  const worker = workerOfNode(to);
  if (worker === undefined) throw new Error('message to a process that is no call worker');
  return worker;
}
