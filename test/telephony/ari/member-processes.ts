// Processes with shares of one connection, in place of the messages between processes: each has a provider object of its
// own, and what it is sent goes through the format in which processes send it.

import { deserialize, serialize } from 'node:v8';
import type { Clock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { ariProvider } from '../../../src/telephony/ari/provider.ts';
import type { PbxShare, ProcessIdentity } from '../../../src/telephony/provider/pbx.ts';
import type { PbxMemberListener, PbxMembers } from '../../../src/telephony/provider/pbx-members.ts';
import type { PbxProvider } from '../../../src/telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../../src/telephony/provider/terms.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { type Gateway, Room } from './ari-harness.ts';

export interface Member extends Gateway {
  share: PbxShare;
  provider: PbxProvider;
}

function copy(message: unknown): unknown {
  return deserialize(serialize(message));
}

export class MemberProcesses implements PbxMembers {
  /** Members in other gateways. */
  readonly remote = new Set<string>();
  /** The member that gets the next calls; undefined: the holder. */
  next: string | undefined;
  /** Members that answer nothing for now. */
  readonly silent = new Set<string>();
  /** Members whose messages are lost on their way. */
  readonly swallowed = new Set<string>();
  /** Number of events that each member got. */
  readonly events = new Map<string, number>();
  readonly #running = new Map<string, Member>();
  readonly #all: readonly string[];
  readonly #identities = new Map<string, ProcessIdentity>();
  #starts = 0;
  /** Members of other gateways that are out of reach. */
  readonly #away = new Set<string>();
  readonly #clock: Clock;
  readonly #credentials: ProviderCredentials;
  #listener: PbxMemberListener | undefined;

  constructor(clock: Clock, credentials: ProviderCredentials, names: readonly string[]) {
    this.#all = names;
    this.#clock = clock;
    this.#credentials = credentials;
    for (const name of names) this.start(name);
  }

  /** Starts a process anew. */
  start(name: string): Member {
    this.#starts += 1;
    const identity = { node: name, epoch: String(this.#starts) };
    this.#identities.set(name, identity);
    const provider = ariProvider.create({ clock: this.#clock, random: systemRandom, identity });
    const { log, lines } = quietLog();
    const harness = new Room();
    const credentials = { ...this.#credentials, app_name: name };
    const send = (message: unknown) => {
      if (!this.#away.has(name)) this.#listener?.onMessage(name, copy(message));
    };
    const account = { configurationId: '1', credentials };
    const share = provider.pbx.join(account, { listener: harness, log, send });
    const { connection } = share;
    const member = { provider, credentials, connection, harness, lines, share };
    this.#running.set(name, member);
    this.#listener?.onJoined(name);
    return member;
  }

  get names(): readonly string[] {
    return this.#all.filter((each) => !this.#away.has(each));
  }

  isRemote(name: string): boolean {
    return this.remote.has(name);
  }

  refresh(): Promise<void> {
    return Promise.resolve();
  }

  /** The last process with that name. */
  identityOf(name: string): ProcessIdentity {
    const identity = this.#identities.get(name);
    if (identity === undefined) throw new Error(`${name} was never started`);
    return identity;
  }

  /** The bus to a member of another gateway is gone: neither side reaches the other. */
  cutOff(name: string): void {
    this.#away.add(name);
    this.#listener?.onLost(name);
    this.#running.get(name)?.share.holderGone();
  }

  /** It is back. */
  join(name: string): void {
    this.#away.delete(name);
    this.#listener?.onJoined(name);
    this.#running.get(name)?.share.holderBack();
  }

  member(name: string): Member {
    const found = this.#running.get(name);
    if (found === undefined) throw new Error(`${name} is not running`);
    return found;
  }

  /** Ends a process, as if it were killed: `kill` closes what it has open. */
  async end(name: string, kill: (member: Member) => unknown): Promise<void> {
    const member = this.member(name);
    this.#running.delete(name);
    await kill(member);
    if (!this.remote.has(name)) this.#listener?.onGone(name);
    else if (!this.#away.has(name)) this.cutOff(name);
  }

  /** The holder has ended. */
  holderGone(): void {
    this.#listener = undefined;
    for (const { share } of this.#running.values()) share.holderGone();
  }

  leastLoaded(members: ReadonlySet<string>): string | undefined {
    return this.next !== undefined && members.has(this.next) ? this.next : undefined;
  }

  send(name: string, message: unknown): boolean {
    const member = this.#running.get(name);
    if (member === undefined || this.#away.has(name)) return false;
    this.events.set(name, (this.events.get(name) ?? 0) + 1);
    if (!this.swallowed.has(name)) member.share.take(copy(message));
    return true;
  }

  async ask(name: string, message: unknown): Promise<unknown> {
    if (this.silent.has(name) || this.#away.has(name)) throw new Error('no answer');
    const answer = await this.#running.get(name)?.share.answer(copy(message));
    return copy(answer);
  }

  listen(listener: PbxMemberListener): () => void {
    this.#listener = listener;
    return () => {
      if (this.#listener === listener) this.#listener = undefined;
    };
  }
}
