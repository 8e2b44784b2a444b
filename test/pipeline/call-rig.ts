// A call on a test bench: a CallAudio with a fake clock, fake services, a far end that plays in real
// time, and a caller whose voice is switched on and off.

import type { VadModel } from '../../src/audio/vad/vad.ts';
import { pcmu } from '../../src/codec/g711.ts';
import { CallAudio } from '../../src/pipeline/call-audio.ts';
import type { CallAudioEvent, UtteranceReport } from '../../src/pipeline/call-audio-event.ts';
import type { CallAudioOptions } from '../../src/pipeline/call-audio-options.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { defaultTuning } from '../../src/pipeline/turn/turn-tuning.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import type { TextToSpeech } from '../../src/speech/tts/tts.ts';
import type { Clock } from '../../src/std/clock.ts';
import { FarEnd } from '../fakes/call/far-end.ts';
import { FakeClock, settle } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { FakeStt, FakeTts, hum, loudnessVad } from '../fakes/speech-services.ts';

const VOICE = encoded(hum(20, 8_000));
const SILENCE = encoded(new Int16Array(160));

export interface RigOptions {
  /** What the far end does with marks. */
  marks?: 'none' | 'echo-on-clear' | 'drop-on-clear';
  oneWayMs?: number;
  lead?: CallAudioOptions['lead'];
  inflow?: CallAudioOptions['inflow'];
  tuning?: CallAudioOptions['tuning'];
  recording?: CallAudioOptions['recording'];
  ambient?: CallAudioOptions['ambient'];
  withoutStt?: boolean;
  languages?: Pick<CallAudioOptions, 'agentLanguage' | 'language' | 'wordsLanguage'> | undefined;
  isInputMuted?: boolean;
  detectsInBandDtmf?: boolean;
  /** In place of the rig's own. */
  stt?: (clock: FakeClock) => SpeechToText;
  tts?: (clock: Clock) => TextToSpeech;
  /** By loudness if not given. */
  vad?: (clock: Clock) => VadModel;
}

export class CallRig {
  readonly clock = new FakeClock();
  readonly stt = new FakeStt(this.clock);
  readonly tts = new FakeTts(this.clock);
  readonly farEnd: FarEnd;
  readonly audio: CallAudio;
  readonly news: (CallAudioEvent & { atMs: number })[] = [];
  /** What the caller's line brings. */
  line: 'silence' | 'voice' | 'nothing' = 'silence';
  /** Whether the line's packets have timestamps. */
  isStamped = true;
  /** Called with each item of news, as the session would be. */
  react: (item: CallAudioEvent) => void = () => undefined;
  readonly mediaClock: MediaClock;
  #timestampMs = 0;
  #frame: Uint8Array | undefined;
  #utterance = 0;

  constructor(options: RigOptions = {}) {
    const marks = options.marks ?? 'echo-on-clear';
    this.mediaClock = new MediaClock(this.clock);
    this.farEnd = new FarEnd({
      clock: this.clock,
      codec: pcmu,
      semantics: marks,
      oneWayMs: options.oneWayMs ?? 0,
    });
    this.audio = new CallAudio({
      clock: this.clock,
      mediaClock: this.mediaClock,
      codecIn: pcmu,
      codecOut: pcmu,
      wire: this.farEnd,
      inflow: options.inflow,
      lead: options.lead ?? { aimMs: 80, maxMs: 160, stallMsMax: 160, stepMs: 60 },
      marks: marks !== 'none',
      vad: options.vad?.(this.clock) ?? loudnessVad(),
      stt: options.withoutStt === true ? undefined : (options.stt?.(this.clock) ?? this.stt),
      tts: options.tts?.(this.clock) ?? this.tts,
      voice: undefined,
      ...options.languages,
      recording: options.recording,
      ambient: options.ambient,
      isInputMuted: options.isInputMuted ?? false,
      detectsInBandDtmf: options.detectsInBandDtmf ?? false,
      tuning: options.tuning ?? defaultTuning,
      onEvent: (event) => this.#listen(event),
      log: quietLog().log,
    });
    this.farEnd.onMark = (name) => this.audio.mark(name);
  }

  get nowMs(): number {
    return this.clock.monotonicMs();
  }

  /** Time passes, the caller's frames come in. */
  async run(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) {
      this.clock.advance(20);
      if (this.line !== 'nothing') {
        const frame = this.#frame ?? (this.line === 'voice' ? VOICE : SILENCE);
        this.audio.audioIn(frame, this.isStamped ? this.#timestampMs : Number.NaN);
      }
      this.#timestampMs += 20;
      await settle();
    }
  }

  /** The process, or with `isOurs` false the network, stands still for so long and then has all frames at once. In them, the caller makes a sound within
   *  `voice`, in milliseconds of the stall. */
  standStill(ms: number, voice: { fromMs: number; toMs: number }[], isOurs = true): void {
    this.clock.advance(ms);
    if (isOurs) this.clock.stalled = { endMs: this.nowMs, ms };
    for (let at = 0; at < ms; at += 20) {
      const isVoice = voice.some(({ fromMs, toMs }) => at >= fromMs && at < toMs);
      const timestampMs = this.isStamped ? this.#timestampMs : Number.NaN;
      this.audio.audioIn(isVoice ? VOICE : SILENCE, timestampMs);
      this.#timestampMs += 20;
    }
  }

  /** The caller makes a sound for so long. */
  async voice(ms: number): Promise<void> {
    this.line = 'voice';
    await this.run(ms);
    this.line = 'silence';
  }

  /** The caller's line brings this, 8 kHz, cut to whole frames. */
  async plays(pcm: Int16Array): Promise<void> {
    for (let at = 0; at + 160 <= pcm.length; at += 160) {
      this.#frame = encoded(pcm.subarray(at, at + 160));
      await this.run(20);
    }
    this.#frame = undefined;
  }

  /** The caller says something: words come while they speak. */
  async says(text: string, ms = 600): Promise<void> {
    this.line = 'voice';
    await this.run(ms / 2);
    this.stt.understand(text);
    await this.run(ms / 2);
    this.line = 'silence';
  }

  /** The agent says something; returns the utterance's id. */
  say(text: string, how: { interruptible?: boolean } = {}): number {
    this.#utterance++;
    const speech = this.audio.speak({
      utteranceId: this.#utterance,
      interruptible: how.interruptible ?? true,
    });
    speech.text(text);
    speech.end();
    return this.#utterance;
  }

  /** The agent plays a clip of which `text` is said. */
  play(text: string, samples: Int16Array, how: { interruptible?: boolean } = {}): number {
    this.#utterance++;
    const { interruptible = true } = how;
    this.audio.play({ utteranceId: this.#utterance, interruptible, text, samples });
    return this.#utterance;
  }

  of<T extends CallAudioEvent['type']>(
    type: T,
  ): (Extract<CallAudioEvent, { type: T }> & { atMs: number })[] {
    return this.news.filter(
      (item): item is Extract<CallAudioEvent, { type: T }> & { atMs: number } => item.type === type,
    );
  }

  get turns(): string[] {
    return this.of('turn').map(({ turn }) => turn.text);
  }

  get reports(): UtteranceReport[] {
    return this.of('utterance-finished').map(({ report }) => report);
  }

  get kinds(): string[] {
    return this.news.map(({ type }) => type);
  }

  #listen(event: CallAudioEvent): void {
    this.news.push({ ...event, atMs: this.nowMs });
    this.react(event);
  }
}

function encoded(pcm: Int16Array): Uint8Array {
  const payload = new Uint8Array(pcm.length);
  pcmu.encode(pcm, payload);
  return payload;
}
