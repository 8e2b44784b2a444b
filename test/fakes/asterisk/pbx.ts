// The simulated PBX without its interfaces: channels, bridges, applications, and what is told when a channel
// enters, leaves, changes or ends. The orders of events are those recorded from Asterisk 22.10.1
// (fixtures/wire/ari).

import { randomBytes } from 'node:crypto';
import type { Clock } from '../../../src/std/clock.ts';
import { Bridge } from './bridge.ts';
import { causeOfSip, causeText, dialStatusOf, sipStatusOf } from './cause.ts';
import { Channel, type ChannelFacts, type ChannelState } from './channel.ts';
import { type Faults, noFaults } from './faults.ts';
import { Ticker } from './media/ticker.ts';
import { type AriEvent, StasisApps } from './stasis.ts';
import type { Version } from './version.ts';

/** What is told with a request to hang up. */
export interface HangupRequest {
  cause: number;
  soft?: true;
  tech_cause?: number;
}

export class Pbx {
  readonly clock: Clock;
  readonly version: Version;
  readonly ticker: Ticker;
  readonly stasis = new StasisApps('02:00:00:00:00:01');
  readonly channels = new Map<string, Channel>();
  readonly bridges = new Map<string, Bridge>();
  readonly faults: Faults = noFaults();
  /** What the gateway did that a real PBX suffers from: see protocol rules in fakes/asterisk/media/chan-websocket.ts. */
  readonly complaints: string[] = [];
  /** Grows with every crash and restart. */
  generation = 0;
  /** Sockets and the like that a crash takes with it. */
  readonly mortals = new Set<() => void>();
  #serial = 0;
  #stopBridges: (() => void) | null = null;

  constructor(clock: Clock, version: Version) {
    this.clock = clock;
    this.version = version;
    this.ticker = new Ticker(clock);
  }

  timestamp(): string {
    return new Date(this.clock.now()).toISOString().replace('Z', '+0000');
  }

  /** Asterisk's own channel ids. */
  uniqueId(): string {
    this.#serial += 1;
    return `${Math.floor(this.clock.now() / 1_000)}.${this.#serial}`;
  }

  /** The running number in channel names. */
  serial(): string {
    this.#serial += 1;
    return this.#serial.toString(16).padStart(8, '0');
  }

  /** The address in channel names. */
  pointer(): string {
    return `0x7f${randomBytes(5).toString('hex')}`;
  }

  /** After the request in hand has been answered. */
  soon(run: () => void): void {
    const generation = this.generation;
    setImmediate(() => {
      if (generation === this.generation) run();
    });
  }

  /** After `ms`, unless the PBX has died meanwhile. Returns what takes it back. */
  later(ms: number, run: () => void): () => void {
    const generation = this.generation;
    const timer = this.clock.after(ms, () => {
      if (generation === this.generation) run();
    });
    return () => timer.cancel();
  }

  add(facts: Omit<ChannelFacts, 'createdAt'>): Channel {
    const channel = new Channel({ ...facts, createdAt: this.timestamp() });
    this.channels.set(channel.id, channel);
    return channel;
  }

  /** A listed channel. */
  find(id: string): Channel | undefined {
    const channel = this.channels.get(id);
    return channel?.isHidden === false ? channel : undefined;
  }

  /** Asterisk takes an id for used if one that is in use begins with it, in any letter case. */
  isIdTaken(id: string): boolean {
    const wanted = id.toLowerCase();
    return [...this.channels.keys()].some((each) => each.toLowerCase().startsWith(wanted));
  }

  /** `topic`: the channel whose followers get the event. Default: the channel itself. */
  tell(
    channel: Channel,
    type: string,
    facts: Record<string, unknown> = {},
    topic: Channel = channel,
  ): void {
    if (channel.isHidden) return;
    const apps = new Set(topic.followers);
    if (topic.app !== null) apps.add(topic.app);
    const subject = type === 'Dial' ? 'peer' : 'channel';
    const event = { type, timestamp: this.timestamp(), ...facts, [subject]: channel.snapshot() };
    this.stasis.tell(apps, event);
  }

  setState(channel: Channel, state: ChannelState): void {
    if (channel.state === state) return;
    channel.state = state;
    this.tell(channel, 'ChannelStateChange');
  }

  setVariable(channel: Channel, name: string, value: string): void {
    if (name === 'TIMEOUT(absolute)') this.#limit(channel, Number(value));
    channel.variables.set(name, value);
    if (name.endsWith(')')) return; // A function, which is no variable.
    this.tell(channel, 'ChannelVarset', { variable: name, value });
  }

