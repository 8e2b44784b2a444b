// Publishing and subscribing over Redis: one connection for commands, one for the subscriptions. Redis may be away at
// any moment: nothing waits for it longer than COMMAND_MS_MAX, nothing is queued or repeated, and both connections come
// back by themselves. Needs Redis 6 or newer, or Valkey.

import { Redis } from 'ioredis';
import type { Log } from '../../log.ts';
import { redisUp } from '../../metrics/metrics.ts';
import type { Clock, Timer } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';

/** Deadline of a command. A command that is late may still be carried out. */
const COMMAND_MS_MAX = 250;
/** Silence of a server with commands to answer, after which the connection is given up: the server is stopped. */
const SOCKET_MS_MAX = 3_000;
const CONNECT_MS_MAX = 1_000;
/** Begin of TCP keep-alive: finds servers whose machine is gone. */
const KEEP_ALIVE_MS = 1_000;
/** Wait before the first and before a later attempt to connect. */
const RETRY_MS = { first: 50, most: 1_000 };
/** Interval of messages to ourselves: a subscription has no other sign of life. */
const HEARTBEAT_MS = 1_000;
/** Their interval while Redis is away, and the time without commands after one has failed. */
const PROBE_MS = 500;
/** Missed heartbeats after which the subscribing connection is renewed. */
const MISSED_MAX = 3;
/** Messages, and bytes of messages, that wait for the answer of Redis; with more it is too slow. */
const PENDING_MAX = 10_000;
const PENDING_BYTES_MAX = 64 * 1_048_576;
/** Characters of an error that are logged. */
const FAULT_LENGTH_MAX = 200;

export interface RedisPubSubOptions {
  /** `redis://` or `rediss://`, with user, password and database. Never logged. */
  url: string;
  /** Channels to receive. */
  channels: readonly string[];
  clock: Clock;
  random: Random;
  log: Log;
}

export class RedisPubSub {
  /** Receiver of the messages of our channels. */
  onMessage: (payload: Buffer) => void = () => undefined;
  /** Called when Redis comes and goes. */
  onState: (isUp: boolean) => void = () => undefined;
  readonly #options: RedisPubSubOptions;
  readonly #commands: Redis;
  readonly #subscriber: Redis;
  /** Channel of our own heartbeats. */
  readonly #heartbeats: string;
  /** `unknown`: before the first connection. */
  #state: 'unknown' | 'up' | 'away' = 'unknown';
  /** Whether the last command failed: no other one is sent until a heartbeat succeeds. */
  #isBroken = false;
  #missed = 0;
  #pending = 0;
  #pendingBytes = 0;
  #timer: Timer | undefined;
  /** Text of the last error of a connection. */
  #fault: string | undefined;

