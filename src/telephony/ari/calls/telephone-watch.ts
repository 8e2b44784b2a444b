// Finds the telephones behind Local channels that we dialled, and subscribes to their events, among them hold. The Dial
// events of the far half name them; where these were missed, and where the dialplan dials Local channels in its turn (ring
// groups), the PBX is asked. Source: asterisk §4.3.

import { z } from 'zod';
import { deadlineSignal } from '../../../std/deadline.ts';
import { bestEffort } from '../rest/best-effort.ts';
import { type AriChannel, type AriEvent, ariChannel } from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import { farHalfOf, type LocalTelephones, nearHalfOf } from './local-telephones.ts';

const LOOK_MS_MAX = 5_000;
/** Local channels in a row, each of which dials the next. */
const DEPTH_MAX = 4;

const channels = z.array(ariChannel);
const variable = z.looseObject({ value: z.string() });

export class TelephoneWatch {
  readonly #peer: AriContext;
  readonly #telephones: LocalTelephones;
  readonly #onFound: (channelId: string) => void;
  /** Our channels whose telephone is being looked for. */
  readonly #sought = new Set<string>();

  /** `onFound`: called with a telephone's channel before its events are subscribed to. */
  constructor(
    peer: AriContext,
    to: { telephones: LocalTelephones; onFound: (channelId: string) => void },
  ) {
    this.#peer = peer;
    this.#telephones = to.telephones;
    this.#onFound = to.onFound;
  }

  /** The dialplan has reached somebody, perhaps for a channel of ours. */
  dialled({ caller, peer, dialstatus }: Extract<AriEvent, { type: 'Dial' }>): void {
    const ours = dialstatus === 'ANSWER' ? nearHalfOf(caller?.id ?? '') : undefined;
    if (ours === undefined) return;
    if (isLocal(peer)) this.#seek(ours, peer);
    else this.#watch(ours, peer);
  }

  /** A call that we dialled was answered: its Dial events may have been missed. */
  answered(channel: AriChannel): void {
    const isKnown = this.#telephones.behind(channel.id) !== undefined;
    if (isLocal(channel) && !isKnown) this.#seek(channel.id, channel);
  }

  #watch(ours: string, telephone: AriChannel): void {
    this.#telephones.note(ours, telephone.id);
    this.#onFound(telephone.id);
    const path = `applications/${encodeURIComponent(this.#peer.account.app)}/subscription`;
    const query = { eventSource: `channel:${telephone.id}` };
    void bestEffort(this.#peer, { action: 'subscribe', method: 'POST', path, query });
  }

  /** Looks for the telephone behind `local`. */
  #seek(ours: string, local: AriChannel): void {
    if (this.#sought.has(ours)) return;
    this.#sought.add(ours);
    const { clock, log } = this.#peer;
    const deadline = deadlineSignal(clock, LOOK_MS_MAX, 'look for a telephone');
    void this.#found(local, deadline.signal)
      .then((telephone) => telephone && this.#watch(ours, telephone))
      .catch((error: unknown) => log.debug({ err: error }, 'telephone of a call not found'))
      .finally(() => {
        this.#sought.delete(ours);
        deadline.done();
      });
  }

  async #found(local: AriChannel, signal: AbortSignal): Promise<AriChannel | undefined> {
    const { client } = this.#peer;
    const request = { action: 'look', method: 'GET', path: 'channels' } as const;
    const all = await client.get(request, channels, signal);
    let near: AriChannel | undefined = local;
    for (let depth = 0; near !== undefined && isLocal(near) && depth < DEPTH_MAX; depth++) {
      const farName = farHalfOf(near.name.replace(/;1$/, ''));
      const far = all.find(({ name }) => name === farName);
      const dialled = far && (await this.#dialledBy(far.id, signal));
      near = all.find(({ name }) => name === dialled);
    }
    return near !== undefined && isLocal(near) ? undefined : near;
  }

  /** Name of the channel that a channel's dialplan has reached. */
  async #dialledBy(id: string, signal: AbortSignal): Promise<string | undefined> {
    const path = `channels/${encodeURIComponent(id)}/variable`;
    const query = { variable: 'DIALEDPEERNAME' };
    const request = { action: 'look', method: 'GET', path, query } as const;
    const { status, body } = await this.#peer.client.send(request, signal);
    return status === 200 ? variable.safeParse(body).data?.value : undefined;
  }
}

function isLocal({ name }: AriChannel): boolean {
  return name.startsWith('Local/');
}
