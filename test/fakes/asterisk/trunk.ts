// How a call gets from one channel to another inside the simulated PBX: the two halves of a Local channel,
// a SIP call of the PBX to itself, and SIP to telephones outside. Dials, and brings callers in.

import { type Channel, type Line, type Party, partyOf } from './channel.ts';
import type { Step } from './dialplan.ts';
import { AudioWay } from './media/audio-faults.ts';
import type { Pbx } from './pbx.ts';
import type { Phone } from './phone.ts';
import type { Runner } from './scenarios/runner.ts';

export interface Endpoint {
  /** Where its calls arrive. */
  context: string;
  /** `dead`: nobody is there. `outside`: telephones that are no channels of the PBX. `unregistered`: no contact. */
  kind: 'loop' | 'dead' | 'outside' | 'unregistered';
}

export const standardEndpoints: Record<string, Endpoint> = {
  loop: { context: 'sip-dest', kind: 'loop' },
  sipp: { context: 'pbx-in', kind: 'dead' },
  dead: { context: 'pbx-in', kind: 'dead' },
  trunk: { context: 'sip-dest', kind: 'outside' },
  '102': { context: 'sip-dest', kind: 'unregistered' },
};

/** A channel that has been made and not yet been dialled. */
export interface Prepared {
  channel: Channel;
  isDialled: boolean;
  /** Dials; `timeoutMs` null for none. */
  dial(timeoutMs: number | null): void;
}

export interface DialFacts {
  id: string;
  /** Id of the second half of a Local channel; default: the first one's with `;2`. */
  otherId?: string;
  /** `Local/<ext>@<context>[/n]`, `PJSIP/<ext>@<endpoint>`, `PJSIP/<number>`. */
  endpoint: string;
  caller: Party | null;
  variables: Record<string, string>;
  /** Formats for the channel, best first; none: all that there are. */
  formats: readonly string[];
  /** Told of both halves. */
  app: string | null;
  /** By POST /channels, not POST /channels/create. */
  originated: boolean;
  /** The channel whose dialplan dials. */
  from?: Channel;
  onAnswer: (channel: Channel) => void;
}

export class Trunk {
  readonly endpoints: Record<string, Endpoint> = { ...standardEndpoints };
  /** Destinations of numbers: which extension of out-dest plays the person there. */
  readonly numbers = new Map<string, string>();
  readonly #pbx: Pbx;
  readonly #runner: Runner;

  constructor(pbx: Pbx, runner: Runner) {
    this.#pbx = pbx;
    this.#runner = runner;
    runner.connect = (from, to) => this.#connect(from, to);
  }

  /** Undefined if the PBX has no such technology or endpoint ("Allocation failed"). */
  prepare(facts: DialFacts): Prepared | undefined {
    const local = /^Local\/([^@/]+)@([^/]+)(\/n)?$/i.exec(facts.endpoint);
    if (local !== null) {
      const [, exten = '', context = ''] = local;
      return this.#prepareLocal(facts, { exten, context });
    }
    const sip = /^PJSIP\/(?:([^@/]*)@)?([^@/]+)$/i.exec(facts.endpoint);
    if (sip === null) return undefined;
    const [, user, host = ''] = sip;
    if (user === undefined && this.numbers.has(host)) {
      return this.#prepareSip(facts, { exten: host, name: host, endpoint: outside });
    }
    const endpoint = this.endpoints[host];
    if (endpoint === undefined || endpoint.kind === 'unregistered') return undefined;
    return this.#prepareSip(facts, { exten: user ?? 's', name: host, endpoint });
  }

