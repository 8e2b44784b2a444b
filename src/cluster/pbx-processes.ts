// The call workers that hold the calls of a PBX together, of this gateway and of others. The worker with the connection
// sends events to the others, the members, and chooses the worker of each call by the loads that the API process knows
// of. Members of other gateways are reached over the API processes (remote-messages.ts).

import { z } from 'zod';
import type { PbxProcesses, PbxShares } from '../call/start/inbound/pbx-shares.ts';
import { codeOf, GatewayError } from '../errors/gateway-error.ts';
import type { Log } from '../log.ts';
import type { Clock } from '../std/clock.ts';
import { deadlineSignal, withDeadline } from '../std/deadline.ts';
import { pause } from '../std/pause.ts';
import type { PbxMemberListener, PbxMembers } from '../telephony/provider/pbx-members.ts';
import type { IpcChannel } from './ipc-channel.ts';
import {
  API,
  gatewayOfNode,
  nodeOfProcess,
  PBX_WORKER,
  workerGone,
  workerOfNode,
} from './ipc-message.ts';
import { MemberLoads, workerLoads } from './member-loads.ts';
import { type GatewayNotice, RemoteMessages, type RemoteTopic } from './remote-messages.ts';

/** Interval at which the members are asked for the number of their calls, before the connections are closed. */
const IDLE_LOOK_MS = 500;
/** Deadline of that number. */
const COUNT_MS_MAX = 2_000;
/** Deadline of the API process's answer which other gateways there are: a connection waits for it. */
const LOADS_MS_MAX = 1_000;
/** Questions to members of other gateways at one time; more wait. A gateway that takes over a thousand PBXs would fill
 *  the API processes' tables of requests. */
const REMOTE_ASKS_MAX = 100;
/** Questions that wait: to every member of other gateways about a thousand PBXs. */
const REMOTE_WAITING_MAX = 64_000;

const number = z.int().positive();
const toMember = z.object({ configurationId: z.string(), message: z.unknown() });
const question = toMember.extend({ organizationId: z.string(), holder: number });
const remoteQuestion = question.omit({ holder: true });
/** A failure is a part of the answer: an error of the channel means that there is no such process. */
const answer = z.object({ answer: z.unknown().optional(), code: z.string().optional() });
const toHolder = toMember;
const count = z.object({ calls: z.int().nonnegative() });

/** The shares of this process. */
type Shares = Pick<PbxShares, 'take' | 'answer' | 'calls' | 'processGone' | 'processBack'>;

export interface PbxProcessesOptions {
  /** Number of call workers of the gateway. */
  workers: number;
  /** Name of the gateway in the store. */
  gateway: string;
  /** Whether other gateways may be reached. */
  hasBus: boolean;
  clock: Clock;
  log: Log;
}

export class WorkerPbxProcesses implements PbxProcesses {
  readonly #link: IpcChannel;
  readonly #options: PbxProcessesOptions;
  readonly #remote: RemoteMessages;
  /** Numbers of the other workers of this gateway. */
  readonly #others: readonly number[];
  /** Listeners of the connections of this process, by configuration. */
  readonly #listeners = new Map<string, PbxMemberListener>();
  readonly #loads: MemberLoads;
  #remoteAsks = 0;
  readonly #waiting: (() => void)[] = [];

