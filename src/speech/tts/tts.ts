// Text to speech: the interface of synthesisers.

export interface SpeechRequest {
  /** One sentence or clause, plain text. */
  text: string;
  /** The service's voice name; its default if undefined. */
  voice: string | undefined;
}

/** Word timings are milliseconds from the start of this request's audio. */
export interface WordTiming {
  word: string;
  startMs: number;
  endMs: number;
}

export interface SpeechListener {
  /** Audio at 8 kHz, any length, in order. The listener keeps `samples`. */
  onAudio(samples: Int16Array): void;
  /** Optional; may come before or after the audio they describe. */
  onWords(words: readonly WordTiming[]): void;
}

export interface TextToSpeech {
  readonly name: string;
  readonly model: string;
  /** Resolves when all audio has been delivered. Rejects with TTS_*; with the signal's reason when aborted,
   *  after which the listener gets nothing more. */
  synthesize(request: SpeechRequest, listener: SpeechListener, signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
}
