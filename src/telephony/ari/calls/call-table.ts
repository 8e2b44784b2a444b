// The calls of one Stasis application, and the watchers of single channels. They outlive a connection: when a
// configuration changes, the calls go on over its new connection.

import type { AriEvent } from '../rest/messages.ts';
import type { AriCall } from './ari-call.ts';
import { LocalTelephones } from './local-telephones.ts';

/** Channels of ended calls, ended channels, and callers sent to the dialplan that are remembered: a channel that comes
 *  back is not a new call, nor is a late event one, and a late request must not end a call that is not ours. */
const NOTED_MAX = 1_000;

export class CallTable {
  /** Calls by their id. */
  readonly calls = new Map<string, AriCall>();
  readonly telephones = new LocalTelephones();
  /** Calls whose first channel was replaced, by their current channel. */
  readonly #moved = new Map<string, AriCall>();
  readonly #watchers = new Map<string, (event: AriEvent) => void>();
  readonly #destroyed = new Set<string>();
  readonly #sentAway = new Set<string>();
  readonly #past = new Set<string>();

  /** Ids of the watched channels. */
  get watched(): string[] {
    return [...this.#watchers.keys()];
  }

  /** Channels of the calls' parties and of the telephones behind them. */
  get channels(): string[] {
    const parties = [...this.calls.values()].flatMap(({ channelId, transferredTo }) => [
      channelId,
      ...(transferredTo === undefined ? [] : [transferredTo.channelId]),
    ]);
    return [...parties, ...this.telephones.all];
  }

  get isEmpty(): boolean {
    return this.calls.size + this.#watchers.size === 0;
  }

  /** The call that has the channel. */
  onChannel(channelId: string): AriCall | undefined {
    const call = this.#moved.get(channelId) ?? this.calls.get(channelId);
    return call?.channelId === channelId ? call : undefined;
  }

  /** One channel replaces another. Returns the call that continues with it; undefined if `before` was neither the other
   *  party nor the destination of a transfer. */
  replace(before: string, after: string): AriCall | undefined {
    const call = this.onChannel(before);
    if (call !== undefined) {
      this.#moved.delete(before);
      this.#moved.set(after, call);
      call.moveTo(after);
      return call;
    }
    const [transferred] = this.handedTo(before);
    const handedTo = transferred?.transferredTo;
    if (transferred === undefined || handedTo === undefined) return undefined;
    transferred.transferredTo = { ...handedTo, channelId: after };
    return transferred;
  }

  /** Removes the call. False if it was removed before. */
  remove(call: AriCall): boolean {
    this.#moved.delete(call.channelId);
    if (!this.calls.delete(call.id)) return false;
    note(this.#past, call.id);
    return true;
  }

  /** Whether the channel had a call that is over. */
  wasOurs(id: string): boolean {
    return this.#past.has(id);
  }

  watch(id: string, take: (event: AriEvent) => void): () => void {
    this.#watchers.set(id, take);
    return () => this.#watchers.delete(id);
  }

  /** Passes the event to the channel's watcher. False if it has none. */
  dispatch(id: string, event: AriEvent): boolean {
    const take = this.#watchers.get(id);
    take?.(event);
    return take !== undefined;
  }

  /** Whether a channel or bridge belongs to a current call, or to one that is being joined. */
  owns(id: string): boolean {
    if (this.calls.has(id) || this.#moved.has(id) || this.#watchers.has(id)) return true;
    return [...this.calls.values()].some((call) => call.owns(id));
  }

  handedTo(channelId: string): AriCall[] {
    return [...this.calls.values()].filter((call) => call.transferredTo?.channelId === channelId);
  }

  destroyed(id: string): void {
    note(this.#destroyed, id);
  }

  /** The caller continues in the dialplan without the gateway: we neither report nor hang up the call. */
  sendAway(id: string): void {
    note(this.#sentAway, id);
  }

  keep(id: string): void {
    this.#sentAway.delete(id);
  }

  isSentAway(id: string): boolean {
    return this.#sentAway.has(id);
  }

  isDestroyed(id: string): boolean {
    return this.#destroyed.has(id);
  }
}

function note(ids: Set<string>, id: string): void {
  ids.add(id);
  const [oldest] = ids;
  if (ids.size > NOTED_MAX && oldest !== undefined) ids.delete(oldest);
}
