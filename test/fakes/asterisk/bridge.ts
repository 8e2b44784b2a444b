// A mixing bridge: two channels hear each other as they come (simple_bridge); more are added up every 20 ms
// (softmix). Music, and what is played, is heard by everybody.

import { FRAME_SAMPLES, RATE_HZ } from '../../../src/audio/pcm.ts';
import { ringbackTone, type ToneSamples } from '../../../src/audio/tones/tone-generator.ts';
import { sine } from '../../audio/sounds.ts';
import { type Frame, RateConverter } from './media/frame.ts';

/** Frames of one member that wait for the mix. */
const WAITING_FRAMES_MAX = 10;

/** A channel as a bridge knows it. */
export interface Member {
  readonly id: string;
  app: string | null;
  absorbsDigits: boolean;
  isHolding: boolean;
  bridge: Bridge | null;
  line: { audio(frame: Frame): void; digit(digit: string): void };
}

export class Bridge {
  readonly id: string;
  readonly name: string;
  readonly createdAt: string;
  readonly channels: Member[] = [];
  /** Applications whose channels were in it: they are told of its end. */
  readonly apps = new Set<string>();
  readonly #waiting = new Map<Member, { queue: Int16Array[]; to8k: RateConverter }>();
  #music: ToneSamples | null = null;
  #tone: ToneSamples | null = null;
  readonly #holdMusic = sine({ hz: 440, levelDbfs: -12 });

  constructor(facts: { id: string; name: string; createdAt: string }) {
    this.id = facts.id;
    this.name = facts.name;
    this.createdAt = facts.createdAt;
  }

  get technology(): 'simple_bridge' | 'softmix' {
    return this.channels.length > 2 ? 'softmix' : 'simple_bridge';
  }

  get hasMusic(): boolean {
    return this.#music !== null;
  }

  setMusic(on: boolean): void {
    this.#music = on ? sine({ hz: 350, levelDbfs: -20 }) : null;
  }

  /** The ring-back tone, for ever. */
  setTone(on: boolean): void {
    this.#tone = on ? ringbackTone() : null;
  }

  join(channel: Member): void {
    channel.bridge = this;
    this.channels.push(channel);
    if (channel.app !== null) this.apps.add(channel.app);
    this.#waiting.set(channel, { queue: [], to8k: new RateConverter(RATE_HZ) });
  }

  leave(channel: Member): void {
    channel.bridge = null;
    this.#waiting.delete(channel);
    const at = this.channels.indexOf(channel);
    if (at >= 0) this.channels.splice(at, 1);
  }

  /** Audio that comes from a member. */
  take(from: Member, frame: Frame): void {
    if (from.isHolding) return;
    if (this.channels.length <= 2) {
      for (const other of this.channels) if (other !== from) other.line.audio(frame);
      return;
    }
    const member = this.#waiting.get(from);
    if (member === undefined || member.queue.length >= WAITING_FRAMES_MAX) return;
    member.queue.push(Int16Array.from(member.to8k.convert(frame)));
  }

  takeDigit(from: Member, digit: string): void {
    if (from.absorbsDigits) return;
    for (const other of this.channels) if (other !== from) other.line.digit(digit);
  }

  /** Every 20 ms. */
  beat(): void {
    for (const { isHolding, line } of this.channels) {
      if (isHolding || !this.channels.some((each) => each.isHolding)) continue;
      const pcm = new Int16Array(FRAME_SAMPLES);
      this.#holdMusic.fill(pcm);
      line.audio({ pcm, rateHz: RATE_HZ });
    }
    const sound = this.#music ?? this.#tone;
    if (sound !== null) {
      const pcm = new Int16Array(FRAME_SAMPLES);
      sound.fill(pcm);
      for (const channel of this.channels) channel.line.audio({ pcm, rateHz: RATE_HZ });
    }
    if (this.channels.length > 2) this.#mix();
  }

  snapshot(): Record<string, unknown> {
    return {
      id: this.id,
      technology: this.technology,
      bridge_type: 'mixing',
      bridge_class: 'stasis',
      creator: 'Stasis',
      name: this.name,
      channels: this.channels.map(({ id }) => id).reverse(),
      creationtime: this.createdAt,
      video_mode: 'talker',
    };
  }

  #mix(): void {
    const said = this.channels.map((channel) => this.#waiting.get(channel)?.queue.shift());
    for (const [nth, channel] of this.channels.entries()) {
      const pcm = new Int16Array(FRAME_SAMPLES);
      for (const [other, frame] of said.entries()) {
        if (other !== nth && frame !== undefined) addTo(pcm, frame);
      }
      channel.line.audio({ pcm, rateHz: RATE_HZ });
    }
  }
}

function addTo(sum: Int16Array, frame: Int16Array): void {
  for (let i = 0; i < Math.min(sum.length, frame.length); i++) {
    const sample = (sum[i] as number) + (frame[i] as number); // Both within their lengths.
    sum[i] = Math.max(-32_768, Math.min(32_767, sample));
  }
}
