// A synthesiser behind the Wyoming protocol (Piper and others, as programs of one's own). Each sentence, or each
// utterance of servers that take text in pieces, has a connection of its own; a cancel closes it.

import { serviceSeconds } from '../../../metrics/metrics.ts';
import type { WyomingTtsSettings } from '../../../model/speech-services/schemas/generic-tts.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { httpAddress } from '../../service/wyoming-connection.ts';
import type { SpeechListener, SpeechStream, TextToSpeech, UtteranceListener } from '../tts.ts';
import { WyomingSpeech } from './wyoming-speech.ts';

/** What a synthesiser can speak. It answers nothing to anything else. */
const SPEAKABLE = /[\p{L}\p{N}]/u;

export function createWyomingTts(settings: WyomingTtsSettings, means: ServiceMeans): TextToSpeech {
  const { base_url: url } = settings;
  const model = settings.voice ?? 'wyoming';
  const voiceOf = (name: string | undefined): Record<string, unknown> => ({
    ...((name ?? settings.voice) !== undefined && { name: name ?? settings.voice }),
    ...(settings.language !== undefined && { language: settings.language }),
    ...(settings.speaker !== undefined && { speaker: settings.speaker }),
  });

  function begin(
    voice: string | undefined,
    listener: Pick<SpeechListener, 'onAudio'>,
    end: (fault: ServiceFault | undefined) => void,
  ): WyomingSpeech {
    const { clock } = means;
    const startedMs = clock.monotonicMs();
    let isFirst = true;
    const observe = (result: string): void => {
      if (!isFirst) return;
      isFirst = false;
      const seconds = (clock.monotonicMs() - startedMs) / 1_000;
      serviceSeconds.observe({ kind: 'tts', service: 'wyoming', result }, seconds);
    };
    return new WyomingSpeech({
      url,
      voice: voiceOf(voice),
      means,
      listener: {
        onAudio(samples) {
          observe('ok');
          listener.onAudio(samples);
        },
        onEnd(fault) {
          if (fault !== undefined) observe(fault.code);
          end(fault);
        },
      },
    });
  }

  function count(listener: SpeechListener, text: string): void {
    const amount = [...text].length;
    const usage = { job: 'tts', service: 'wyoming', model, unit: 'characters', amount } as const;
    listener.onUsage?.({ ...usage, source: 'counted' });
  }

  function synthesize(
    { text, voice }: { text: string; voice: string | undefined },
    listener: SpeechListener,
    signal: AbortSignal,
  ): Promise<void> {
    return new Promise((resolve, reject) => {
      signal.throwIfAborted();
      if (!SPEAKABLE.test(text)) {
        resolve();
        return;
      }
      const onAbort = (): void => {
        speech.close();
        reject(signal.reason);
      };
      const speech = begin(voice, listener, (fault) => {
        signal.removeEventListener('abort', onAbort);
        if (fault === undefined) resolve();
        else reject(fault);
      });
      signal.addEventListener('abort', onAbort, { once: true });
      speech.say(text);
      count(listener, text);
    });
  }

  return {
    name: 'wyoming',
    model,
    synthesize,
    ...(settings.streaming && {
      stream: (voice: string | undefined, listener: UtteranceListener): SpeechStream =>
        utterance(
          () =>
            begin(voice, listener, (fault) => {
              if (fault === undefined) listener.onDone();
              else listener.onError(fault);
            }),
          { count: (text) => count(listener, text), onNothing: listener.onDone, means },
        ),
    }),
    prepare: () => means.warm.prepare(httpAddress(url).href),
    close: () => Promise.resolve(),
  };
}

/** An utterance without anything to speak opens no connection. */
function utterance(
  begin: () => WyomingSpeech,
  {
    count,
    onNothing,
    means,
  }: { count(text: string): void; onNothing(): void; means: ServiceMeans },
): SpeechStream {
  let speech: WyomingSpeech | undefined;
  let isOver = false;
  let isCancelled = false;
  return {
    push(text) {
      if (isOver || !SPEAKABLE.test(text)) return;
      speech ??= begin();
      speech.push(text);
      count(text);
    },
    flush() {
      // The server speaks each sentence as it is complete.
    },
    end() {
      if (isOver) return;
      isOver = true;
      if (speech !== undefined) {
        speech.end();
        return;
      }
      means.clock.after(0, () => {
        if (speech === undefined && !isCancelled) onNothing();
      });
    },
    cancel() {
      isOver = true;
      isCancelled = true;
      speech?.close();
    },
  };
}
