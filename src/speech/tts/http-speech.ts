// Synthesisers with one HTTP request for each sentence, whose audio streams while it is made: deadlines, limits,
// cancel, usage. The client defines the request and the decoder.

import { serviceSeconds } from '../../metrics/speech-metrics.ts';
import { type FaultKind, ServiceFault } from '../service/service-fault.ts';
import { type ServiceAnswer, ServiceHttp } from '../service/service-http.ts';
import { correctedUsage, type ServiceMeans, type ServiceUsage } from '../service/service-means.ts';
import type { TextToSpeech } from './tts.ts';

export interface HttpSpeechOptions {
  service: string;
  model: string;
  secrets: readonly string[];
  means: ServiceMeans;
  /** Request ahead: any response shows that the connection is open. */
  prepare: { url: string; headers: Record<string, string> };
  /** `voice`: of the request. Undefined: the settings' voice. */
  requestOf(
    text: string,
    voice: string | undefined,
  ): { url: string; headers: Record<string, string>; body: string };
  /** Creates the decoder of one answer. */
  decoder(): SpeechBytes;
  /** Fault for a successful answer without audio. */
  silence: { kind: FaultKind; detail: string };
}

/** Decodes the bytes of one answer to samples at 8 kHz. Throws a RangeError with the reason if they are no audio. */
export interface SpeechBytes {
  push(chunk: Buffer): Int16Array;
  end(): Int16Array;
  /** Characters by the service's count, after `end`. Any other value if it sends none. */
  readonly billedCharacters?: unknown;
}

/** Deadline until the answer begins, and between two chunks of its audio. */
const ANSWER_MS_MAX = 5_000;
const CHUNK_MS_MAX = 3_000;
/** Longest answer for one sentence. A slower one arrives later than it is spoken, however steady. */
const SPEECH_MS_MAX = 3 * 60_000;
const SAMPLES_MAX = 8 * SPEECH_MS_MAX;
/** Longest text. Services refuse longer ones; sentences are a tenth of it. */
const TEXT_CHARACTERS_MAX = 4_096;
/** Services answer nothing to a text without letters and digits. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

interface Listener {
  onAudio(samples: Int16Array): void;
  onUsage(usage: ServiceUsage): void;
}

export function createHttpSpeech(options: HttpSpeechOptions): TextToSpeech {
  const { service, model, secrets, means, prepare } = options;
  const http = new ServiceHttp({ job: 'tts', service, secrets, means });
  return {
    name: service,
    model,
    async synthesize({ text, voice }, listener, signal) {
      signal.throwIfAborted();
      if (!SPEAKABLE.test(text)) return;
      const observe = observer(service, means);
      const controller = new AbortController();
      const onAbort = (): void => controller.abort(signal.reason);
      signal.addEventListener('abort', onAbort, { once: true });
      const observed: Listener = {
        onAudio(samples) {
          observe('ok');
          listener.onAudio(samples);
        },
        onUsage: (usage) => listener.onUsage?.(usage),
      };
      try {
        const input = text.slice(0, TEXT_CHARACTERS_MAX);
        await speak({ ...options, http, input, voice }, observed, controller);
      } catch (error) {
        signal.throwIfAborted();
        const fault = error instanceof RangeError ? http.fault('protocol', error.message) : error;
        if (fault instanceof ServiceFault) observe(fault.code);
        throw fault;
      } finally {
        signal.removeEventListener('abort', onAbort);
        // A body that is not read to its end would occupy its connection.
        controller.abort();
      }
    },
    prepare: () => http.prepare(prepare.url, prepare.headers),
    close: () => http.close(),
  };
}

async function speak(
  of: HttpSpeechOptions & { http: ServiceHttp; input: string; voice: string | undefined },
  listener: Listener,
  controller: AbortController,
): Promise<void> {
  const { service, model, http, input, voice } = of;
  const { signal } = controller;
  const post = { method: 'POST', answerMsMax: ANSWER_MS_MAX, signal } as const;
  const answer = await http.request({ ...post, ...of.requestOf(input, voice) });
  const amount = [...input].length;
  const bytes = of.decoder();
  const counted: ServiceUsage = {
    job: 'tts',
    service,
    model,

    unit: 'characters',
    amount,
    source: 'counted',
  };
  listener.onUsage(counted);
  try {
    await deliver(answer, bytes, { ...of, listener, controller });
  } finally {
    const correction = correctedUsage(counted, bytes.billedCharacters);
    if (correction !== undefined) listener.onUsage(correction);
  }
}

async function deliver(
  answer: ServiceAnswer,
  bytes: SpeechBytes,
  of: HttpSpeechOptions & { http: ServiceHttp; listener: Listener; controller: AbortController },
): Promise<void> {
  const { http, means, silence, listener, controller } = of;
  let count = 0;
  const give = (samples: Int16Array): void => {
    controller.signal.throwIfAborted();
    count += samples.length;
    if (count > SAMPLES_MAX) throw http.fault('protocol', 'speech without an end');
    if (samples.length > 0) listener.onAudio(samples);
  };
  const late = (): void => controller.abort(http.fault('timeout', 'the audio stopped'));
  let timer = means.clock.after(CHUNK_MS_MAX, late);
  const deadline = means.clock.after(SPEECH_MS_MAX, () =>
    controller.abort(http.fault('timeout', 'speech without an end')),
  );
  try {
    for await (const chunk of answer.body) {
      timer.cancel();
      give(bytes.push(chunk));
      timer = means.clock.after(CHUNK_MS_MAX, late);
    }
    give(bytes.end());
  } finally {
    timer.cancel();
    deadline.cancel();
  }
  // A text with letters but without audio would otherwise be silence without a fault.
  if (count === 0) throw http.fault(silence.kind, silence.detail);
}

/** Observes the time to the first result, once. */
function observer(service: string, { clock }: ServiceMeans): (result: string) => void {
  const startedMs = clock.monotonicMs();
  let isDone = false;
  return (result) => {
    if (isDone) return;
    isDone = true;
    const seconds = (clock.monotonicMs() - startedMs) / 1_000;
    serviceSeconds.observe({ kind: 'tts', service, result }, seconds);
  };
}
