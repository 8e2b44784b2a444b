// Reconciliation after every connection: compares Asterisk's channels and bridges with our calls. Asterisk does
// not repeat events, and a killed process leaves channels and bridges behind. Source: asterisk §0.19.

import { z } from 'zod';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { AriCall } from '../calls/ari-call.ts';
import type { CallTable } from '../calls/call-table.ts';
import { type AriAnswer, ariFaultOf } from '../rest/client.ts';
import {
  type AriChannel,
  type AriEvent,
  ariBridge,
  ariChannel,
  ariInfo,
  FILTERED_EVENTS,
  isInApplication,
  isSentOn,
  type StasisStart,
} from '../rest/messages.ts';
import type { AriContext } from '../rest/peer.ts';
import { hostOf } from './connection-fault.ts';

export interface Reconciliation {
  /** Channels that a telephone has transferred, with the channels that replaced them. */
  replaced: { before: string; channel: AriChannel }[];
  /** Calls that are over. */
  ended: AriCall[];
  /** Callers whose other party has ended. */
  partnerEnded: AriCall[];
  /** Hold states of SIP telephones' calls, as far as the PBX reports them. */
  holds: HoldState[];
  /** Ringing callers whose event was missed, as that event. */
  ringing: StasisStart[];
  /** Calls that this or another process of ours dialled. */
  dialled: AriChannel[];
  /** Answered calls that belong to no process, as events: their processes are gone, and they may go on here. */
  left: StasisStart[];
  /** Two parties that a process of ours joined: they keep talking although no process has their call. */
  transferred: { channel: AriChannel; handedTo: { channelId: string; bridgeId: string } }[];
  /** Missed begin and end events of channels, for the requests that wait for them. */
  missedEvents: AriEvent[];
  /** Ends media channels and bridges that belong to no call. */
  cleanUp(): Promise<void>;
}

interface HoldState {
  call: AriCall;
  isHeld: boolean;
  /** The call's `holdEvents` when its hold state was requested. */
  holdEvents: number;
}

type Together = Reconciliation['transferred'][number];

const application = z.looseObject({
  channel_ids: z.array(z.string()).catch([]),
  bridge_ids: z.array(z.string()).catch([]),
});

/** Parallel requests. The PBX has other work. */
const AT_ONCE = 8;
/** Channels of one application that are checked. */
const CHANNELS_MAX = 5_000;

/** Kinds of channels that are parts of a call and never a call of their own. */
const PARTS: ReadonlySet<string | undefined> = new Set(['m', 't', 'd']);

/** Pause between two logs of the same fault: an Asterisk that opens the connection does so twice a second. */
const SAME_FAULT_MS = 60_000;

/** Logs failed reconciliations, each fault once a minute. */
export class ReconciliationFaults {
  #code: string | undefined;
  #loggedAtMs = Number.NEGATIVE_INFINITY;

  note({ clock, log }: Pick<AriContext, 'clock' | 'log'>, error: unknown): void {
    const [code, nowMs] = [codeOf(error), clock.monotonicMs()];
    const isSame = code === this.#code && nowMs - this.#loggedAtMs < SAME_FAULT_MS;
    if (!isSame) this.#loggedAtMs = nowMs;
    this.#code = code;
    log[isSame ? 'debug' : 'warn']({ err: error }, 'reconciliation with the PBX failed');
  }
}

/** The channels and bridges that this process looks after, besides those of its calls. */
interface Scope {
  isOurs(id: string): boolean;
}

/** Prepares our application at Asterisk. Returns its version. Throws what `AriClient` throws, and PBX_READ_ONLY. */
export async function openApplication(
  peer: AriContext,
  signal: AbortSignal,
): Promise<string | null> {
  const query = { only: 'system' };
  const request = { action: 'info', method: 'GET', path: 'asterisk/info', query } as const;
  const info = await peer.client.get(request, ariInfo, signal);
  await setFilter(peer, signal);
  return info.system?.version ?? null;
}

