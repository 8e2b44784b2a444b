// Lines of the agent that are rendered when the call begins, in the call's own voice, so that they need no service
// later when a service is late.

import { codeOf } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { joined } from '../../../speech/tts/service-voice.ts';
import type { TextToSpeech } from '../../../speech/tts/tts.ts';

/** Lines of one call at most, a few seconds each. */
const LINES_MAX = 20;
/** Samples of one line at most: ten seconds at 8 kHz. */
const SAMPLES_MAX = 80_000;
/** Consecutive failures of a voice after which no further line is rendered. */
const FAILURES_MAX = 2;

export class PreparedLines {
  readonly #tts: TextToSpeech;
  readonly #voice: string | undefined;
  readonly #log: Log;
  readonly #lines = new Map<string, Int16Array>();
  /** Lines whose rendering has begun. */
  readonly #begun = new Set<string>();
  readonly #abort = new AbortController();

  constructor(options: { tts: TextToSpeech; voice: string | undefined; log: Log }) {
    this.#tts = options.tts;
    this.#voice = options.voice;
    this.#log = options.log;
  }

  /** Renders the lines one after the other, each once. A line that cannot be rendered is not played. Never rejects. */
  async prepare(texts: readonly string[]): Promise<void> {
    let failures = 0;
    for (const text of texts.slice(0, LINES_MAX)) {
      if (this.#lines.has(text) || this.#begun.has(text)) continue;
      if (this.#abort.signal.aborted || failures >= FAILURES_MAX) return;
      this.#begun.add(text);
      try {
        await this.#render(text);
        failures = 0;
      } catch (error) {
        if (this.#abort.signal.aborted) return;
        failures += 1;
        this.#log.warn({ code: codeOf(error) }, 'line not rendered ahead');
      } finally {
        this.#begun.delete(text);
      }
    }
  }

  /** Samples of a line at 8 kHz, borrowed. Undefined: it is not rendered, or not yet. */
  samples(text: string): Int16Array | undefined {
    return this.#lines.get(text);
  }

  close(): void {
    this.#abort.abort();
  }

  async #render(text: string): Promise<void> {
    const parts: Int16Array[] = [];
    let length = 0;
    await this.#tts.synthesize(
      { text, voice: this.#voice, isFixed: true, isAhead: true },
      {
        onAudio(samples) {
          length += samples.length;
          if (length <= SAMPLES_MAX) parts.push(samples);
        },
        onWords: () => undefined,
      },
      this.#abort.signal,
    );
    if (length > 0 && length <= SAMPLES_MAX) this.#lines.set(text, joined(parts));
  }
}