  constructor(link: IpcChannel, options: PbxProcessesOptions) {
    this.#link = link;
    this.#options = options;
    this.#remote = new RemoteMessages(link, nodeOfProcess(options.gateway, link.address));
    this.#loads = new MemberLoads(link.address, options.clock);
    const all = Array.from({ length: options.workers }, (_, at) => at + 1);
    this.#others = all.filter((each) => each !== link.address);
    link.onNotification('pbx-loads', (body) => this.#takeLoads(body));
    link.onNotification('pbx-report', (body, { from }) => this.#takeReport(String(from), body));
  }

  /** Answers the holders of connections, and notes processes that have ended. */
  serve(shares: Shares): void {
    const link = this.#link;
    const take = (holder: string, body: unknown): void => {
      const { configurationId, message } = toMember.parse(body);
      shares.take({ holder, configurationId }, message);
    };
    link.onNotification('pbx-event', (body, { from }) => take(String(from), body));
    link.onRequest('pbx-ask', (body) =>
      this.#answer(async () => {
        const { holder, message, ...of } = question.parse(body);
        return shares.answer({ holder: String(holder), ...of }, message);
      }),
    );
    link.onRequest('pbx-count', () => Promise.resolve({ calls: shares.calls }));
    link.onNotification('gone', (body) => {
      const { worker } = workerGone.parse(body);
      link.peerLost(worker);
      if (worker === API) this.#takeLoads(this.#loads.own);
      else this.#gone(worker, shares);
    });
    this.#remote.take({
      onMessage: ({ from, topic, body }) => {
        if (topic === 'pbx-event') take(from, body);
        else this.#takeReport(from, body);
      },
      answer: ({ from, body }) =>
        this.#answer(async () => {
          const { message, ...of } = remoteQuestion.parse(body);
          return shares.answer({ holder: from, ...of }, message);
        }),
      onNotice: (notice) => this.#takeNotice(notice, shares),
    });
  }

  toHolder(holder: string, configurationId: string, message: unknown): void {
    this.#notify(holder, 'pbx-report', { configurationId, message });
  }

  members({ id: configurationId, organizationId }: { id: string; organizationId: string }) {
    const { hasBus } = this.#options;
    if (this.#others.length === 0 && !hasBus) return undefined;
    const of = { configurationId, organizationId };
    const loads = this.#loads;
    const own = this.#others.map(String);
    const members: PbxMembers = {
      get names() {
        return [...own, ...loads.remote];
      },
      isRemote,
      refresh: () => (hasBus ? this.#askLoads() : Promise.resolve()),
      leastLoaded: (ready) => loads.least(ready),
      send: (member, message) =>
        (!isRemote(member) || loads.has(member)) &&
        this.#notify(member, 'pbx-event', { configurationId, message }),
      ask: (member, message, ms) => this.#ask(member, { ...of, message }, ms),
      listen: (listener) => {
        this.#listeners.set(configurationId, listener);
        return () => {
          if (this.#listeners.get(configurationId) === listener)
            this.#listeners.delete(configurationId);
        };
      },
    };
    return members;
  }

  /** Members of other gateways are not waited for: the connection goes on in one of them. */
  async untilIdle(ms: number): Promise<void> {
    const { clock } = this.#options;
    const { signal, done } = deadlineSignal(clock, ms, 'end calls of PBXs');
    while (!signal.aborted && (await this.#othersHaveCalls())) {
      await pause(clock, IDLE_LOOK_MS, signal);
    }
    done();
  }

  async #othersHaveCalls(): Promise<boolean> {
    const counts = await Promise.all(
      this.#others.map(async (worker) => {
        try {
          return count.parse(await this.#link.request(worker, 'pbx-count', {}, COUNT_MS_MAX)).calls;
        } catch {
          return 0; // It has ended, or does not end by itself.
        }
      }),
    );
    return counts.some((calls) => calls > 0);
  }

  #notify(to: string, topic: RemoteTopic, body: unknown): boolean {
    if (isRemote(to)) return this.#remote.send(to, topic, body);
    return this.#link.notify(Number(to), topic, body);
  }

  async #ask(member: string, body: z.input<typeof remoteQuestion>, ms: number): Promise<unknown> {
    const told = await this.#request(member, body, ms).catch((error: unknown) => {
      const code = codeOf(error);
      // WORKER_FAILED: it has started, and holds no calls yet.
      if (code === 'WORKER_FAILED' || (code === 'WORKER_GONE' && !isRemote(member)))
        return undefined;
      throw error;
    });
    if (told === undefined) return undefined;
    const parsed = answer.parse(told);
    if (parsed.code !== undefined) throw new GatewayError('WORKER_FAILED', { worker: member });
    return parsed.answer;
  }

  async #request(
    member: string,
    body: z.input<typeof remoteQuestion>,
    ms: number,
  ): Promise<unknown> {
    if (!isRemote(member)) {
      const asked = { ...body, holder: this.#link.address };
      return this.#link.request(Number(member), 'pbx-ask', asked, ms);
    }
    await this.#turn(ms);
    try {
      return await this.#remote.ask(member, 'pbx-ask', { body, ms });
    } finally {
      this.#nextTurn();
    }
  }

  /** Settles when one more question may be sent. Throws TIMED_OUT, QUEUE_FULL. */
  async #turn(ms: number): Promise<void> {
    if (this.#remoteAsks < REMOTE_ASKS_MAX) {
      this.#remoteAsks += 1;
      return;
    }
    if (this.#waiting.length >= REMOTE_WAITING_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'questions to other gateways' });
    }
    let begin = (): void => undefined;
    const turn = new Promise<void>((resolve) => {
      begin = resolve;
    });
    this.#waiting.push(begin);
    try {
      await withDeadline(this.#options.clock, ms, 'question to another gateway', turn);
    } catch (error) {
      const at = this.#waiting.indexOf(begin);
      if (at >= 0) this.#waiting.splice(at, 1);
      else this.#nextTurn(); // It was its turn at that moment.
      throw error;
    }
  }

  #nextTurn(): void {
    const begin = this.#waiting.shift();
    if (begin === undefined) this.#remoteAsks -= 1;
    else begin();
  }

  async #answer(ask: () => Promise<unknown>): Promise<z.input<typeof answer>> {
    try {
      return { answer: await ask() };
    } catch (error) {
      this.#options.log.error({ err: error }, 'calls of a PBX not named');
      return { code: codeOf(error) ?? 'WORKER_FAILED' };
    }
  }

  #takeReport(member: string, body: unknown): void {
    const { configurationId, message } = toHolder.parse(body);
    this.#listeners.get(configurationId)?.onMessage(member, message);
  }

  async #askLoads(): Promise<void> {
    try {
      this.#takeLoads(await this.#link.request(API, 'pbx-loads', {}, LOADS_MS_MAX));
    } catch {
      // Its next report names them, and the store protects their calls until then.
    }
  }

  #takeLoads(body: unknown): void {
    const { joined, lost } = this.#loads.take(workerLoads.parse(body));
    for (const member of joined) this.#each((listener) => listener.onJoined(member));
    for (const member of lost) this.#each((listener) => listener.onLost(member));
  }

  #gone(worker: number, shares: Shares): void {
    const name = String(worker);
    shares.processGone(name);
    this.#loads.remove(name);
    this.#each((listener) => listener.onGone(name));
  }

  #takeNotice({ gateway, is }: GatewayNotice, shares: Shares): void {
    const holder = nodeOfProcess(gateway, PBX_WORKER);
    if (is === 'gone') shares.processGone(holder);
    if (is === 'back') shares.processBack(holder);
    if (is === 'back') return;
    for (const member of this.#loads.remote.filter((each) => gatewayOfNode(each) === gateway)) {
      this.#loads.remove(member);
      this.#each((listener) => listener.onLost(member));
    }
  }

  #each(take: (listener: PbxMemberListener) => void): void {
    for (const listener of this.#listeners.values()) take(listener);
  }
}

/** Whether the process is one of another gateway: it has its name in the store, one of this gateway its number. */
function isRemote(process: string): boolean {
  return workerOfNode(process) !== undefined;
}
