// The interface of synthesis: text to audio, sentence by sentence or as one stream per turn. Segments carry the audio
// to playout.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ServiceUsage } from '../../speech/service/service-means.ts';
import type { TextToSpeech } from '../../speech/tts/tts.ts';
import type { Clock } from '../../std/clock.ts';
import type { Utterance } from './utterance.ts';

/** Time without output after which a synthesiser has failed, unless it has a limit of its own. */
const AUDIO_WAIT_MS = 5_000;

export interface SynthesisListener {
  /** A segment has more audio or is complete, or an utterance has ended: more may be sent. */
  onAudio(): void;
  onUsage(usage: ServiceUsage): void;
  onFault(error: GatewayError): void;
}

export interface SynthesizerOptions {
  clock: Clock;
  tts: TextToSpeech;
  voice: string | undefined;
  listener: SynthesisListener;
}

/** Accepts the text of one utterance. */
export interface SynthesisText {
  text(delta: string): void;
  /** Drops an incomplete last word. More text may follow. */
  breakOff(): void;
  end(): void;
}

export interface Synthesizer {
  open(utterance: Utterance): SynthesisText;
  /** Starts what the limits allow. Called again when a segment is sent. */
  pump(): void;
  /** Drops the rest of this utterance. */
  drop(utterance: Utterance): void;
  close(): void;
}

/** Notes that audio of an utterance came from `tts`. */
export function noteAudio(
  utterance: Utterance,
  { clock, tts }: Pick<SynthesizerOptions, 'clock' | 'tts'>,
): void {
  if (utterance.firstAudioAt !== undefined) return;
  utterance.firstAudioAt = clock.monotonicMs();
  utterance.cushionMs = tts.cushionMs ?? 0;
}

/** Longest wait in milliseconds from text to audio, and from audio to audio. */
export function audioWaitMs({ audioWaitMs = AUDIO_WAIT_MS }: TextToSpeech): number {
  return audioWaitMs;
}

export function asGatewayError(error: unknown): GatewayError {
  if (error instanceof GatewayError) return error;
  return new GatewayError('TTS_FAILED', { reason: 'unexpected' }, error);
}
