// Routes the events of one connection to the processes that hold its calls: this one, which has the connection, and the
// members. A channel with an id of ours belongs to the process whose tag is in the id; a caller's, to the process that
// was chosen when it rang. At each connection the members name their calls first: what then belongs to nobody is this
// process's to answer or to end. A member of another gateway that cannot be reached keeps its channels until the store
// says that it is dead.

import { codeOf } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Clock } from '../../../std/clock.ts';
import type { PbxMembers } from '../../provider/pbx-members.ts';
import type { UnconfiguredNumber } from '../../provider/unconfigured-numbers.ts';
import { nearHalfOf } from '../calls/local-telephones.ts';
import type { Spread } from '../media/transport-selection.ts';
import type { ChannelIds } from '../rest/channel-ids.ts';
import {
  type AriChannel,
  type AriEvent,
  channelOf,
  isEnd,
  type StasisStart,
} from '../rest/messages.ts';
import type { ConnectionFault } from './connection-fault.ts';
import { type Answer, answer, type Question, type ToMember, toHolder } from './member-messages.ts';

/** Deadline of a member's answer: it looks up each of its calls. A process that does not answer for longer is killed by
 *  its supervisor. */
const ANSWER_MS_MAX = 5_000;
/** The same for a member of another gateway, without which new calls do not have to wait: its calls are in the store. */
const REMOTE_ANSWER_MS_MAX = 2_000;
/** Channels whose process is kept: twice as many as one application may have. One that was dropped belongs to
 *  this process. */
const CHANNELS_MAX = 10_000;
/** Time in which a process has stored the call of a caller whom it was given: one that is out of reach then has not got
 *  the caller. */
const STORED_MS = 1_500;

const CLOSED: ConnectionFault = {
  code: 'PBX_NOT_CONNECTED',
  message: 'The connection to the PBX was closed by its process.',
  isPermanent: false,
};

/** This process among the owners of channels. */
const HERE = '';

export interface MemberRoutingOptions {
  members: PbxMembers;
  ids: ChannelIds;
  clock: Pick<Clock, 'monotonicMs'>;
  /** Whether the next call stays in this process. */
  keepsNext: () => boolean;
  /** The calls of a member that has ended, or has joined, are to be compared with those of Asterisk. */
  onChanged: () => void;
  /** A member has refused a caller for the number. */
  onUnconfigured: (number: UnconfiguredNumber) => void;
  /** A member's request has shown that the connection is of no use. */
  onFault: (fault: ConnectionFault) => void;
  log: Log;
}

/** Which of the channels and bridges at the PBX are this process's. */
export interface Scope {
  isOurs(id: string): boolean;
}

/** What the store says of other gateways. */
export interface Elsewhere {
  /** Whether a process with that tag lives. */
  isLiving(tag: string): boolean;
  /** Whether a living process has a call with that id. */
  isCall(id: string): boolean;
}

export class MemberRouting implements Scope {
  readonly #options: MemberRoutingOptions;
  readonly #stop: () => void;
  /** Members that can take calls. */
  readonly #ready = new Set<string>();
  /** Members by the tag of their ids. */
  readonly #tags = new Map<string, string>();
  /** Processes of channels whose ids are not ours, the one used last at the end. */
  readonly #channels = new Map<string, string>();
  /** Callers that a member of another gateway was given and has not named yet, by channel: when, monotonic
   *  milliseconds. */
  readonly #given = new Map<string, number>();
  /** Members out of reach that may have calls. */
  readonly #lost = new Set<string>();
  /** Members that have not answered the last question: any channel that nobody names may be theirs. */
  #silent: ReadonlySet<string>;
  #spread: Spread = 'process';

