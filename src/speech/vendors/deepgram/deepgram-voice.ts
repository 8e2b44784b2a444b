// Deepgram Aura text to speech over its websocket, µ-law at 8 kHz. A connection has one voice and one utterance at a
// time, because audio has no id. A flush starts the synthesis; the service accepts 20 a minute and confirms each flush and
// clear. Without word times, delivered text is estimated from the share of characters within a flush.
// Source: Deepgram API reference, v1/speak (November 2026).

import type { TtsServiceSettings } from '../../../model/speech-services/services.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { VendorSocket, type VendorSocketOptions } from '../../service/vendor-socket.ts';
import { isSpeakable, pieceOf } from '../../tts/speakable.ts';
import type { ConnectionListener, PooledConnection } from '../../tts/streaming/connection-pool.ts';
import type { ServiceUtterance } from '../../tts/streaming/service-utterance.ts';
import { VoicePools } from '../../tts/streaming/voice-pools.ts';
import type { SpeechStream, TextToSpeech, WordTiming } from '../../tts/tts.ts';

const service = 'deepgram';
const vendor = {
  host: 'https://api.deepgram.com',
  /** A session ends after an hour. */
  ageMsMax: 3_000_000,
  /** Not documented; shorter than the idle timeouts of load balancers. */
  idleMsMax: 290_000,
  readyMsMax: 2_000,
};

/** Creates the synthesiser of one account and settings. Its calls share connections. */
export function createDeepgramVoice(
  settings: TtsServiceSettings<'deepgram'>,
  means: ServiceMeans,
): TextToSpeech {
  const { api_key: apiKey, voice: own, speed } = settings;
  const baseUrl = (settings.base_url ?? vendor.host).replace(/\/+$/, '').replace(/^http/, 'ws');
  const pools = new VoicePools<AuraConnection>({
    service,
    model: own.startsWith('aura-2') ? 'aura-2' : 'aura-1',
    format: 'ulaw8',
    means,
    idleMsMax: vendor.idleMsMax,
    ageMsMax: vendor.ageMsMax,
    voiceOf: (voice) => voice ?? own,
    urlOf: (voice) => {
      const query = new URLSearchParams({
        model: voice,
        encoding: 'mulaw',
        sample_rate: '8000',
        container: 'none',
        ...(speed !== undefined && { speed: String(speed) }),
      });
      return `${baseUrl}/v1/speak?${query}`;
    },
    connect: (url, listener) =>
      new AuraConnection({
        clock: means.clock,
        listener,
        socket: {
          job: 'tts',
          service,
          url,
          headers: { authorization: `Token ${apiKey}` },
          secrets: [apiKey],
          egress: means.egress,
          warm: means.warm,
          readyMsMax: vendor.readyMsMax,
        },
      }),
  });
  return pools.textToSpeech();
}

const FLUSHES_MS = 60_000;
/** Flushes in a minute. The service accepts 20; an utterance needs two. */
const FLUSHES_MAX = 20;
const FLUSHES_TO_BEGIN_MAX = 17;
/** Flushes within utterances in a minute. One is left for the end of the utterance. */
const FLUSHES_WITHIN_MAX = 19;
/** Remaining audio at which text is flushed. */
const LOW_MS = 1_000;
const CLEARED_MS_MAX = 2_000;
/** Time without an answer after which the connection of a cancelled utterance is closed. */
const STALLED_MS = 1_000;

interface Active {
  utterance: ServiceUtterance;
  /** Text of each unconfirmed flush, oldest first. */
  flushed: string[];
  /** Text that is not flushed yet. */
  waiting: string;
  isEnded: boolean;
  /** Audio before the oldest unconfirmed flush. */
  confirmedMs: number;
  firstAudioAt: number | undefined;
  /** Monotonic time of the last message in either direction. */
  activeAt: number;
}

class AuraConnection implements PooledConnection {
  readonly #clock: Clock;
  readonly #listener: ConnectionListener;
  readonly #socket: VendorSocket;
  /** Monotonic times of the last flushes, in milliseconds. */
  #flushes: number[] = [];
  #active: Active | undefined;
  /** Utterances, including cancelled ones, whose text waits for the connection. */
  readonly #unsent = new Set<ServiceUtterance>();
  #isClearing = false;
  #isClosed = false;
  #timer: Timer | undefined;

