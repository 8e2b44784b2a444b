// The telephones behind Local channels that we dialled, as by `Local/{number}@from-internal/n`: the dialplan dials them from
// the far half of our channel. Asterisk reports their hold for their own channels alone, and plays its music into ours.
// This file keeps which is behind which; it sends no request. Source: asterisk §4.3.

import type { AriEvent } from '../rest/messages.ts';

/** Telephones that are remembered: as many as channels of one application are checked. */
const TELEPHONES_MAX = 5_000;
/** At the end of the far half's name, and of its id where the id of the half that was dialled is ours. */
const FAR_HALF = ';2';

export class LocalTelephones {
  /** Our channel, by the telephone's. */
  readonly #ours = new Map<string, string>();
  /** The telephone's channel, by ours. */
  readonly #behind = new Map<string, string>();
  readonly #held = new Set<string>();

  /** Channels of the telephones. */
  get all(): string[] {
    return [...this.#ours.keys()];
  }

  note(ours: string, telephone: string): void {
    this.#ours.set(telephone, ours);
    this.#behind.set(ours, telephone);
    const [oldest] = this.#ours.keys();
    if (this.#ours.size > TELEPHONES_MAX && oldest !== undefined) this.#forget(oldest);
  }

  /** The event about our channel that an event of a telephone stands for: the begin or the end of a hold. Undefined for
   *  any other event. */
  translated(event: AriEvent): AriEvent | undefined {
    if (event.type === 'ChannelHold' || event.type === 'ChannelUnhold') {
      const { id } = event.channel;
      if (event.type === 'ChannelUnhold') this.#held.delete(id);
      else if (this.#ours.has(id)) this.#held.add(id);
      return this.#about(event, event.type);
    }
    if (event.type !== 'ChannelDestroyed') return undefined;
    // A telephone that has transferred its call leaves the other party, who is not on hold.
    const wasHeld = this.#held.has(event.channel.id);
    const unhold = wasHeld ? this.#about(event, 'ChannelUnhold') : undefined;
    this.#forget(event.channel.id);
    return unhold;
  }

  /** The telephone behind our channel. */
  behind(channelId: string): string | undefined {
    return this.#behind.get(channelId);
  }

  #about(
    { channel, timestamp, application }: Extract<AriEvent, { channel: unknown }>,
    type: 'ChannelHold' | 'ChannelUnhold',
  ): AriEvent | undefined {
    const id = this.#ours.get(channel.id);
    return id === undefined
      ? undefined
      : { type, timestamp, application, channel: { ...channel, id } };
  }

  #forget(telephone: string): void {
    const ours = this.#ours.get(telephone) ?? '';
    if (this.#behind.get(ours) === telephone) this.#behind.delete(ours);
    this.#ours.delete(telephone);
    this.#held.delete(telephone);
  }
}

/** Id of our half of a Local channel, by that of the far half; undefined for another channel. */
export function nearHalfOf(farId: string): string | undefined {
  return farId.endsWith(FAR_HALF) ? farId.slice(0, -FAR_HALF.length) : undefined;
}

export function farHalfOf(base: string): string {
  return `${base}${FAR_HALF}`;
}