/** Compares Asterisk's channels and bridges with our calls. Throws what `AriClient` throws. */
export async function reconcile(
  peer: AriContext,
  held: CallTable,
  scope: Scope,
  signal: AbortSignal,
): Promise<Reconciliation> {
  const { client, account, ids } = peer;
  // Calls that begin meanwhile are handled by their events.
  const known = [...held.calls.values()].filter(({ isPlaced }) => isPlaced);
  const watched = held.watched.filter((id) => ids.kindOf(id) !== 'b');
  const partners = known.flatMap(({ transferredTo }) => transferredTo?.channelId ?? []);
  const path = `applications/${encodeURIComponent(account.app)}`;
  const app = await client.get({ action: 'application', method: 'GET', path }, application, signal);
  const ours = [...known.map(({ channelId }) => channelId), ...watched, ...partners];
  const bridges = app.bridge_ids.filter((id) => scope.isOurs(id));
  const theirs = app.channel_ids.filter((id) => scope.isOurs(id));
  const listed = [...new Set([...ours, ...theirs])].slice(0, Math.max(CHANNELS_MAX, ours.length));
  const channels = new Map<string, AriChannel>();
  await inParallel(listed, async (id) => {
    const channel = await find(peer, `channels/${encodeURIComponent(id)}`, ariChannel, signal);
    if (channel !== undefined) channels.set(id, channel);
  });
  const unknown = [...channels.values()].filter(({ id }) => !held.owns(id));
  const foreign = unknown.filter((channel) => isForeign(peer, channel));
  const replaced = await replacements(peer, { known, channels, held }, signal);
  // A channel that a call has received meanwhile is not missing.
  const missing = new Set(listed.filter((id) => !channels.has(id)));
  for (const { before } of replaced) missing.delete(before);
  const holds = await holdStates(peer, sipTelephones({ known, channels, held }), signal);
  const together = await broughtTogether(peer, { held, channels, bridges }, signal);
  const kept = new Set(
    together.flatMap(({ channel, handedTo }) => [channel.id, ...idsOf(handedTo)]),
  );
  const left = unknown.filter((channel) => !kept.has(channel.id) && isAnswered(peer, channel));
  return {
    replaced,
    ended: known.filter(
      (call) => missing.has(call.channelId) || isSentAway(call, channels.get(call.channelId)),
    ),
    partnerEnded: known.filter(
      ({ transferredTo }) => transferredTo && missing.has(transferredTo.channelId),
    ),
    holds,
    ringing: foreign
      .filter(({ state }) => state === 'Ring')
      .map((channel) => missedStart(peer, channel, argsOf(channel))),
    dialled: [...channels.values()].filter(
      (channel) =>
        ids.kindOf(channel.id) === 'o' &&
        !kept.has(channel.id) &&
        !isSentOn(channel) &&
        !left.includes(channel),
    ),
    left: left.map((channel) => ({
      ...missedStart(peer, channel, argsOf(channel)),
      patchbay_left: true,
    })),
    transferred: together,
    missedEvents: watched.flatMap((id) => missedOf(peer, id, channels.get(id)) ?? []),
    cleanUp: () => {
      const mayBeOrphans = unknown.filter(({ id }) => PARTS.has(ids.kindOf(id)));
      // A member may have taken a channel meanwhile.
      const isUnowned = (id: string) => !kept.has(id) && !held.owns(id) && scope.isOurs(id);
      return endAll(
        peer,
        [
          ...mayBeOrphans.filter(({ id }) => isUnowned(id)).map(({ id }) => pathOf(id)),
          ...bridges
            .filter((id) => ids.kindOf(id) === 'b' && isUnowned(id))
            .map((id) => `bridges/${id}`),
        ],
        signal,
      );
    },
  };
}

async function endAll(
  { client, log }: AriContext,
  paths: readonly string[],
  signal: AbortSignal,
): Promise<void> {
  if (paths.length > 0) log.warn({ count: paths.length }, 'left-over parts of calls ended');
  await inParallel(paths, async (path) => {
    await client.send({ action: 'tidy', method: 'DELETE', path }, signal);
  });
}

function missedStart({ account }: AriContext, channel: AriChannel, args: string[]): StasisStart {
  const base = { timestamp: '', application: account.app };
  return { type: 'StasisStart', ...base, channel, args };
}

function missedOf(
  peer: AriContext,
  id: string,
  channel: AriChannel | undefined,
): AriEvent | undefined {
  if (channel?.state === 'Up') return missedStart(peer, channel, []);
  if (channel !== undefined) return undefined;
  const base = { timestamp: '', application: peer.account.app };
  const end = { cause: 0, cause_txt: 'lost', tech_cause: undefined };
  return { type: 'ChannelDestroyed', ...base, channel: ariChannel.parse({ id }), ...end };
}

function idsOf({ channelId, bridgeId }: Together['handedTo']): string[] {
  return [channelId, bridgeId];
}

function pathOf(id: string): string {
  return `channels/${encodeURIComponent(id)}`;
}

/** Whether the channel is a caller whom the dialplan sent to our application. Events also come for channels that are
 *  not in it, such as the far half of a local call that we dialled. */
function isForeign({ ids, account }: AriContext, channel: AriChannel): boolean {
  return ids.kindOf(channel.id) === undefined && isInApplication(channel, account.app);
}

/** Whether the channel is that of an answered call in our application. */
function isAnswered(peer: AriContext, channel: AriChannel): boolean {
  if (channel.state !== 'Up') return false;
  const isDialled = peer.ids.kindOf(channel.id) === 'o' && !isSentOn(channel);
  return isDialled || isForeign(peer, channel);
}

function argsOf({ dialplan }: AriChannel): string[] {
  return dialplan.app_data.split(',').slice(1);
}

/** Whether we have sent the caller to the dialplan, after which the channel is not ours in any application. */
function isSentAway(call: AriCall, channel: AriChannel | undefined): boolean {
  return call.released && channel !== undefined && channel.dialplan.app_name !== 'Stasis';
}

