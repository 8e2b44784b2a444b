// Synthesiser whose utterances share connections: a pool for each address that its voices need, behind the interface
// TextToSpeech.

import { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import type { TtsAudioFormat } from '../speech-decoder.ts';
import type { SpeechStream, StreamOptions, TextToSpeech, UtteranceListener } from '../tts.ts';
import {
  type ConnectionListener,
  ConnectionPool,
  type PooledConnection,
} from './connection-pool.ts';
import { ServiceUtterance } from './service-utterance.ts';
import { synthesizeByStream } from './synthesize-by-stream.ts';

export interface VoiceConnection extends PooledConnection {
  /** `voice`: as `voiceOf` returned it. */
  open(utterance: ServiceUtterance, voice: string): SpeechStream;
}

export interface VoicePoolsOptions<C extends VoiceConnection> {
  service: string;
  model: string;
  format: TtsAudioFormat;
  means: ServiceMeans;
  idleMsMax: number;
  ageMsMax: number;
  /** The service's name of a voice. Undefined means the default voice. */
  voiceOf(voice: string | undefined): string;
  /** URL of the websocket, with its query. */
  urlOf(voice: string): string;
  connect(url: string, listener: ConnectionListener): C;
}

const NOTHING: SpeechStream = {
  push: () => undefined,
  flush: () => undefined,
  end: () => undefined,
  cancel: () => undefined,
};

export class VoicePools<C extends VoiceConnection> {
  readonly #options: VoicePoolsOptions<C>;
  /** Pools by address. Empty ones are removed, so there are no more than connections. */
  readonly #pools = new Map<string, ConnectionPool<C>>();

  constructor(options: VoicePoolsOptions<C>) {
    this.#options = options;
  }

  textToSpeech(release: () => Promise<void> = () => Promise.resolve()): TextToSpeech {
    const { service, model } = this.#options;
    const stream: NonNullable<TextToSpeech['stream']> = (voice, listener, how) =>
      this.#stream(voice, listener, how);
    return {
      name: service,
      model,
      stream,
      synthesize: synthesizeByStream(stream),
      prepare: () => this.#prepare(),
      close: async () => {
        for (const pool of this.#pools.values()) pool.close();
        this.#pools.clear();
        await release();
      },
    };
  }

  #stream(
    wanted: string | undefined,
    listener: UtteranceListener,
    { isRetry = false }: StreamOptions = {},
  ): SpeechStream {
    const { service, model, format, means, voiceOf, urlOf } = this.#options;
    const { clock } = means;
    const voice = voiceOf(wanted);
    const connection = this.#poolOf(urlOf(voice)).take(isRetry);
    const utterance = new ServiceUtterance({ service, model, format, clock, listener });
    if (connection !== undefined) return connection.open(utterance, voice);
    const fault = new ServiceFault('tts', service, 'overload', {
      detail: 'all connections of this gateway are in use',
    });
    clock.after(0, () => utterance.fail(fault));
    return { ...NOTHING, cancel: () => utterance.cancel() };
  }

  /** Prepares DNS, TCP and TLS only: an open session of an unanswered call would count among those that the key may
   *  have. The first text opens the websocket. */
  #prepare(): void {
    const { voiceOf, urlOf, means } = this.#options;
    const url = urlOf(voiceOf(undefined));
    if (this.#pools.get(url)?.hasIdle !== true) means.warm.prepare(url);
  }

  #poolOf(url: string): ConnectionPool<C> {
    const found = this.#pools.get(url);
    if (found !== undefined) return found;
    for (const [address, pool] of this.#pools) if (pool.isEmpty) this.#pools.delete(address);
    const { means, idleMsMax, ageMsMax, connect } = this.#options;
    const pool = new ConnectionPool<C>({
      clock: means.clock,
      idleMsMax,
      ageMsMax,
      open: (listener) => connect(url, listener),
    });
    this.#pools.set(url, pool);
    return pool;
  }
}
