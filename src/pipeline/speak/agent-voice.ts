// The agent's side of a call: joins synthesis, playout and the wire. Reports the result of each utterance to its
// listener.

import type { Codec } from '../../codec/codec.ts';
import type { GatewayError } from '../../errors/gateway-error.ts';
import type { ServiceUsage } from '../../speech/service/service-means.ts';
import type { TextToSpeech } from '../../speech/tts/tts.ts';
import type { Clock } from '../../std/clock.ts';
import type { BackgroundNoise } from './background-noise.ts';
import { type AwaySound, Filler } from './filler.ts';
import { type AudioWire, FrameBatch } from './frame-batch.ts';
import { FrameWriter } from './frame-writer.ts';
import type { PlayedListener } from './playhead.ts';
import { Playout } from './playout.ts';
import type { SendAheadOptions } from './send-ahead.ts';
import { SentenceSynthesizer } from './sentence-synthesis.ts';
import { StreamedSynthesizer } from './streamed-synthesis.ts';
import type { SynthesisText, Synthesizer, SynthesizerOptions } from './synthesizer.ts';
import type { UtteranceResult } from './utterance.ts';
import { Segment, Utterance } from './utterance.ts';

export interface AgentVoiceListener {
  mayStart(utterance: Utterance, nowMs: number): boolean;
  onStarted(utterance: Utterance, nowMs: number): void;
  onFinished(facts: UtteranceResult): void;
  onPlayed: PlayedListener;
  onUsage(usage: ServiceUsage): void;
  onFault(error: GatewayError): void;
  /** An event may have occurred outside a call from the owner: the listener may deliver its events. */
  onSettled(): void;
}

/** Voice of a node. The plan of a call bounds their number. */
export interface SpokenWith {
  tts: TextToSpeech;
  voice: string | undefined;
}

interface Speaker extends SpokenWith {
  synthesizer: Synthesizer;
}

export interface AgentVoiceOptions extends SpokenWith {
  clock: Clock;
  mediaMs: () => number;
  codec: Codec;
  wire: AudioWire;
  lead: SendAheadOptions;
  marks: boolean;
  /** Background noise. Default: none. */
  ambient?: BackgroundNoise | undefined;
  listener: AgentVoiceListener;
}

export class AgentVoice {
  readonly playout: Playout;
  readonly #clock: Clock;
  readonly #mediaMs: () => number;
  /** Speakers of each voice that the call has had: a former one still speaks what was begun with it. */
  readonly #speakers: Speaker[] = [];
  /** Speaker of the next utterance. */
  #speaker: Speaker;
  readonly #listener: AgentVoiceListener;
  readonly #pause: Filler;
  #isAway = false;
  #closed = false;

  constructor(options: AgentVoiceOptions) {
    const { clock, codec, lead, listener, ambient } = options;
    const wire = new FrameBatch({ wire: options.wire, codec, stepMs: lead.stepMs });
    this.#clock = clock;
    this.#mediaMs = options.mediaMs;
    this.#listener = listener;
    this.#pause = new Filler(ambient !== undefined);
    this.playout = new Playout({
      writer: new FrameWriter({ codec, wire, ambient }),
      wire,
      lead,
      marks: options.marks,
      pause: this.#pause,
      onPlayed: listener.onPlayed,
      listener: {
        mayStart: (utterance, nowMs) => listener.mayStart(utterance, nowMs),
        onStarted: (utterance, nowMs) => listener.onStarted(utterance, nowMs),
        onFinished: (facts) => this.#finished(facts),
        onRoom: () => this.#pump(),
      },
    });
    this.#speaker = this.#speakerOf(options);
  }

