// One channel of the simulated PBX: what ARI shows of it, and the two directions of its audio. What the
// channel leads to (the other half of a pair, a media socket, a telephone) is its line.

import type { Bridge } from './bridge.ts';
import type { Frame } from './media/frame.ts';
import type { Phone } from './phone.ts';

export type ChannelState = 'Down' | 'Ring' | 'Ringing' | 'Up' | 'Busy';

export interface Party {
  name: string;
  number: string;
}

/** `"Bob" <5551234>`, `Bob <5551234>` or `5551234`. */
export function partyOf(callerId: string): Party | null {
  if (callerId === '') return null;
  const [, name, number] = /^\s*"?([^"<]*?)"?\s*<([^>]*)>\s*$/.exec(callerId) ?? [];
  return number === undefined ? { name: '', number: callerId } : { name: name ?? '', number };
}

/** Where a channel leads: what the PBX sends there. */
export interface Line {
  audio(frame: Frame): void;
  digit(digit: string): void;
  /** The PBX has answered. */
  answer(): void;
  ring(): void;
  /** The channel has been destroyed. */
  gone(cause: number): void;
}

const deadLine: Line = {
  audio: () => undefined,
  digit: () => undefined,
  answer: () => undefined,
  ring: () => undefined,
  gone: () => undefined,
};

/** A dial that has not been answered. */
export interface Dialling {
  dialString: string;
  /** Dialled by POST /channels: the string is in every event. After POST /channels/create only in the first. */
  originated: boolean;
  /** The channel whose dialplan dials: applications that follow it get its Dial events. */
  from?: Channel | null;
  /** What the channel does when it is answered. */
  onAnswer: () => void;
}

export interface ChannelFacts {
  id: string;
  name: string;
  createdAt: string;
  protocolId?: string;
  caller?: Party;
  connected?: Party;
  context: string;
  exten: string;
  appName?: string;
  appData?: string;
}

export class Channel {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly protocolId: string;
  caller: Party;
  connected: Party;
  state: ChannelState = 'Down';
  /** Its native formats; a SIP call's is the one that was negotiated. */
  formats: readonly string[] = ['ulaw'];
  context: string;
  exten: string;
  priority = 1;
  appName: string;
  appData: string;
  /** What it shows as its application where it runs none. */
  readonly idleApp: { name: string; data: string };
  /** Outside of the PBX (a telephone at the far end of a trunk): not listed, tells nothing. */
  isHidden = false;
  isOver = false;
  readonly variables = new Map<string, string>();
  /** Set with two underscores: every channel that this one dials gets them too. */
  inherited: Record<string, string> = {};
  /** Shown as `channelvars` in the answer to its creation. */
  shownVariables: string[] = [];
  /** The Stasis application that has it. */
  app: string | null = null;
  /** Applications that are told of it until it is destroyed. */
  readonly followers = new Set<string>();
  /** Where it goes when it leaves Stasis. */
  onLeave: ((goOn: { context: string; exten: string; priority: number } | null) => void) | null =
    null;
  bridge: Bridge | null = null;
  absorbsDigits = false;
  isMutedIn = false;
  /** Ends the silence that is sent on request. */
  stopSilence: (() => void) | null = null;
  /** Its telephone has put the call on hold: it sends nothing, and the others hear music. */
  isHolding = false;
  /** Class of the music on hold that it hears; null: none. */
  music: string | null = null;
  /** Sounds that were played to it, oldest first. */
  readonly sounds: string[] = [];
  line: Line = deadLine;
  /** Takes back TIMEOUT(absolute). */
  unlimit: () => void = () => undefined;
  partner: Channel | null = null;
  phone: Phone | null = null;
  dialling: Dialling | null = null;
  /** The cause it ends with, whatever its partner's is. */
  ownCause: number | null = null;
  /** The person at it has hung up. */
  isEndedByPhone = false;
  /** The technology's own code (SIP status, websocket close) at its end. */
  techCause: number | null = null;

  constructor(facts: ChannelFacts) {
    this.id = facts.id;
    this.name = facts.name;
    this.createdAt = facts.createdAt;
    this.protocolId = facts.protocolId ?? '';
    this.caller = facts.caller ?? { name: '', number: '' };
    this.connected = facts.connected ?? { name: '', number: '' };
    this.context = facts.context;
    this.exten = facts.exten;
    this.appName = facts.appName ?? '';
    this.appData = facts.appData ?? '';
    this.idleApp = { name: this.appName, data: this.appData };
  }

  get tech(): string {
    return this.name.split('/')[0] ?? '';
  }

  get isSip(): boolean {
    return this.tech === 'PJSIP';
  }

  /** Audio that comes in from the line. */
  takeAudio(frame: Frame): void {
    if (this.isOver || this.isMutedIn) return;
    if (this.bridge !== null) this.bridge.take(this, frame);
    else this.phone?.hear(frame);
  }

  snapshot(): Record<string, unknown> {
    const shown = Object.fromEntries(
      this.shownVariables.map((name) => [name, this.variables.get(name) ?? '']),
    );
    return {
      id: this.id,
      name: this.name,
      state: this.state,
      protocol_id: this.protocolId,
      caller: { ...this.caller },
      connected: { ...this.connected },
      accountcode: '',
      dialplan: {
        context: this.context,
        exten: this.exten,
        priority: this.priority,
        app_name: this.appName,
        app_data: this.appData,
      },
      creationtime: this.createdAt,
      language: 'en',
      ...(this.shownVariables.length > 0 ? { channelvars: shown } : {}),
    };
  }
}
