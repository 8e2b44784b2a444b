// Voices behind OpenAI's speech interface: OpenAI, Speaches, Kokoro-FastAPI and others. Each sentence is a request, whose
// audio comes while it is made. No word times.
// Source: OpenAI's `POST /audio/speech`, and the documentation of the servers that are named here.

import { serviceSeconds } from '../../../metrics/metrics.ts';
import type {
  OpenAiCompatibleTtsSettings,
  OpenAiTtsSettings,
  SpeachesTtsSettings,
} from '../../../model/speech-services/generic-tts.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import { type ServiceAnswer, ServiceHttp } from '../../service/service-http.ts';
import type { ServiceMeans, ServiceUsage } from '../../service/service-means.ts';
import type { SpeechRequest, TextToSpeech } from '../tts.ts';
import { SpeechBody } from './speech-body.ts';

/** Until the answer begins, and between two chunks of its audio. */
const ANSWER_MS_MAX = 5_000;
const CHUNK_MS_MAX = 3_000;
/** Three minutes of one sentence. */
const SAMPLES_MAX = 3 * 60 * 8_000;
/** OpenAI refuses longer texts; sentences are a tenth of it. */
const TEXT_CHARACTERS_MAX = 4_096;
/** Of samples without a header. */
const PCM_RATE_HZ = 24_000;
const SPEAKABLE = /[\p{L}\p{N}]/u;

interface Listener {
  onAudio(samples: Int16Array): void;
  onUsage(usage: ServiceUsage): void;
}

interface Profile {
  service: string;
  model: string;
  base: string;
  apiKey: string | undefined;
  voice: string;
  pcmRateHz: number;
  body: Record<string, unknown>;
}

export function createOpenAiTts(settings: OpenAiTtsSettings, means: ServiceMeans): TextToSpeech {
  const { speed, instructions } = settings;
  const body = { response_format: 'pcm', speed, instructions };
  return create({ ...profileOf(settings), pcmRateHz: PCM_RATE_HZ, body }, means);
}

/** The rate is asked for as well: some models of Speaches have another one, and Kokoro-FastAPI ignores it. */
export function createSpeachesTts(
  settings: SpeachesTtsSettings,
  means: ServiceMeans,
): TextToSpeech {
  const { speed } = settings;
  const body = { response_format: 'pcm', sample_rate: PCM_RATE_HZ, speed };
  return create({ ...profileOf(settings), pcmRateHz: PCM_RATE_HZ, body }, means);
}

export function createOpenAiCompatibleTts(
  settings: OpenAiCompatibleTtsSettings,
  means: ServiceMeans,
): TextToSpeech {
  const { speed, response_format, sample_rate: pcmRateHz } = settings;
  return create({ ...profileOf(settings), pcmRateHz, body: { response_format, speed } }, means);
}

function profileOf(
  of: OpenAiTtsSettings | SpeachesTtsSettings | OpenAiCompatibleTtsSettings,
): Omit<Profile, 'pcmRateHz' | 'body'> {
  const { provider: service, model, base_url: base, api_key: apiKey, voice } = of;
  return { service, model, base: base.replace(/\/+$/, ''), apiKey, voice };
}

function create(profile: Profile, means: ServiceMeans): TextToSpeech {
  const { service, model, base, apiKey } = profile;
  const secrets = apiKey === undefined ? [] : [apiKey];
  const headers: Record<string, string> = {
    ...(apiKey !== undefined && { authorization: `Bearer ${apiKey}` }),
  };
  const http = new ServiceHttp({ job: 'tts', service, secrets, means });

  async function speak(
    { text, voice }: SpeechRequest,
    listener: Listener,
    controller: AbortController,
  ): Promise<void> {
    const input = text.slice(0, TEXT_CHARACTERS_MAX);
    const answer = await http.request({
      method: 'POST',
      url: `${base}/audio/speech`,
      headers: { ...headers, 'content-type': 'application/json' },
      body: JSON.stringify({ ...profile.body, model, voice: voice ?? profile.voice, input }),
      signal: controller.signal,
      answerMsMax: ANSWER_MS_MAX,
    });
    const amount = [...input].length;
    const usage = { job: 'tts', service, model, unit: 'characters', amount } as const;
    listener.onUsage({ ...usage, source: 'counted' });
    await deliver(answer, listener, controller);
  }

  async function deliver(
    answer: ServiceAnswer,
    listener: Listener,
    controller: AbortController,
  ): Promise<void> {
    const body = new SpeechBody(profile.pcmRateHz);
    const late = (): void => controller.abort(http.fault('timeout', 'the audio stands still'));
    const give = (samples: Int16Array): void => {
      controller.signal.throwIfAborted();
      if (samples.length > 0) listener.onAudio(samples);
    };
    let timer = means.clock.after(CHUNK_MS_MAX, late);
    try {
      for await (const chunk of answer.body) {
        timer.cancel();
        give(body.push(chunk));
        if (body.samples > SAMPLES_MAX) throw http.fault('protocol', 'speech without an end');
        timer = means.clock.after(CHUNK_MS_MAX, late);
      }
      give(body.end());
    } finally {
      timer.cancel();
    }
    // A text with letters and without audio would be silence that nobody notices.
    if (body.samples === 0) throw http.fault('protocol', 'no audio for a text');
  }

  return {
    name: service,
    model,
    async synthesize(request, listener, signal) {
      signal.throwIfAborted();
      if (!SPEAKABLE.test(request.text)) return;
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
        await speak(request, observed, controller);
      } catch (error) {
        signal.throwIfAborted();
        const fault = error instanceof RangeError ? http.fault('protocol', error.message) : error;
        if (fault instanceof ServiceFault) observe(fault.code);
        throw fault;
      } finally {
        signal.removeEventListener('abort', onAbort);
        // A body that is not read to its end keeps its connection.
        controller.abort();
      }
    },
    prepare: () => http.prepare(`${base}/models`, headers),
    close: () => http.close(),
  };
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
