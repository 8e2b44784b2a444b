// Transport of the inter-process channel between gateways: Redis publishes each message to the channel of the gateway
// that it is addressed to, or to that of all. Every message carries a proof that its sender has our keys: a client that
// reaches Redis could otherwise hang up calls. The proof hides nothing; `rediss` and a password do.

import { createHmac, timingSafeEqual } from 'node:crypto';
import { deserialize, serialize } from 'node:v8';
import type { Log } from '../log.ts';
import { gatewayMessages } from '../metrics/metrics.ts';
import type { Clock } from '../std/clock.ts';
import type { RedisPubSub } from '../store/shared/redis-pub-sub.ts';
import type { IpcTransport } from './ipc-channel.ts';
import {
  ALL_GATEWAYS,
  gatewayMessage,
  type IpcHandle,
  type IpcMessage,
  readMessage,
} from './ipc-message.ts';

/** Largest body of a message between gateways. Webhooks have a few kilobytes; a larger one is handled where it came
 *  in. Redis disconnects a subscriber with 8 MB in its queue. */
export const GATEWAY_BYTES_MAX = 512 * 1_024;
/** Largest message as it is sent: characters take up to two bytes, and each value a few more. */
const SEALED_BYTES_MAX = 4 * GATEWAY_BYTES_MAX;
/** Bytes of the proof, HMAC-SHA-256 cut to 128 bits. */
const PROOF_BYTES = 16;
/** Interval of log lines about refused messages, which anybody at Redis can send. */
const REFUSED_LOG_MS = 60_000;

export interface RedisTransportOptions {
  redis: Pick<RedisPubSub, 'publish' | 'isUp' | 'onMessage'>;
  /** Name of this gateway. */
  gateway: string;
  /** Prefix of the channels: gateways with different ones do not meet. */
  prefix: string;
  /** Keys of the proof: the first proves, all verify. */
  keys: readonly Buffer[];
  clock: Clock;
  log: Log;
}

/** Channels that a gateway receives. */
export function channelsOf(prefix: string, gateway: string): string[] {
  return [channelOf(prefix, gateway), channelOf(prefix, ALL_GATEWAYS)];
}

function channelOf(prefix: string, gateway: string): string {
  return gateway === ALL_GATEWAYS ? `${prefix}:all` : `${prefix}:node:${gateway}`;
}

export class RedisTransport implements IpcTransport<string> {
  onMessage: IpcTransport<string>['onMessage'] = () => undefined;
  /** Called with a gateway that has perhaps not received a one-way message which `send` took. */
  onUnsent: (gateway: string) => void = () => undefined;
  readonly #options: RedisTransportOptions;
  #refusedAtMs = Number.NEGATIVE_INFINITY;

  constructor(options: RedisTransportOptions) {
    this.#options = options;
    options.redis.onMessage = (sealed) => this.#take(sealed);
  }

  /** Sends a message; throws if it cannot be serialized. A request that nobody receives fails at once. */
  send(message: IpcMessage<string>, handle: IpcHandle | undefined): boolean {
    const { redis, prefix } = this.#options;
    if (handle !== undefined) throw new Error('a connection cannot be passed to another gateway');
    const sealed = this.#seal(serialize(message));
    if (!redis.isUp || sealed.length > SEALED_BYTES_MAX) {
      gatewayMessages.inc({ result: 'unsent' });
      return false;
    }
    void redis.publish(channelOf(prefix, message.to), sealed).then((receivers) => {
      gatewayMessages.inc({ result: receivers === undefined ? 'unsent' : 'sent' });
      if (receivers) return;
      if (message.kind === 'request') this.#fail(message);
      else if (message.to !== ALL_GATEWAYS) this.onUnsent(message.to);
    });
    return true;
  }

  /** Reports that the other gateway is not there. */
  #fail({ from, to, id }: Extract<IpcMessage<string>, { kind: 'request' }>): void {
    const facts = { worker: to };
    const route = { from: to, to: from, bytes: 0, id };
    this.onMessage({ kind: 'failure', ...route, code: 'WORKER_GONE', facts }, undefined);
  }

  #take(sealed: Buffer): void {
    const { gateway, log } = this.#options;
    const text = this.#open(sealed);
    if (text === undefined) {
      this.#refuse('a message without our proof was refused');
      return;
    }
    const message = readMessage(gatewayMessage, text, { log });
    if (message === undefined) {
      gatewayMessages.inc({ result: 'refused' });
      return;
    }
    if (message.from === gateway || (message.to !== gateway && message.to !== ALL_GATEWAYS)) return;
    gatewayMessages.inc({ result: 'received' });
    this.onMessage(message, undefined);
  }

  #seal(text: Buffer): Buffer {
    const [key = Buffer.alloc(0)] = this.#options.keys;
    return Buffer.concat([proofOf(key, text), text]);
  }

  /** The content; undefined if it has no proof by one of our keys. Nothing is deserialized before. */
  #open(sealed: Buffer): unknown {
    if (sealed.length <= PROOF_BYTES || sealed.length > SEALED_BYTES_MAX) return undefined;
    const proof = sealed.subarray(0, PROOF_BYTES);
    const text = sealed.subarray(PROOF_BYTES);
    const isOurs = this.#options.keys.some((key) => timingSafeEqual(proofOf(key, text), proof));
    try {
      return isOurs ? deserialize(text) : undefined;
    } catch {
      return undefined; // A gateway with another version of V8.
    }
  }

  #refuse(text: string): void {
    const { clock, log } = this.#options;
    gatewayMessages.inc({ result: 'refused' });
    const nowMs = clock.monotonicMs();
    if (nowMs - this.#refusedAtMs < REFUSED_LOG_MS) return;
    this.#refusedAtMs = nowMs;
    log.warn(text);
  }
}

function proofOf(key: Buffer, text: Buffer): Buffer {
  return createHmac('sha256', key).update(text).digest().subarray(0, PROOF_BYTES);
}
