// After every connection: what Asterisk has of ours, against what we know. Nothing is told again that
// happened meanwhile, and a killed process leaves channels and bridges behind. Source: asterisk.md §0.19.

import { z } from 'zod';
import type { AriCall } from './ari-call.ts';
import { type AriChannel, ariBridge, ariChannel, ariInfo, NOISE } from './messages.ts';
import type { AriPeer } from './peer.ts';

export interface Found {
  version: string | null;
  /** Calls that are over. */
  gone: AriCall[];
  /** Callers who ring and of whom we were not told. */
  ringing: AriChannel[];
  /** Calls that we, or another process of ours, dialled. */
  dialled: AriChannel[];
  /** Ends what belongs to nobody. */
  tidy(): Promise<void>;
}

const application = z.looseObject({
  channel_ids: z.array(z.string()).catch([]),
  bridge_ids: z.array(z.string()).catch([]),
});

/** Requests at a time; a PBX has other things to do. */
const AT_ONCE = 8;
/** Channels of one application that are looked at. */
const CHANNELS_MAX = 5_000;

/** Throws what `AriClient` throws. */
export async function resync(
  peer: AriPeer,
  calls: ReadonlyMap<string, AriCall>,
  signal: AbortSignal,
): Promise<Found> {
  const { client, account, ids } = peer;
  // Those that come meanwhile are told of.
  const known = [...calls.values()].filter(({ isPlaced }) => isPlaced);
  const info = await client.get(
    { action: 'info', method: 'GET', path: 'asterisk/info', query: { only: 'system' } },
    ariInfo,
    signal,
  );
  await setFilter(peer, signal);
  const path = `applications/${encodeURIComponent(account.app)}`;
  const app = await client.get({ action: 'application', method: 'GET', path }, application, signal);
  const listed = [...new Set([...app.channel_ids, ...known.map(({ id }) => id)])].slice(
    0,
    CHANNELS_MAX,
  );
  const channels = new Map<string, AriChannel>();
  await inParallel(listed, async (id) => {
    const channel = await find(peer, `channels/${encodeURIComponent(id)}`, ariChannel, signal);
    if (channel !== undefined) channels.set(id, channel);
  });
  const unknown = [...channels.values()].filter(({ id }) => !calls.has(id));
  const foreign = unknown.filter(({ id }) => ids.kindOf(id) === undefined);
  const kept = await keptBridges(peer, app.bridge_ids, signal);
  return {
    version: info.system?.version ?? null,
    gone: known.filter(({ id }) => !channels.has(id)),
    ringing: foreign.filter(({ state }) => state === 'Ring'),
    dialled: [...channels.values()].filter(({ id }) => ids.kindOf(id) === 'o'),
    tidy: () => {
      const isOfCall = (id: string) => [...calls.values()].some((call) => call.leg?.owns(id));
      const orphans = unknown.filter(({ id, state }) => {
        if (kept.members.has(id) || isOfCall(id)) return false;
        const kind = ids.kindOf(id);
        return kind === 'm' || kind === 't' || (kind === undefined && state === 'Up');
      });
      const bridges = app.bridge_ids.filter(
        (id) => ids.kindOf(id) === 'b' && !kept.bridges.has(id) && !isOfCall(id),
      );
      const paths = [
        ...orphans.map(({ id }) => `channels/${encodeURIComponent(id)}`),
        ...bridges.map((id) => `bridges/${id}`),
      ];
      if (paths.length > 0)
        peer.log.warn({ count: paths.length }, 'left-over parts of calls ended');
      return inParallel(paths, async (each) => {
        await client.ask({ action: 'tidy', method: 'DELETE', path: each }, signal);
      });
    },
  };
}

/** Two people whom we brought together talk on, though we have forgotten them. */
async function keptBridges(
  peer: AriPeer,
  bridgeIds: readonly string[],
  signal: AbortSignal,
): Promise<{ bridges: Set<string>; members: Set<string> }> {
  const bridges = new Set<string>();
  const members = new Set<string>();
  const { ids } = peer;
  const own = bridgeIds.filter((id) => ids.kindOf(id) === 'b');
  await inParallel(own, async (id) => {
    const bridge = await find(peer, `bridges/${id}`, ariBridge, signal);
    const kinds = bridge?.channels.map((channel) => ids.kindOf(channel)) ?? [];
    if (bridge === undefined || !kinds.includes('t') || kinds.includes('m')) return;
    if (bridge.channels.length < 2) return;
    bridges.add(id);
    for (const channel of bridge.channels) members.add(channel);
  });
  return { bridges, members };
}

/** A PBX that is too old for filters tells more than we want to know. */
async function setFilter({ client, account, log }: AriPeer, signal: AbortSignal): Promise<void> {
  const path = `applications/${encodeURIComponent(account.app)}/eventFilter`;
  const body = { disallowed: NOISE.map((type) => ({ type })) };
  const answer = await client.ask({ action: 'filter', method: 'PUT', path, body }, signal);
  if (answer.status > 299) log.debug({ status: answer.status }, 'event filter not set');
}

/** Undefined if it is gone. */
async function find<T>(
  { client }: AriPeer,
  path: string,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const answer = await client.ask({ action: 'look', method: 'GET', path }, signal);
  return answer.status === 200 ? schema.safeParse(answer.body).data : undefined;
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
