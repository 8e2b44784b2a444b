// Finds out why an ElevenLabs websocket is silent. With a used-up account it accepts text but answers nothing; the HTTP
// API reports the reason. One request at a time, and one a minute.

import { ServiceFault } from '../../service/service-fault.ts';
import { ServiceHttp } from '../../service/service-http.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { elevenLabsKind } from './elevenlabs-contexts.ts';

export interface QuotaProbeOptions {
  baseUrl: string;
  apiKey: string;
  model: string;
  voice: string;
  means: ServiceMeans;
}

const PROBE_MS_MAX = 1_000;
const PAUSE_MS = 60_000;
/** Text of the request. Its few characters are billed if the account is in order. */
const TEXT = 'Hi.';
/** Largest answer: more than the text's audio. */
const ANSWER_BYTES_MAX = 65_536;

export class QuotaProbe {
  readonly #options: QuotaProbeOptions;
  readonly #http: ServiceHttp;
  readonly #abort = new AbortController();
  #answer: Promise<ServiceFault | undefined> | undefined;
  #askedAt = Number.NEGATIVE_INFINITY;

  constructor(options: QuotaProbeOptions) {
    this.#options = options;
    const { means, apiKey } = options;
    this.#http = new ServiceHttp({ job: 'tts', service: 'elevenlabs', secrets: [apiKey], means });
  }

  /** Returns a permanent fault or a limit. Undefined if the service would speak or gives no reason. Never rejects. */
  ask(): Promise<ServiceFault | undefined> {
    const now = this.#options.means.clock.monotonicMs();
    if (this.#answer === undefined || now - this.#askedAt >= PAUSE_MS) {
      this.#askedAt = now;
      this.#answer = this.#request();
    }
    return this.#answer;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#http.close();
  }

  async #request(): Promise<ServiceFault | undefined> {
    const { baseUrl, apiKey, model, voice } = this.#options;
    try {
      const answer = await this.#http.request({
        method: 'POST',
        url: `${baseUrl}/v1/text-to-speech/${encodeURIComponent(voice)}/stream?output_format=ulaw_8000`,
        headers: { 'xi-api-key': apiKey, 'content-type': 'application/json' },
        body: JSON.stringify({ text: TEXT, model_id: model }),
        signal: this.#abort.signal,
        answerMsMax: PROBE_MS_MAX,
      });
      await answer.bytes(ANSWER_BYTES_MAX);
      return undefined;
    } catch (error) {
      return error instanceof ServiceFault ? this.#classified(error) : undefined;
    }
  }

  #classified(fault: ServiceFault): ServiceFault | undefined {
    // The service answers 401 for a used-up account.
    const kind = elevenLabsKind(fault.detail) ?? fault.kind;
    if (kind === fault.kind) return fault.isPermanent || kind === 'rate' ? fault : undefined;
    return this.#http.fault(kind, fault.detail);
  }
}