  /** A telephone outside calls in. Its person is `script` of the context caller-sim. */
  bringIn(call: {
    from: Party;
    to: string;
    context: string;
    script: string;
    variables: Record<string, string>;
  }): { phone: Phone; channel: Channel } {
    const pbx = this.#pbx;
    const far = pbx.add({
      id: `outside-${pbx.uniqueId()}`,
      name: `PJSIP/outside-${pbx.serial()}`,
      context: 'caller-sim',
      exten: call.script,
      caller: call.from,
    });
    far.isHidden = true;
    const near = this.#incoming(far, `PJSIP/trunk-${pbx.serial()}`, {
      context: call.context,
      exten: call.to,
    });
    for (const [name, value] of Object.entries(call.variables)) near.variables.set(name, value);
    const onAnswer = (): void =>
      this.#runner.run(far, { context: 'caller-sim', exten: call.script });
    far.dialling = { dialString: '', originated: false, onAnswer };
    const phone = this.#runner.attachPhone(far, call.script);
    pbx.soon(() => this.#runner.run(near, near));
    return { phone, channel: near };
  }

  #prepareLocal(facts: DialFacts, at: { exten: string; context: string }): Prepared {
    const pbx = this.#pbx;
    const base = `Local/${at.exten}@${at.context}-${pbx.serial()}`;
    const party = facts.caller === null ? {} : { caller: facts.caller, connected: facts.caller };
    const outgoing = facts.originated ? { appName: 'AppDial2', appData: '(Outgoing Line)' } : {};
    const near = pbx.add({ id: facts.id, name: `${base};1`, ...at, ...party, ...outgoing });
    const far = pbx.add({
      id: facts.otherId ?? `${facts.id};2`,
      name: `${base};2`,
      ...at,
      ...party,
    });
    far.state = 'Ring';
    this.#join(near, far);
    for (const half of [near, far]) {
      half.formats = facts.formats;
      if (facts.formats.length === 0) half.line = withHalfVolume(half.line);
    }
    this.#follow(facts, facts.originated ? [near, far] : [near]);
    this.#setVariables(near, far, facts.variables);
    const dialString = `${at.exten}@${at.context}/n`;
    return {
      channel: near,
      isDialled: false,
      dial: (timeoutMs) => {
        far.caller = { ...near.connected };
        if (facts.caller !== null && facts.originated) tellCaller(pbx, far);
        if (!this.#runner.has(at)) {
          near.partner = null;
          far.partner = null;
          pbx.hangUp(far, 0, null);
          pbx.hangUp(near, facts.originated ? 0 : 16, null);
          return;
        }
        this.#dial(near, facts, { dialString, timeoutMs });
        this.#runner.run(far, at);
      },
    };
  }

  #prepareSip(facts: DialFacts, to: { exten: string; name: string; endpoint: Endpoint }): Prepared {
    const pbx = this.#pbx;
    const { context, kind } = to.endpoint;
    const party = facts.caller === null ? {} : { caller: facts.caller, connected: facts.caller };
    const outgoing = facts.originated ? { appName: 'AppDial2', appData: '(Outgoing Line)' } : {};
    const name = `PJSIP/${to.name}-${pbx.serial()}`;
    const protocolId = callId(pbx);
    const facing = { context, exten: 's', protocolId };
    const near = pbx.add({ id: facts.id, name, ...facing, ...party, ...outgoing });
    near.techCause = kind === 'dead' ? 480 : null;
    this.#follow(facts, [near]);
    this.#setVariables(near, null, facts.variables);
    const dialString = facts.endpoint.replace(/^PJSIP\//i, '');
    return {
      channel: near,
      isDialled: false,
      dial: (timeoutMs) => {
        this.#dial(near, facts, { dialString, timeoutMs });
        if (kind === 'dead') return;
        const at = { context, exten: this.numbers.get(to.exten) ?? to.exten };
        const far = this.#incoming(near, `PJSIP/${to.name}-${pbx.serial()}`, at);
        far.caller = { ...near.connected };
        far.isHidden = kind === 'outside';
        if (this.#runner.has(at)) this.#runner.run(far, at);
        else pbx.hangUp(far, 1, null);
      },
    };
  }

  #incoming(from: Channel, name: string, at: { context: string; exten: string }): Channel {
    const pbx = this.#pbx;
    const caller = { ...from.caller };
    const protocolId = from.protocolId || callId(pbx);
    const channel = pbx.add({ id: pbx.uniqueId(), name, ...at, caller, protocolId });
    channel.state = 'Ring';
    this.#join(from, channel);
    return channel;
  }

  #dial(
    channel: Channel,
    facts: DialFacts,
    how: { dialString: string; timeoutMs: number | null },
  ): void {
    const pbx = this.#pbx;
    const cancel =
      how.timeoutMs === null
        ? () => undefined
        : pbx.later(how.timeoutMs, () => {
            if (channel.isSip) channel.techCause = 480;
            pbx.hangUp(channel, 19, facts.originated ? null : { cause: 32, soft: true });
          });
    channel.dialling = {
      dialString: how.dialString,
      originated: facts.originated,
      from: facts.from ?? null,
      onAnswer: () => {
        cancel();
        facts.onAnswer(channel);
      },
    };
    pbx.tellDial(channel, '');
  }

  #setVariables(near: Channel, far: Channel | null, variables: Record<string, string>): void {
    for (const [name, value] of Object.entries(variables)) {
      if (name.endsWith(')')) {
        this.#setFunction(near, name, value);
        continue;
      }
      near.variables.set(name.replace(/^_+/, ''), value);
      if (name.startsWith('_')) far?.variables.set(name.replace(/^_+/, ''), value);
      if (name.startsWith('__') && far !== null) far.inherited[name] = value;
    }
  }

  /** Functions of the dialplan: who calls, who the other side is told that calls, and how long a call may last. */
  #setFunction(channel: Channel, name: string, value: string): void {
    if (name === 'TIMEOUT(absolute)' || name.startsWith('JITTERBUFFER(')) {
      this.#pbx.setVariable(channel, name, value);
      return;
    }
    const party = partyOf(value);
    if (party === null) return;
    if (name === 'CONNECTEDLINE(all)') {
      channel.connected = party;
      this.#pbx.tell(channel, 'ChannelConnectedLine');
    } else if (name === 'CALLERID(all)') {
      channel.caller = party;
      tellCallerId(this.#pbx, channel);
    }
  }

  #follow(facts: DialFacts, channels: Channel[]): void {
    const { app } = facts;
    if (app !== null) for (const channel of channels) channel.followers.add(app);
  }

  /** `near` is the dialling side: an answer of `far` is an answer to it. */
  #join(near: Channel, far: Channel): void {
    const pbx = this.#pbx;
    near.partner = far;
    far.partner = near;
    near.line = lineTo(pbx, far, 'toCallee');
    far.line = {
      ...lineTo(pbx, near, 'toCaller'),
      answer: () => pbx.farAnswers(near),
      ring: () => pbx.farRings(near),
    };
  }

  /** Dial(): the caller and whom it reached hear each other, without any application. */
  #connect(from: Channel, to: Extract<Step, { app: 'Dial' }>): void {
    const { endpoint } = to;
    const prepared = this.prepare({
      id: this.#pbx.uniqueId(),
      endpoint:
        endpoint === undefined
          ? `Local/${to.exten}@${to.context}/n`
          : `PJSIP/${to.exten}@${endpoint}`,
      caller: from.caller,
      variables: from.inherited,
      formats: from.formats,
      app: null,
      originated: true,
      from,
      onAnswer: (channel) => {
        from.variables.set('DIALEDPEERNAME', channel.name);
        if (from.state !== 'Up') {
          this.#pbx.setState(from, 'Up');
          from.line.answer();
        }
        const bridge = this.#pbx.createBridge(this.#pbx.uniqueId(), '');
        this.#pbx.joinBridge(bridge, from);
        this.#pbx.joinBridge(bridge, channel);
        void from.phone?.ended.then(() => this.#pbx.destroyBridge(bridge));
      },
    });
    prepared?.dial(20_000);
    // A caller who is gone takes along what rings for them.
    void from.phone?.ended.then(() => {
      if (prepared !== undefined) this.#pbx.hangUp(prepared.channel, 16, null);
    });
  }
}