  /** Ends the channel after so many seconds, whatever it does then. A later limit replaces an earlier one; 0: none. */
  #limit(channel: Channel, seconds: number): void {
    channel.unlimit();
    if (seconds === 0) return;
    channel.unlimit = this.later(seconds * 1_000, () => this.hangUp(channel, 0, null));
  }

  tellDial(channel: Channel, dialstatus: string): void {
    const dialling = channel.dialling;
    if (dialling === null) return;
    const dialstring = dialling.originated || dialstatus === '' ? dialling.dialString : '';
    const facts = { dialstatus, forward: '', dialstring };
    const { from } = dialling;
    if (from == null) this.tell(channel, 'Dial', facts);
    else this.tell(channel, 'Dial', { ...facts, caller: from.snapshot() }, from);
  }

  /** The far side of a dialled channel rings, makes early sounds, or picks up. */
  farRings(channel: Channel): void {
    if (channel.isOver || channel.dialling === null) return;
    this.setState(channel, 'Ringing');
    this.tellDial(channel, 'RINGING');
  }

  farProgresses(channel: Channel): void {
    if (!channel.isOver) this.tellDial(channel, 'PROGRESS');
  }

  farAnswers(channel: Channel): void {
    const { dialling } = channel;
    if (channel.isOver || dialling === null) return;
    this.setState(channel, 'Up');
    this.tellDial(channel, 'ANSWER');
    channel.dialling = null;
    dialling.onAnswer();
  }

  /** The application's `args` are StasisStart's. False if nobody serves the application. */
  enterStasis(channel: Channel, app: string, args: string[], replaced?: Channel): boolean {
    if (!this.stasis.isServed(app)) return false;
    channel.appName = 'Stasis';
    channel.appData = [app, ...args].join(',');
    this.setVariable(channel, 'STASISSTATUS', '');
    channel.app = app;
    const replacing = replaced && { replace_channel: replaced.snapshot() };
    this.#tellApp(app, channel, { type: 'StasisStart', args, ...replacing });
    return true;
  }

  /** Its telephone has transferred the call (REFER): one half of a new pair of channels takes its place in the application
   *  and in the bridge, then it ends. Read in res_stasis.c, stasis_bridge.c and bridge.c. */
  transfer(channel: Channel): Channel {
    const { app, bridge } = channel;
    if (app === null) throw new Error('not in an application');
    const name = `Local/_attended@transfer/m-${this.serial()};2`;
    const facts = { id: this.uniqueId(), name, context: 'transfer', exten: '_attended' };
    const other = this.add(facts);
    other.state = 'Up';
    this.enterStasis(other, app, [], channel);
    this.leaveBridge(channel);
    if (bridge !== null) this.joinBridge(bridge, other);
    this.hangUp(channel, 16, { cause: 16 });
    return other;
  }

  leaveStasis(channel: Channel): void {
    const { app } = channel;
    this.leaveBridge(channel);
    if (app === null) return;
    this.#tellApp(app, channel, { type: 'StasisEnd' });
    channel.app = null;
    this.setVariable(channel, 'STASISSTATUS', 'SUCCESS');
    this.stasis.forget(app, (name) => this.isNeeded(name));
  }

  /** Whether an application still has something, so that it outlives its socket. */
  isNeeded(app: string): boolean {
    return [...this.channels.values()].some(
      (channel) => channel.app === app || channel.followers.has(app),
    );
  }

  createBridge(id: string, name: string): Bridge {
    const bridge = new Bridge({ id, name, createdAt: this.timestamp() });
    this.bridges.set(id, bridge);
    this.#stopBridges ??= this.ticker.add('ear', () => {
      for (const each of this.bridges.values()) each.beat();
    });
    return bridge;
  }

  joinBridge(bridge: Bridge, channel: Channel): void {
    if (channel.bridge === bridge) return;
    this.leaveBridge(channel);
    bridge.join(channel);
    this.tell(channel, 'ChannelEnteredBridge', { bridge: bridge.snapshot() });
    this.#namePeers(bridge);
  }

  leaveBridge(channel: Channel): void {
    const { bridge } = channel;
    if (bridge === null) return;
    bridge.leave(channel);
    this.setVariable(channel, 'BRIDGEPEER', '');
    this.tell(channel, 'ChannelLeftBridge', { bridge: bridge.snapshot() });
  }

  destroyBridge(bridge: Bridge): void {
    for (const channel of this.#membersOf(bridge)) this.leaveBridge(channel);
    this.bridges.delete(bridge.id);
    const event = { type: 'BridgeDestroyed', timestamp: this.timestamp() };
    this.stasis.tell(bridge.apps, { ...event, bridge: bridge.snapshot() } satisfies AriEvent);
  }

  /** Ends a channel, and what it leads to. `request` is told first, null for none. */
  hangUp(channel: Channel, cause: number, request: HangupRequest | null): void {
    if (channel.isOver) return;
    channel.isOver = true;
    if (request !== null) this.tell(channel, 'ChannelHangupRequest', { ...request });
    const { partner } = channel;
    this.leaveStasis(channel);
    if (request?.cause === 32) this.#dialEnded(channel, cause);
    const partnerEnds = partner !== null && !partner.isOver;
    const partnerCause = partnerEnds ? this.#causeAcross(partner, cause) : cause;
    if (partnerEnds) this.#requestOf(partner, partnerCause);
    this.#destroy(channel, cause);
    if (partnerEnds) this.#partnerGone(partner, partnerCause);
  }

  /** Everything is gone at once, as by `kill -9`. */
  crash(): void {
    this.generation += 1;
    this.ticker.stop();
    this.#stopBridges = null;
    for (const channel of this.channels.values()) {
      channel.isOver = true;
      channel.phone?.over({ cause: 0, sipStatus: null, by: 'pbx' });
    }
    this.channels.clear();
    this.bridges.clear();
    this.stasis.clear();
    for (const end of [...this.mortals]) end();
    this.mortals.clear();
  }

  /** In the order in which they came. */
  #membersOf(bridge: Bridge): Channel[] {
    return bridge.channels.flatMap(({ id }) => this.channels.get(id) ?? []);
  }

  /** Only the application that gets or loses a channel is told of that, whoever else follows it. */
  #tellApp(app: string, channel: Channel, event: AriEvent): void {
    const { type, ...facts } = event;
    const timestamp = this.timestamp();
    this.stasis.tell([app], { type, timestamp, ...facts, channel: channel.snapshot() });
  }

  #namePeers(bridge: Bridge): void {
    const members = this.#membersOf(bridge);
    if (members.length < 2) return;
    for (const channel of members) {
      const others = members.filter((each) => each !== channel).map(({ name }) => name);
      this.setVariable(channel, 'BRIDGEPEER', others.join(','));
    }
  }

  /** SIP carries a status, not a cause; after an answer it carries neither. */
  #causeAcross(partner: Channel, cause: number): number {
    if (!partner.isSip || partner.state === 'Up') return cause;
    if (partner.dialling === null) {
      partner.techCause = 487;
      return cause;
    }
    partner.techCause = sipStatusOf(cause);
    return causeOfSip(partner.techCause);
  }

  /** We hang up what we dialled. */
  #dialEnded(channel: Channel, cause: number): void {
    if (channel.dialling?.originated !== true) return;
    this.tellDial(channel, dialStatusOf(cause));
    if (channel.isSip && cause !== 16) channel.techCause = sipStatusOf(cause);
  }

  #requestOf(partner: Channel, cause: number): void {
    const tech = partner.isSip ? partner.techCause : null;
    const known = tech === null || !this.version.techCause ? {} : { tech_cause: tech };
    this.tell(partner, 'ChannelHangupRequest', { cause, ...known });
  }

  #partnerGone(channel: Channel, cause: number): void {
    channel.isOver = true;
    if (channel.phone !== null)
      this.tell(channel, 'ChannelHangupRequest', { cause: 16, soft: true });
    this.leaveStasis(channel);
    if (channel.dialling?.originated === true) this.tellDial(channel, dialStatusOf(cause));
    this.#destroy(channel, channel.ownCause ?? cause);
  }

  #destroy(channel: Channel, cause: number): void {
    this.channels.delete(channel.id);
    channel.appName = channel.idleApp.name;
    channel.appData = channel.idleApp.data;
    const tech =
      channel.techCause === null || !this.version.techCause
        ? {}
        : { tech_cause: channel.techCause };
    this.tell(channel, 'ChannelDestroyed', { cause, cause_txt: causeText(cause), ...tech });
    channel.line.gone(cause);
    channel.phone?.over({
      cause,
      sipStatus: channel.isSip && channel.state !== 'Up' ? sipStatusOf(cause) : null,
      by: channel.isEndedByPhone ? 'phone' : 'pbx',
    });
    for (const app of channel.followers) this.stasis.forget(app, (name) => this.isNeeded(name));
  }
}