  constructor(options: MemberRoutingOptions) {
    this.#options = options;
    this.#silent = new Set(options.members.names);
    this.#stop = options.members.listen({
      onMessage: (member, message) => this.#take(member, message),
      onJoined: (member) => {
        if (!this.#ready.has(member)) options.onChanged();
      },
      onLost: (member) => this.#outOfReach(member),
      onGone: (member) => this.#gone(member),
    });
  }

  /** Whether all members within reach have named their calls, and it is known who has each caller. */
  get isSettled(): boolean {
    return this.#silent.size === 0 && ![...this.#given.keys()].some((id) => this.#isOfLost(id));
  }

  /** Whether members with calls are out of reach. */
  get hasLost(): boolean {
    return this.#lost.size > 0;
  }

  /** Whether the channel's process is a member that gets its events. */
  reaches(id: string): boolean {
    return this.#ready.has(this.#ownerOf(id) ?? HERE);
  }

  /** The store has answered: members out of reach that do not live have no calls, and of those that live it is known which
   *  callers they have. */
  settle({ isLiving, isCall }: Elsewhere): void {
    for (const member of this.#lost) {
      const isDead = ![...this.#tags].some(([tag, each]) => each === member && isLiving(tag));
      if (isDead) this.#forget(member);
    }
    const nowMs = this.#options.clock.monotonicMs();
    for (const [id, atMs] of this.#given) {
      if (!this.#isOfLost(id) || nowMs - atMs < STORED_MS) continue;
      this.#given.delete(id);
      if (!isCall(id)) this.#note(id, HERE);
    }
  }

  /** The connection is closed, without a word about the calls. */
  close(): void {
    this.down(CLOSED);
    this.#stop();
  }

  /** The connection is open: asks the members for their calls. Never rejects. */
  async ask({ version, spread }: { version: string | null; spread: Spread }): Promise<void> {
    const { members } = this.#options;
    this.#spread = spread;
    await members.refresh();
    const { names } = members;
    const answers = await Promise.all(
      names.map((member) => this.#answerOf(member, { version, takesDials: this.#mayHave(member) })),
    );
    const silent = names.filter((each, at) => answers[at] === 'silent' && !this.#lost.has(each));
    this.#silent = new Set(silent);
    if (silent.length > 0) {
      this.#options.log.warn({ members: silent }, 'processes have not named their calls');
    }
  }

  /** The connection is down. */
  down(fault: ConnectionFault): void {
    const { code, message, isPermanent } = fault;
    for (const member of this.#ready) {
      this.#send(member, { kind: 'down', fault: { code, message, isPermanent } });
    }
  }

  isOurs(id: string): boolean {
    return this.#ownerOf(id) === HERE;
  }

  /** Sends the event to the member that has its channel. Returns false if this process takes the event. `text`: as it
   *  came. */
  route(event: AriEvent, text: string): boolean {
    const channel = channelOf(event);
    if (channel === undefined) return false;
    const owner = this.#ownerOfEvent(event, channel);
    if (event.type === 'ChannelDestroyed') this.#channels.delete(channel.id);
    if (isEnd(event)) this.#given.delete(channel.id);
    if (owner === HERE) return false;
    if (owner === undefined || this.#send(owner, { kind: 'event', text })) return true;
    if (event.type !== 'StasisStart' || this.#options.ids.tagOf(channel.id) !== undefined)
      return true;
    // It takes the place of a channel in a call that goes on out of reach.
    if (event.replace_channel !== undefined && this.#lost.has(owner)) return true;
    this.#note(channel.id, HERE);
    return false;
  }

  /** The process that takes the event; undefined if none may, as the channel may be that of a silent member. */
  #ownerOfEvent(event: AriEvent, channel: AriChannel): string | undefined {
    if (event.type === 'StasisStart') return this.#ownerOfStart(event, channel);
    // The far half of a local channel dials a telephone.
    const ours = event.type === 'Dial' ? nearHalfOf(event.caller?.id ?? '') : undefined;
    const id = ours ?? channel.id;
    // Of a foreign channel that is not ours nothing but its start matters.
    return this.#ownerOf(id) ?? (this.#options.ids.tagOf(id) === undefined ? HERE : undefined);
  }

  #ownerOfStart(event: StasisStart, { id }: AriChannel): string | undefined {
    const { replace_channel: before, patchbay_left: isLeft } = event;
    if (this.#options.ids.tagOf(id) !== undefined && isLeft !== true) return this.#ownerOf(id);
    // Another channel takes the place of one of ours, or a caller comes back, or a new one rings. Or a call is left whose
    // process is gone.
    const owner =
      before === undefined ? (this.#channels.get(id) ?? this.#choose()) : this.#ownerOf(before.id);
    if (owner !== undefined) this.#note(id, owner);
    if (owner !== undefined && owner !== HERE && before === undefined) this.#give(id, owner);
    return owner;
  }

  /** The process of a channel or bridge; undefined while a member that has not answered may have it. */
  #ownerOf(id: string): string | undefined {
    const { ids } = this.#options;
    const tag = ids.tagOf(id);
    if (tag === ids.tag) return HERE;
    // A call that another process dialled and left has the tag of that process.
    const known = (tag === undefined ? undefined : this.#tags.get(tag)) ?? this.#channels.get(id);
    return known ?? (this.#silent.size === 0 ? HERE : undefined);
  }

  /** The process for a new call. */
  #choose(): string {
    const { members, keepsNext } = this.#options;
    if (keepsNext() || this.#spread === 'process') return HERE;
    const able = [...this.#ready].filter((member) => this.#mayHave(member));
    return members.leastLoaded(new Set(able)) ?? HERE;
  }

  /** Whether calls can be in that member. */
  #mayHave(member: string): boolean {
    if (this.#spread === 'gateway') return !this.#options.members.isRemote(member);
    return this.#spread === 'gateways';
  }

  #note(id: string, owner: string): void {
    this.#channels.delete(id);
    this.#channels.set(id, owner);
    dropOldest(this.#channels);
  }

  #give(id: string, member: string): void {
    if (!this.#options.members.isRemote(member)) return;
    this.#given.set(id, this.#options.clock.monotonicMs());
    dropOldest(this.#given);
  }

  #isOfLost(id: string): boolean {
    return this.#lost.has(this.#channels.get(id) ?? HERE);
  }

  #send(member: string, message: ToMember): boolean {
    if (this.#options.members.send(member, message)) return true;
    // It has missed an event: it compares its calls again.
    if (this.#ready.delete(member)) this.#options.onChanged();
    return false;
  }

  async #answerOf(member: string, wanted: Question): Promise<'known' | 'silent'> {
    const { members, clock, log } = this.#options;
    const askedAtMs = clock.monotonicMs();
    const msMax = members.isRemote(member) ? REMOTE_ANSWER_MS_MAX : ANSWER_MS_MAX;
    try {
      const told = await members.ask(member, wanted, msMax);
      if (told === undefined) this.#forget(member);
      else this.#learn(member, answer.parse(told), askedAtMs);
      return told === undefined || this.#ready.has(member) ? 'known' : 'silent';
    } catch (error) {
      log.debug({ err: error, member, code: codeOf(error) }, 'no answer about calls of a PBX');
      this.#ready.delete(member);
      return 'silent';
    }
  }

  #learn(member: string, { tag, channels, isReady }: Answer, askedAtMs: number): void {
    // Another process has the name: the one before it has ended.
    if (this.#tags.get(tag) !== member) this.#forget(member);
    this.#lost.delete(member);
    this.#tags.set(tag, member);
    for (const id of channels) this.#note(id, member);
    this.#checkGiven(member, new Set(channels), askedAtMs);
    if (isReady) this.#ready.add(member);
    else this.#ready.delete(member);
  }

  /** Callers that the member was given before the question and does not name have not reached it. */
  #checkGiven(member: string, named: ReadonlySet<string>, askedAtMs: number): void {
    for (const [id, atMs] of this.#given) {
      if (this.#channels.get(id) !== member || atMs >= askedAtMs) continue;
      this.#given.delete(id);
      if (!named.has(id)) this.#channels.delete(id);
    }
  }

  #take(member: string, message: unknown): void {
    const parsed = toHolder.safeParse(message);
    if (!parsed.success) {
      this.#options.log.error({ member }, 'message about calls of a PBX not read');
      return;
    }
    const { data } = parsed;
    if (data.kind === 'channel') this.#note(data.id, member);
    else if (data.kind === 'unconfigured') this.#options.onUnconfigured(data.number);
    else if (data.kind === 'missed') this.#options.onChanged();
    else this.#options.onFault(data.fault);
  }

  #outOfReach(member: string): void {
    this.#ready.delete(member);
    this.#silent = without(this.#silent, member);
    if ([...this.#tags.values()].includes(member)) this.#lost.add(member);
    this.#options.onChanged();
  }

  #gone(member: string): void {
    this.#forget(member);
    this.#silent = without(this.#silent, member);
    this.#options.onChanged();
  }

  #forget(member: string): void {
    this.#ready.delete(member);
    this.#lost.delete(member);
    for (const [tag, each] of this.#tags) if (each === member) this.#tags.delete(tag);
    for (const [id, each] of this.#channels) if (each === member) this.#channels.delete(id);
  }
}

function without(names: ReadonlySet<string>, name: string): ReadonlySet<string> {
  return new Set([...names].filter((each) => each !== name));
}

function dropOldest(channels: Map<string, unknown>): void {
  const [oldest] = channels.keys();
  if (channels.size > CHANNELS_MAX && oldest !== undefined) channels.delete(oldest);
}