  /** Never throws. */
  constructor(options: {
    clock: Clock;
    socket: Omit<VendorSocketOptions, 'listener' | 'clock'>;
    listener: ConnectionListener;
  }) {
    this.#clock = options.clock;
    this.#listener = options.listener;
    this.#socket = new VendorSocket({
      ...options.socket,
      clock: options.clock,
      listener: {
        onReady: () => this.#ready(),
        onText: (text) => this.#message(text),
        onBinary: (bytes) => this.#audio(bytes),
        onFault: (fault) => this.#failed(fault),
      },
    });
  }

  get hasRoom(): boolean {
    return this.isIdle && !this.#isClosed && this.#recentFlushes() < FLUSHES_TO_BEGIN_MAX;
  }

  get isIdle(): boolean {
    return this.#active === undefined && !this.#isClearing;
  }

  open(utterance: ServiceUtterance): SpeechStream {
    const active: Active = {
      utterance,
      flushed: [],
      waiting: '',
      isEnded: false,
      confirmedMs: 0,
      firstAudioAt: undefined,
      activeAt: this.#clock.monotonicMs(),
    };
    this.#active = active;
    return {
      push: (text) => this.#push(active, text),
      flush: () => this.#flush(active, FLUSHES_WITHIN_MAX),
      end: () => this.#end(active),
      cancel: () => this.#cancel(active),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#active = undefined;
    this.#socket.close('{"type":"Close"}');
  }

  #ready(): void {
    for (const utterance of this.#unsent) utterance.sent();
    this.#unsent.clear();
  }

  #push(active: Active, text: string): void {
    if (this.#active !== active || active.isEnded || !isSpeakable(text)) return;
    const piece = pieceOf(text);
    const { isReady } = this.#socket;
    if (!isReady) this.#unsent.add(active.utterance);
    active.utterance.pushed(piece, isReady);
    active.waiting += piece;
    this.#send(active, { type: 'Speak', text: piece });
    this.#flushInTime(active);
  }

  #flush(active: Active, flushesMax: number): void {
    if (this.#active !== active || active.waiting === '') return;
    if (this.#recentFlushes() >= flushesMax) return;
    this.#flushes.push(this.#clock.monotonicMs());
    active.flushed.push(active.waiting);
    active.waiting = '';
    this.#send(active, { type: 'Flush' });
  }

  /** Flushes waiting text before the audio of the text before it runs out. */
  #flushInTime(active: Active): void {
    this.#timer?.cancel();
    const { firstAudioAt, utterance, flushed } = active;
    if (active.waiting === '' || active.isEnded || flushed.length > 0) return;
    if (firstAudioAt === undefined) return;
    const leftMs = firstAudioAt + utterance.audioMs - this.#clock.monotonicMs();
    this.#timer = this.#clock.after(Math.max(0, leftMs - LOW_MS), () => {
      this.#flush(active, FLUSHES_WITHIN_MAX);
    });
  }

  #end(active: Active): void {
    if (this.#active !== active || active.isEnded) return;
    active.isEnded = true;
    this.#timer?.cancel();
    this.#flush(active, FLUSHES_MAX);
    // Deferred until the caller's own call has returned, like every other end.
    if (active.flushed.length === 0) this.#clock.after(0, () => this.#done(active));
  }

  #cancel(active: Active): void {
    active.utterance.cancel();
    if (this.#active !== active) return;
    this.#active = undefined;
    this.#timer?.cancel();
    if (active.flushed.length === 0 && active.waiting === '') {
      this.#listener.onIdle();
      return;
    }
    const isStalled = this.#clock.monotonicMs() - active.activeAt > STALLED_MS;
    if (isStalled && active.flushed.length > 0) {
      this.#giveUp();
      return;
    }
    this.#isClearing = true;
    this.#socket.send('{"type":"Clear"}');
    this.#timer = this.#clock.after(CLEARED_MS_MAX, () => this.#giveUp());
  }

  #giveUp(): void {
    this.close();
    this.#listener.onEnd();
  }

  #send(active: Active, message: object): void {
    active.activeAt = this.#clock.monotonicMs();
    this.#socket.send(JSON.stringify(message));
  }

  /** Takes audio. That of a cancelled utterance arrives until the clear is confirmed. */
  #audio(bytes: Uint8Array): void {
    const active = this.#active;
    if (active === undefined) return;
    active.activeAt = this.#clock.monotonicMs();
    active.firstAudioAt ??= active.activeAt;
    active.utterance.audio(bytes);
    if (active.utterance.isOver && this.#active === active) this.#giveUp();
  }

  #message(text: string): void {
    const message = parseJson(text);
    if (!isObject(message)) {
      this.#socket.fail('protocol', 'a message is not a JSON object');
      return;
    }
    const { type } = message;
    if (type === 'Cleared' && this.#isClearing) {
      this.#isClearing = false;
      this.#timer?.cancel();
      this.#listener.onIdle();
    } else if (type === 'Flushed' && this.#active !== undefined) {
      this.#flushed(this.#active);
    } else if (type === 'Error') {
      const detail = [message['description'], message['err_msg'], message['message']].find(
        (each) => typeof each === 'string',
      );
      this.#socket.fail('overload', typeof detail === 'string' ? detail : 'an error');
    }
  }

  #flushed(active: Active): void {
    const text = active.flushed.shift();
    if (text === undefined) return;
    active.activeAt = this.#clock.monotonicMs();
    const { utterance, confirmedMs } = active;
    const { audioMs } = utterance;
    utterance.words(wordsByShare(text, confirmedMs, audioMs));
    active.confirmedMs = audioMs;
    if (active.isEnded && active.flushed.length === 0) this.#done(active);
    else this.#flushInTime(active);
  }

  #done(active: Active): void {
    if (this.#active !== active) return;
    this.#active = undefined;
    this.#listener.onIdle();
    active.utterance.done();
  }

  #failed(fault: ServiceFault): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    const active = this.#active;
    this.#active = undefined;
    this.#listener.onEnd();
    active?.utterance.fail(fault);
  }

  #recentFlushes(): number {
    const since = this.#clock.monotonicMs() - FLUSHES_MS;
    this.#flushes = this.#flushes.filter((at) => at > since);
    return this.#flushes.length;
  }
}

function wordsByShare(text: string, fromMs: number, toMs: number): WordTiming[] {
  if (toMs <= fromMs) return [];
  const msPerCharacter = (toMs - fromMs) / text.length;
  return [...text.matchAll(/\S+/g)].map((word) => ({
    word: word[0],
    startMs: fromMs + word.index * msPerCharacter,
    endMs: fromMs + (word.index + word[0].length) * msPerCharacter,
  }));
}
