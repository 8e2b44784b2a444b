// What one call's audio is made of: services, codecs, the way out, and how it is to behave.

import type { VadModel } from '../audio/vad/vad.ts';
import type { Codec } from '../codec/codec.ts';
import type { Log } from '../log.ts';
import type { SpeechToText } from '../speech/stt/stt.ts';
import type { TextToSpeech } from '../speech/tts/tts.ts';
import type { Clock } from '../std/clock.ts';
import type { CallAudioEvent } from './call-audio-event.ts';
import type { AnsweringMachineTuning } from './listen/answering-machine-detector.ts';
import type { MediaClock } from './media-clock.ts';
import type { BatchedReadSource } from './receive/batched-reads.ts';
import type { RecordingFile } from './recorder.ts';
import type { BackgroundNoise } from './speak/background-noise.ts';
import type { AudioWire } from './speak/frame-batch.ts';
import type { SendAheadOptions } from './speak/send-ahead.ts';
import type { TurnTuning } from './turn/turn-tuning.ts';

export interface CallAudioOptions {
  clock: Clock;
  mediaClock: MediaClock;
  codecIn: Codec;
  codecOut: Codec;
  wire: AudioWire;
  /** Default: the caller's audio comes when it comes. */
  inflow?: BatchedReadSource | undefined;
  /** Audio sent ahead of real time. */
  lead: SendAheadOptions;
  /** Whether the provider gives marks back (providers §7.2). */
  marks: boolean;
  vad: VadModel;
  /** Undefined: the caller has the keypad only. */
  stt: SpeechToText | undefined;
  tts: TextToSpeech;
  voice: string | undefined;
  recording: RecordingFile | undefined;
  tuning: TurnTuning;
  /** The provider does not signal the caller's keys: they are detected in the audio (in-band DTMF). Default: it
   *  signals them. */
  detectsInBandDtmf?: boolean;
  /** The caller is recorded and nothing else until `listen`. Default: not. */
  isInputMuted?: boolean;
  /** Noise under the agent's voice and in its pauses. Default: none. */
  ambient?: BackgroundNoise | undefined;
  /** Answering machine detection in the callee's audio. Default: none. */
  machine?: AnsweringMachineTuning | undefined;
  onEvent: (event: CallAudioEvent) => void;
  log: Log;
}

/** One utterance, as its text comes. */
export interface UtteranceText {
  text(delta: string): void;
  end(): void;
  cancel(): void;
}

/** An utterance that is recorded. */
export interface SpokenClip {
  utteranceId: number;
  interruptible: boolean;
  /** What is said in it. */
  text: string;
  /** Borrowed for good. */
  samples: Int16Array;
}