  /** Sets the voice of the next utterance. Utterances that were begun continue with theirs. */
  use(spoken: SpokenWith): void {
    if (!this.#closed) this.#speaker = this.#speakerOf(spoken);
  }

  #speakerOf({ tts, voice }: SpokenWith): Speaker {
    const known = this.#speakers.find((each) => each.tts === tts && each.voice === voice);
    if (known !== undefined) return known;
    const listener = this.#listener;
    const synthesizer = synthesizerOf({
      clock: this.#clock,
      tts,
      voice,
      listener: {
        onAudio: () => {
          this.playout.pump(this.#mediaMs());
          listener.onSettled();
        },
        onUsage: (usage) => listener.onUsage(usage),
        onFault: (error) => listener.onFault(error),
      },
    });
    const speaker = { tts, voice, synthesizer };
    this.#speakers.push(speaker);
    return speaker;
  }

  #pump(): void {
    for (const { synthesizer } of this.#speakers) synthesizer.pump();
  }

  speak(id: number, interruptible: boolean): SynthesisText & { keep(): void; cancel(): void } {
    const utterance = this.#queue(id, interruptible);
    const { synthesizer } = this.#speaker;
    const sink = synthesizer.open(utterance);
    return {
      text: (delta) => {
        sink.text(delta);
        this.#listener.onSettled();
      },
      breakOff: () => sink.breakOff(),
      keep: () => {
        utterance.interruptible = false;
      },
      end: () => {
        sink.end();
        this.#listener.onSettled();
      },
      cancel: () => {
        this.playout.cancel(utterance, this.#mediaMs());
        synthesizer.drop(utterance);
        this.#listener.onSettled();
      },
    };
  }

  /** Queues a recorded clip with the words `text`; `samples` (at most a minute; borrowed, never changed) are played
   *  like an utterance of one sentence. False if the queue is full. */
  play(id: number, interruptible: boolean, clip: { text: string; samples: Int16Array }): boolean {
    const utterance = this.#queue(id, interruptible);
    const isQueued = !utterance.cancelled;
    if (isQueued) {
      const segment = new Segment(utterance, clip.text);
      segment.failed = !segment.keep(clip.samples);
      segment.complete = true;
      utterance.segments.push(segment);
      utterance.firstTextAt = this.#clock.monotonicMs();
      utterance.firstAudioAt = utterance.firstTextAt;
    }
    utterance.ended = true;
    this.playout.pump(this.#mediaMs());
    this.#listener.onSettled();
    return isQueued;
  }

  /** Plays a clip while the agent's own speech is missing, before everything queued; not at all if that speech comes
   *  first. */
  interject(id: number, clip: { text: string; samples: Int16Array }): void {
    const utterance = new Utterance(id, true);
    const segment = new Segment(utterance, clip.text);
    segment.failed = !segment.keep(clip.samples);
    segment.complete = true;
    utterance.segments.push(segment);
    utterance.ended = true;
    if (this.#closed) {
      const endMs = this.#mediaMs();
      this.#listener.onFinished({ utterance, heardText: '', interrupted: true, endMs });
    } else {
      this.playout.interject(utterance, this.#mediaMs());
    }
    this.#listener.onSettled();
  }

  /** Queues an utterance. With a full queue, it is over before it began. */
  #queue(id: number, interruptible: boolean): Utterance {
    const utterance = new Utterance(id, interruptible);
    if (this.#closed || this.playout.full) {
      utterance.cancelled = true;
      const endMs = this.#mediaMs();
      this.#listener.onFinished({ utterance, heardText: '', interrupted: true, endMs });
    } else {
      this.playout.add(utterance);
    }
    return utterance;
  }

  /** Whether the caller gets a sound in place of the agent's speech, which goes to a transfer destination. */
  get isAway(): boolean {
    return this.#isAway;
  }

  /** Gives the caller `sound` until null, while the agent announces the caller to a transfer destination. */
  away(sound: AwaySound | null): void {
    this.#isAway = sound !== null;
    this.#pause.away(sound);
  }

  suspend(on: boolean): void {
    if (on) this.playout.suspend(this.#mediaMs());
    else this.playout.unsuspend(this.#mediaMs());
  }

  /** Starts or stops a ring-back tone, which plays in the agent's pauses. It is not an utterance. */
  ring(on: boolean): void {
    this.#pause.ring(on);
  }

  /** Starts or stops the waiting tone, which the agent's next words end too. It is not an utterance. */
  hold(on: boolean): void {
    this.#pause.hold(on);
  }

  /** Drops everything and stops. */
  stop(): void {
    this.#pause.ring(false);
    this.#pause.hold(false);
    this.away(null);
    this.playout.interrupt(this.#mediaMs(), { everything: true });
  }

  close(): void {
    this.stop();
    this.#closed = true;
    for (const { synthesizer } of this.#speakers) synthesizer.close();
  }

  #finished(facts: UtteranceResult): void {
    for (const { synthesizer } of this.#speakers) synthesizer.drop(facts.utterance);
    this.#listener.onFinished(facts);
    for (const segment of facts.utterance.segments) segment.release();
  }
}

function synthesizerOf(options: SynthesizerOptions): Synthesizer {
  const { tts } = options;
  const { stream } = tts;
  if (stream === undefined) return new SentenceSynthesizer(options);
  return new StreamedSynthesizer({ ...options, stream: (...of) => stream.apply(tts, of) });
}