/** Transfers by telephone whose event was missed: the call's bridge has a channel that belongs to no call. */
async function replacements(
  peer: AriContext,
  at: {
    known: readonly AriCall[];
    channels: ReadonlyMap<string, AriChannel>;
    held: CallTable;
  },
  signal: AbortSignal,
): Promise<Reconciliation['replaced']> {
  const replaced: Reconciliation['replaced'] = [];
  const lost = at.known.flatMap(({ channelId, transferredTo, leg }) => {
    const before = [channelId, transferredTo?.channelId].find(
      (id) => id !== undefined && !at.channels.has(id),
    );
    return before === undefined || leg === undefined ? [] : [{ before, bridgeId: leg.bridgeId }];
  });
  await inParallel(lost, async ({ before, bridgeId }) => {
    const bridge = await find(peer, `bridges/${bridgeId}`, ariBridge, signal);
    for (const id of bridge?.channels ?? []) {
      if (peer.ids.kindOf(id) !== undefined || at.held.owns(id)) continue;
      const channel = at.channels.get(id) ?? (await find(peer, pathOf(id), ariChannel, signal));
      if (channel === undefined || !isForeign(peer, channel)) continue;
      replaced.push({ before, channel });
      return;
    }
  });
  return replaced;
}

const variable = z.looseObject({ value: z.string() });

/** The calls of SIP telephones, with the telephones' channels: other channels do not report hold. */
function sipTelephones(at: {
  known: readonly AriCall[];
  channels: ReadonlyMap<string, AriChannel>;
  held: CallTable;
}): { call: AriCall; telephone: string }[] {
  return at.known.flatMap((call) => {
    const { channelId } = call;
    const behind = at.held.telephones.behind(channelId);
    const isSip = at.channels.get(channelId)?.name.startsWith('PJSIP/') === true;
    const isTalking = call.leg !== undefined && (isSip || behind !== undefined);
    return call.isHeld || isTalking ? [{ call, telephone: behind ?? channelId }] : [];
  });
}

/** Current hold states. A call that stayed on hold here would wait in silence for ever; one whose hold was missed would
 *  look like a silent caller. */
async function holdStates(
  { client }: AriContext,
  telephones: readonly { call: AriCall; telephone: string }[],
  signal: AbortSignal,
): Promise<HoldState[]> {
  const states: HoldState[] = [];
  const query = { variable: 'CHANNEL(rtp,hold)' };
  await inParallel(telephones, async ({ call, telephone }) => {
    const { holdEvents } = call;
    const path = `${pathOf(telephone)}/variable`;
    const request = { action: 'look', method: 'GET', path, query } as const;
    const { status, body } = await client.send(request, signal);
    const value = status === 200 ? variable.safeParse(body).data?.value : undefined;
    if (value === '0' || value === '1') states.push({ call, isHeld: value === '1', holdEvents });
  });
  return states;
}

async function broughtTogether(
  peer: AriContext,
  known: { held: CallTable; channels: ReadonlyMap<string, AriChannel>; bridges: readonly string[] },
  signal: AbortSignal,
): Promise<Together[]> {
  const together: Together[] = [];
  const { ids } = peer;
  const { held, channels } = known;
  const own = known.bridges.filter((id) => ids.kindOf(id) === 'b' && !held.owns(id));
  await inParallel(own, async (bridgeId) => {
    const bridge = await find(peer, `bridges/${bridgeId}`, ariBridge, signal);
    const members = bridge?.channels ?? [];
    const channelId = members.find((id) => ids.kindOf(id) === 't');
    const callId = members.find((id) => id !== channelId);
    const channel = callId === undefined ? undefined : channels.get(callId);
    if (channelId === undefined || channel === undefined || members.length !== 2) return;
    if (ids.kindOf(channel.id) === 'm') return;
    together.push({ channel, handedTo: { channelId, bridgeId } });
  });
  return together;
}

/** Filters events that we do not use, which a PBX without event filters sends nevertheless. This is the first request
 *  that changes something, so it fails here for a read-only user. */
async function setFilter({ client, account, log }: AriContext, signal: AbortSignal): Promise<void> {
  const path = `applications/${encodeURIComponent(account.app)}/eventFilter`;
  const body = { disallowed: FILTERED_EVENTS.map((type) => ({ type })) };
  const answer = await client.send({ action: 'filter', method: 'PUT', path, body }, signal);
  if (answer.status === 403) {
    throw new GatewayError('PBX_READ_ONLY', {
      host: hostOf(account),
      user: account.app_name,
    });
  }
  if (answer.status > 299) log.debug({ status: answer.status }, 'event filter not set');
}

/** The content of the answer; undefined for 404. Any other failure is thrown, as the call would be ended otherwise. */
async function find<T>(
  { client }: AriContext,
  path: string,
  schema: z.ZodType<T>,
  signal: AbortSignal,
): Promise<T | undefined> {
  const request = { action: 'look', method: 'GET', path } as const;
  const answer: AriAnswer = await client.send(request, signal);
  if (answer.status === 404) return undefined;
  const found = answer.status === 200 ? schema.safeParse(answer.body) : undefined;
  if (found?.success !== true) throw ariFaultOf(request, answer);
  return found.data;
}

async function inParallel<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  const waiting = items.values();
  const worker = async (): Promise<void> => {
    for (const item of waiting) await work(item);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, worker));
}
