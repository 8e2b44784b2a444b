// Watches whether a connection that Asterisk opened still has its Stasis application. Asterisk registers the
// application once, when it reads ari.conf; another program that connects as the application takes it, without an
// event, and takes it along when it leaves. So the gateway sends a user event to the application and waits for its
// arrival. Source: asterisk §4; res/ari/ari_websockets.c and res/res_stasis.c of 22.10.1; observed.

import { z } from 'zod';
import { codeOf } from '../../../errors/gateway-error.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { deadlineSignal } from '../../../std/deadline.ts';
import { parseJson } from '../../../std/json.ts';
import type { Random } from '../../../std/random.ts';
import { type AriRequestTransport, isAriNotFound } from '../rest/client.ts';

/** Pause before the first request. Asterisk buffers data that arrives with the answer to its upgrade, and does not
 *  process it until more data arrives: a first request would never be answered. Source: res/ari/ari_websockets.c and
 *  main/iostream.c of 22.10.1; observed. */
const SETTLE_MS = 300;
/** Longest time from the first request of a connection to its event. An idle Asterisk needs 5 ms. */
const FIRST_ARRIVAL_MS_MAX = 2_000;
/** The same limit for later events, as long as that of any other request: calls of the connection continue without the
 *  application, Asterisk processes requests one after the other, and creating a media channel takes seconds. */
const ARRIVAL_MS_MAX = 10_000;
/** Pause between two looks while the application is taken: an administrator who has returned it expects calls at
 *  once. */
const TAKEN_LOOK_MS = 5_000;
/** Pause before the first such look. It is shorter, as Asterisk may be reading its configuration files. */
const FIRST_TAKEN_LOOK_MS = 1_000;
/** Pause between two looks otherwise. Calls stay unanswered for at most this long after the application was taken
 *  without an event. */
const LOOK_MS = 30_000;
/** Random bytes of an event's name: 128 bits, so that no other program sends the same one. */
const NAME_BYTES = 16;

const userEvent = z.looseObject({ type: z.literal('ChannelUserevent'), eventname: z.string() });

export interface ApplicationWatchOptions {
  app: string;
  rest: AriRequestTransport;
  clock: Clock;
  random: Random;
  /** This connection has the application, or its state is unknown: then the next requests fail with the reason. */
  onOurs: () => void;
  /** Asterisk sends the application's events to another client, or to none. */
  onTaken: () => void;
}

export class ApplicationWatch {
  readonly #options: ApplicationWatchOptions;
  readonly #abort = new AbortController();
  #state: 'unknown' | 'ours' | 'taken' = 'unknown';
  #timer: Timer;
  #awaited: { name: string; arrived: () => void } | undefined;

  /** Begins to watch. To be called when the connection can be used. */
  constructor(options: ApplicationWatchOptions) {
    this.#options = options;
    this.#timer = this.#lookAfter(SETTLE_MS);
  }

  /** Whether the message was the awaited event. */
  take(text: string): boolean {
    const awaited = this.#awaited;
    if (awaited === undefined || !text.includes(awaited.name)) return false;
    const event = userEvent.safeParse(parseJson(text));
    if (event.data?.eventname !== awaited.name) return false;
    awaited.arrived();
    return true;
  }

  /** Asterisk reports that the application is replaced. It sends this before it does so, and also where the new client
   *  is this connection. */
  replaced(): void {
    this.#state = 'taken';
    this.#timer.cancel();
    this.#awaited = undefined;
    this.#timer = this.#lookAfter(SETTLE_MS);
  }

  stop(): void {
    this.#timer.cancel();
    this.#abort.abort();
  }

  #lookAfter(ms: number): Timer {
    const timer = this.#options.clock.after(ms, () => void this.#look(timer));
    return timer;
  }

  async #look(timer: Timer): Promise<void> {
    const has = await this.#hasApplication();
    if (this.#abort.signal.aborted || timer !== this.#timer) return; // Another look has begun.
    const before = this.#state;
    this.#state = has ? 'ours' : 'taken';
    const pauseMs = before === 'taken' ? TAKEN_LOOK_MS : FIRST_TAKEN_LOOK_MS;
    this.#timer = this.#lookAfter(has ? LOOK_MS : pauseMs);
    if (this.#state === before) return;
    if (has) this.#options.onOurs();
    else this.#options.onTaken();
  }

  /** Whether the event arrived. Also true if the requests fail, which proves nothing. Never rejects. */
  async #hasApplication(): Promise<boolean> {
    const { app, rest, clock, random } = this.#options;
    const name = `patchbay-probe-${random.bytes(NAME_BYTES).toString('hex')}`;
    const arrived = new Promise<void>((resolve) => {
      this.#awaited = { name, arrived: resolve };
    });
    const msMax = this.#state === 'unknown' ? FIRST_ARRIVAL_MS_MAX : ARRIVAL_MS_MAX;
    const { signal, done } = deadlineSignal(clock, msMax, 'look for it', this.#abort.signal);
    try {
      // Sent first: for an event to an application that does not exist, Asterisk writes a warning into its log.
      const path = `applications/${encodeURIComponent(app)}`;
      const found = await rest.send({ action: 'application', method: 'GET', path }, signal);
      if (found.status !== 200) return !isAriNotFound(found);
      const event = { path: `events/user/${name}`, query: { application: app } };
      const sent = await rest.send({ action: 'probe', method: 'POST', ...event }, signal);
      if (sent.status > 299) return !isAriNotFound(sent);
      return await beforeAbort(arrived, signal);
    } catch (error) {
      // There was no answer: Asterisk drops answers, like events, for an application that is not registered.
      return codeOf(error) === 'PROVIDER_CAPACITY';
    } finally {
      done();
    }
  }
}

async function beforeAbort(arrived: Promise<void>, signal: AbortSignal): Promise<boolean> {
  return await new Promise((resolve) => {
    signal.addEventListener('abort', () => resolve(false), { once: true });
    if (signal.aborted) resolve(false);
    void arrived.then(() => resolve(true));
  });
}
