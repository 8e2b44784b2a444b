// Transcription request for one utterance: a WAV file in a form or alone, within a deadline.

import { createResampler } from '../../../audio/resample/resampler.ts';
import { wavHeader } from '../../../audio/wav.ts';
import { parseJson } from '../../../std/json.ts';
import { vendorMessage } from '../../service/service-fault.ts';
import { ServiceHttp } from '../../service/service-http.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import type { RecognizedWords } from '../stt.ts';
import { billedSecondsOf, type Spoken, wordsOfAnswer } from './transcript-answer.ts';
import type { TranscriptionProfile } from './transcription-profile.ts';

/** Deadline from the upload to the words. A turn waits 2.5 s; later words are useless. */
const ANSWER_MS_MAX = 10_000;
/** Largest answer: a minute of words with times. */
const ANSWER_BYTES_MAX = 2 * 1024 * 1024;
/** Separator of the form's parts. Audio of a few kilobytes does not contain it by chance. */
const BOUNDARY = 'patchbay-7f3b0c9d51e84a26-part';

export interface Upload {
  /** 8 kHz, borrowed until this returns. */
  samples: Int16Array;
  language: string | undefined;
  terms: readonly string[];
  spoken: Omit<Spoken, 'prompt'>;
  /** Called when the request leaves the queue and is sent. */
  onSent(): void;
}

interface Transcript {
  words: RecognizedWords;
  /** Seconds by the service's count. Any other value if it sends none. */
  billedSeconds: unknown;
}

export class Transcriber {
  readonly profile: TranscriptionProfile;
  readonly #means: ServiceMeans;
  readonly #http: ServiceHttp;
  readonly #slots: RequestSlots;

  constructor(profile: TranscriptionProfile, means: ServiceMeans) {
    const { service, secrets, requestsMax, waitingMax } = profile;
    this.profile = profile;
    this.#means = means;
    this.#http = new ServiceHttp({ job: 'stt', service, secrets, means });
    this.#slots = new RequestSlots(requestsMax, waitingMax);
  }

  prepare(): void {
    this.#http.prepare(this.profile.prepareUrl, this.profile.headers);
  }

  /** Rejects with a ServiceFault, or with the signal's reason. */
  async transcribe(upload: Upload, signal: AbortSignal): Promise<Transcript> {
    const { url, headers, fields } = this.profile;
    const { language, terms } = upload;
    const wav = wavOf(upload.samples, this.profile.rateHz);
    const form = fields?.({ language, terms });
    const [type, body] =
      form === undefined
        ? ['audio/wav', wav]
        : [`multipart/form-data; boundary=${BOUNDARY}`, multipart(form, wav)];
    const prompt = form?.find(([name]) => name === 'prompt')?.[1] ?? '';
    const controller = new AbortController();
    const onAbort = (): void => controller.abort(signal.reason);
    signal.throwIfAborted();
    signal.addEventListener('abort', onAbort, { once: true });
    const late = this.#means.clock.after(ANSWER_MS_MAX, () =>
      controller.abort(this.#http.fault('timeout', 'no words in time')),
    );
    try {
      const bytes = await this.#post(
        { url, headers: { ...headers, 'content-type': type }, body },
        { signal: controller.signal, onSent: upload.onSent },
      );
      return this.#transcript(bytes, { ...upload.spoken, prompt });
    } finally {
      late.cancel();
      signal.removeEventListener('abort', onAbort);
    }
  }

  close(): Promise<void> {
    return this.#http.close();
  }

  async #post(
    request: { url: string; headers: Record<string, string>; body: Uint8Array },
    { signal, onSent }: { signal: AbortSignal; onSent: () => void },
  ): Promise<Buffer> {
    const turn = this.#slots.take(signal);
    if (turn === undefined) throw this.#http.fault('overload', 'too many requests wait');
    await turn;
    try {
      signal.throwIfAborted();
      onSent();
      const post = { method: 'POST', answerMsMax: ANSWER_MS_MAX, signal } as const;
      const answer = await this.#http.request({ ...post, ...request });
      return await answer.bytes(ANSWER_BYTES_MAX);
    } finally {
      this.#slots.free();
    }
  }

  #transcript(bytes: Buffer, spoken: Spoken): Transcript {
    const text = bytes.toString();
    const answer = parseJson(text);
    const words = wordsOfAnswer(answer, spoken);
    if (words !== undefined) return { words, billedSeconds: billedSecondsOf(answer) };
    // whisper.cpp reports errors with a success status.
    throw this.#http.fault('protocol', vendorMessage(text));
  }
}

function wavOf(samples: Int16Array, rateHz: 8_000 | 16_000): Buffer {
  const pcm = createResampler({ fromHz: 8_000, toHz: rateHz }).process(samples);
  const bytes = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength);
  return Buffer.concat([wavHeader({ rateHz, channels: 1, dataBytes: bytes.length }), bytes]);
}

function multipart(fields: readonly [string, string][], wav: Buffer): Buffer {
  const parts = fields.map(([name, value]) => `${partOf(name)}\r\n\r\n${value}\r\n`);
  const file = `${partOf('file')}; filename="a.wav"\r\nContent-Type: audio/wav\r\n\r\n`;
  return Buffer.concat([
    Buffer.from(parts.join('') + file),
    wav,
    Buffer.from(`\r\n--${BOUNDARY}--\r\n`),
  ]);
}

function partOf(name: string): string {
  return `--${BOUNDARY}\r\nContent-Disposition: form-data; name="${name}"`;
}

/** Limits the requests that a service processes at a time. A few more wait: with a long queue the answers would come
 *  too late. */
class RequestSlots {
  readonly #max: number;
  readonly #waitingMax: number;
  readonly #waiting: (() => void)[] = [];
  #taken = 0;

  constructor(max: number, waitingMax: number) {
    this.#max = max;
    this.#waitingMax = waitingMax;
  }

  /** Takes a slot. Undefined if too many wait. Resolves when a slot is free; rejects with the signal's reason. The
   *  caller returns the slot with `free`, once and only if this resolved. */
  take(signal: AbortSignal): Promise<void> | undefined {
    if (this.#taken < this.#max) {
      this.#taken += 1;
      return Promise.resolve();
    }
    if (this.#waiting.length >= this.#waitingMax) return undefined;
    return new Promise((resolve, reject) => {
      const turn = (): void => {
        signal.removeEventListener('abort', onAbort);
        resolve();
      };
      const onAbort = (): void => {
        this.#waiting.splice(this.#waiting.indexOf(turn), 1);
        reject(signal.reason);
      };
      signal.addEventListener('abort', onAbort, { once: true });
      this.#waiting.push(turn);
    });
  }

  free(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#taken -= 1;
    else next();
  }
}