const outside: Endpoint = { context: 'sip-dest', kind: 'outside' };

function lineTo(pbx: Pbx, other: Channel, direction: 'toCaller' | 'toCallee'): Line {
  const way = new AudioWay(
    (ms, run) => void pbx.later(ms, run),
    (frame) => other.takeAudio(frame),
  );
  return {
    audio: (frame) => way.pass(frame, pbx.faults.audio[direction]),
    digit: (digit) => {
      if (!pbx.faults.losesKeys) takeDigit(pbx, other, digit);
    },
    answer: () => undefined,
    ring: () => undefined,
    gone: () => undefined,
  };
}

/** A Local channel for which no formats are named is signed linear of 192 kHz: what passes it is resampled, at half
 *  its volume. */
function withHalfVolume(line: Line): Line {
  return {
    ...line,
    audio: ({ pcm, rateHz }) =>
      line.audio({ pcm: pcm.map((sample) => Math.round(sample / 2)), rateHz }),
  };
}

/** A key that comes in from a channel's line. */
export function takeDigit(pbx: Pbx, channel: Channel, digit: string): void {
  if (channel.isOver) return;
  channel.phone?.takeDigit(digit);
  pbx.tell(channel, 'ChannelDtmfReceived', { digit, duration_ms: 100 });
  channel.bridge?.takeDigit(channel, digit);
}

function tellCaller(pbx: Pbx, channel: Channel): void {
  tellCallerId(pbx, channel);
  pbx.tell(channel, 'ChannelConnectedLine');
}

function tellCallerId(pbx: Pbx, channel: Channel): void {
  const presentation = 'Presentation Allowed, Not Screened';
  const facts = { caller_presentation: 0, caller_presentation_txt: presentation };
  pbx.tell(channel, 'ChannelCallerId', facts);
}

function callId(pbx: Pbx): string {
  return `${pbx.serial()}-${pbx.pointer().slice(2)}@sim`;
}
