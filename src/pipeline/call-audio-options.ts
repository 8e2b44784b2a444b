// Options of one call's audio: services, codecs, the connection to the far end, tuning.

import type { VadModel } from '../audio/vad/vad.ts';
import type { Codec } from '../codec/codec.ts';
import type { Log } from '../log.ts';
import type { SpeechToText } from '../speech/stt/stt.ts';
import type { Clock } from '../std/clock.ts';
import type { AnswerTuning } from './answer/answer-supervisor.ts';
import type { CallAudioEvent } from './call-audio-event.ts';
import type { MediaClock } from './media-clock.ts';
import type { BatchedReadSource } from './receive/batched-reads.ts';
import type { ContinuedRecording, RecordingFile } from './recorder.ts';
import type { SpokenWith } from './speak/agent-voice.ts';
import type { BackgroundNoise } from './speak/background-noise.ts';
import type { AudioWire } from './speak/frame-batch.ts';
import type { SendAheadOptions } from './speak/send-ahead.ts';
import type { CallerLanguages } from './turn/turn-taking-options.ts';
import type { TurnTuning } from './turn/turn-tuning.ts';

/** Services that may differ between the nodes of an agent. */
export interface CallAudioServices extends SpokenWith, CallerLanguages {
  /** Index of the recogniser's list (`Recognizer.switchTo`). Default: 0. */
  sttList?: number;
}

export interface CallAudioOptions extends CallAudioServices {
  /** Language (BCP 47) of callers about whom nothing else is known. Default: not known. */
  agentLanguage?: string;
  clock: Clock;
  mediaClock: MediaClock;
  codecIn: Codec;
  codecOut: Codec;
  wire: AudioWire;
  /** Source of batched reads of the caller's audio. Default: it arrives by events. */
  inflow?: BatchedReadSource | undefined;
  /** Amount of audio that is sent ahead of real time. */
  lead: SendAheadOptions;
  /** Whether the provider returns marks (providers §7.2). */
  marks: boolean;
  vad: VadModel;
  /** Speech recognition. Undefined: the caller has the keypad only. */
  stt: SpeechToText | undefined;
  recording: RecordingFile | undefined;
  /** Set if another process has begun the recording. */
  continued?: ContinuedRecording | undefined;
  tuning: TurnTuning;
  /** Whether the provider does not signal the caller's keys, which are then detected in the audio (in-band DTMF).
   *  Default: false. */
  detectsInBandDtmf?: boolean;
  /** Whether the caller is only recorded until `listen`. Default: false. */
  isInputMuted?: boolean;
  /** Background noise under the agent's voice and in its pauses. Default: none. */
  ambient?: BackgroundNoise | undefined;
  /** Answer supervision of an outbound call. Default: none. */
  answer?: AnswerTuning | undefined;
  onEvent: (event: CallAudioEvent) => void;
  log: Log;
}

/** One utterance whose text arrives in pieces. */
export interface UtteranceText {
  text(delta: string): void;
  /** Drops an incomplete last word. More text may follow. */
  breakOff(): void;
  /** Makes the utterance uninterruptible from here on. */
  keep(): void;
  end(): void;
  cancel(): void;
}

/** An utterance from a recorded clip. */
export interface SpokenClip {
  utteranceId: number;
  interruptible: boolean;
  /** The words of the clip. */
  text: string;
  /** Samples of the clip; borrowed, and never changed by the owner. */
  samples: Int16Array;
}