  constructor(options: RedisPubSubOptions) {
    this.#options = options;
    this.#heartbeats = `pb:heartbeat:${options.random.uuid()}`;
    const common = this.#connectionOptions();
    this.#commands = new Redis(options.url, {
      ...common,
      commandTimeout: COMMAND_MS_MAX,
      socketTimeout: SOCKET_MS_MAX,
    });
    this.#subscriber = new Redis(options.url, common);
    redisUp.set({ kind: 'messages' }, 0);
  }

  /** Whether messages go out and come in. */
  get isUp(): boolean {
    return this.#state === 'up' && !this.#isBroken;
  }

  /** Begins to connect. `start` does not wait: Redis may be away. */
  start(): void {
    for (const redis of [this.#commands, this.#subscriber]) {
      redis.on('error', (error: unknown) => this.#noteError(error));
      redis.on('close', () => {
        if (this.#state === 'up') this.#noteAway('the connection was closed');
      });
      redis.on('ready', () => {
        this.#missed = 0;
        this.#beatSoon(0);
      });
    }
    const { channels } = this.#options;
    this.#subscriber.on('ready', () => {
      this.#subscriber.subscribe(this.#heartbeats, ...channels).catch((error: unknown) => {
        this.#noteError(error);
        this.#subscriber.disconnect(true);
      });
    });
    this.#subscriber.on('messageBuffer', (channel: Buffer, payload: Buffer) => {
      if (channel.toString() === this.#heartbeats) this.#noteHeartbeat();
      else this.onMessage(payload);
    });
    for (const redis of [this.#commands, this.#subscriber]) {
      redis.connect().catch(() => undefined); // `error` reports it, and the connection is tried again.
    }
    this.#beatSoon(PROBE_MS);
  }

  /** Publishes a message. Returns the number of receivers, or undefined if Redis has not taken it in time; it may still
   *  be sent then. Never rejects. */
  async publish(channel: string, payload: Buffer): Promise<number | undefined> {
    if (!this.isUp) return undefined;
    return this.#publish(channel, payload);
  }

  close(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    for (const redis of [this.#commands, this.#subscriber]) {
      redis.removeAllListeners('close').removeAllListeners('ready');
      redis.disconnect();
    }
  }

  #connectionOptions() {
    const { url, random } = this.#options;
    const { hostname, protocol } = new URL(url);
    return {
      lazyConnect: true,
      enableOfflineQueue: false,
      autoResendUnfulfilledCommands: false,
      autoResubscribe: false,
      maxRetriesPerRequest: 0,
      connectTimeout: CONNECT_MS_MAX,
      keepAlive: KEEP_ALIVE_MS,
      connectionName: 'patchbay',
      disableClientInfo: true,
      retryStrategy: (attempt: number) => {
        const ms = Math.min(RETRY_MS.first * 2 ** attempt, RETRY_MS.most);
        return ms / 2 + random.integer(ms / 2); // Gateways that lost one Redis come back at different times.
      },
      ...(protocol === 'rediss:' && { tls: { servername: hostname } }),
    };
  }

  async #publish(channel: string, payload: Buffer): Promise<number | undefined> {
    const bytes = payload.length;
    if (this.#pending >= PENDING_MAX || this.#pendingBytes + bytes > PENDING_BYTES_MAX) {
      return undefined;
    }
    this.#pending += 1;
    this.#pendingBytes += bytes;
    try {
      const receivers = await this.#commands.publish(channel, payload);
      if (channel === this.#heartbeats) this.#isBroken = false;
      return receivers;
    } catch {
      this.#isBroken = true; // Whatever the reason; a heartbeat tries again.
      this.#beatSoon(PROBE_MS);
      return undefined;
    } finally {
      this.#pending -= 1;
      this.#pendingBytes -= bytes;
    }
  }

  #beatSoon(ms: number): void {
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(ms, () => this.#beat());
  }

  /** Sends a heartbeat. Missed ones are counted and not timed: a process that stood still has read none. */
  #beat(): void {
    if (this.#missed >= MISSED_MAX) {
      this.#missed = 0;
      this.#noteAway(this.#fault ?? 'no heartbeat');
      this.#subscriber.disconnect(true);
    }
    this.#missed += 1;
    this.#beatSoon(this.isUp ? HEARTBEAT_MS : PROBE_MS);
    void this.#publish(this.#heartbeats, Buffer.alloc(0));
  }

  #noteHeartbeat(): void {
    this.#missed = 0;
    this.#fault = undefined;
    if (this.#state === 'up') return;
    this.#options.log.info(this.#state === 'away' ? 'Redis is back' : 'Redis is connected');
    this.#state = 'up';
    redisUp.set({ kind: 'messages' }, 1);
    this.onState(true);
  }

  #noteAway(reason: string): void {
    if (this.#state === 'away') return;
    const wasUp = this.#state === 'up';
    this.#state = 'away';
    redisUp.set({ kind: 'messages' }, 0);
    this.#options.log.warn({ reason }, 'Redis is away: this gateway acts alone until it is back');
    if (wasUp) this.onState(false);
  }

  /** Keeps the text only: errors of Redis have the command with them, and AUTH has the password. */
  #noteError(error: unknown): void {
    this.#fault = error instanceof Error ? error.message.slice(0, FAULT_LENGTH_MAX) : undefined;
  }
}
