// Voices behind a websocket that are described as data, by a user or a vendor's file.

import {
  type DescriptionValues,
  type MessageTemplate,
  type VoiceDescription,
  voiceDescription,
} from '../../../model/speech-services/description.ts';
import type { TtsServiceSettings } from '../../../model/speech-services/services.ts';
import type { Clock, Timer } from '../../../std/clock.ts';
import { isObject, parseJson } from '../../../std/json.ts';
import {
  addressOf,
  errorIn,
  headersOf,
  meetsConditions,
  messageText,
  numberAt,
  secretsOf,
  textAt,
  valueAt,
} from '../../service/description/message-template.ts';
import type { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceMeans } from '../../service/service-means.ts';
import { VendorSocket, type VendorSocketOptions } from '../../service/vendor-socket.ts';
import { isSpeakable, pieceOf } from '../speakable.ts';
import type { ConnectionListener, PooledConnection } from '../streaming/connection-pool.ts';
import type { ServiceUtterance } from '../streaming/service-utterance.ts';
import { VoicePools } from '../streaming/voice-pools.ts';
import type { SpeechStream, TextToSpeech, WordTiming } from '../tts.ts';

const READY_MS_MAX = 2_000;

/** Settings of a service that is described. Its other fields are values of the description, too. */
export interface DescribedVoiceSettings {
  provider: string;
  model: string;
  voice: string;
  base_url: string;
  api_key?: string | undefined;
  api_secret?: string | undefined;
}

/** Creates voices of a service, and has its description. */
export interface DescribedVoice {
  (settings: DescribedVoiceSettings, means: ServiceMeans): TextToSpeech;
  readonly description: VoiceDescription;
}

/** A service from its description, which passes the same checks as a user's own. Users correct a wrong one with a copy in
 *  `websocket_tts`. */
export function describedVoice(described: unknown): DescribedVoice {
  const description = voiceDescription.parse(described);
  return Object.assign(
    (settings: DescribedVoiceSettings, means: ServiceMeans) => create(settings, description, means),
    { description },
  );
}

export function createWebsocketTts(
  settings: TtsServiceSettings<'websocket_tts'>,
  means: ServiceMeans,
): TextToSpeech {
  return create(settings, settings.description, means);
}

function create(
  settings: DescribedVoiceSettings,
  description: VoiceDescription,
  means: ServiceMeans,
): TextToSpeech {
  const { provider: service, model, base_url: baseUrl, api_key: key } = settings;
  const { closes, ready, keepalive } = description;
  const valuesOf = (voice: string): DescriptionValues => ({
    ...Object.fromEntries(OPTIONS.map((name) => [name, undefined])),
    ...settings,

    description: undefined,
    key,
    voice,
    secret: settings.api_secret,
  });
  // The voice is a part of the address or of the first message, so that a connection has a single voice.
  const pools = new VoicePools<DescribedConnection>({
    service,
    model,
    means,
    format: description.format,
    idleMsMax: description.idle_ms_max,
    ageMsMax: description.age_ms_max,
    voiceOf: (voice) => voice ?? settings.voice,
    urlOf: (voice) => {
      const base = baseUrl.replace(/^http/, 'ws');
      // The fragment only distinguishes pools and is not sent.
      return `${addressOf(base, description, valuesOf(voice))}#${encodeURIComponent(voice)}`;
    },
    connect: (url, listener) => {
      const values = valuesOf(decodeURIComponent(url.slice(url.indexOf('#') + 1)));
      return new DescribedConnection({
        clock: means.clock,
        description,
        values,
        listener,
        socket: {
          job: 'tts',
          service,
          egress: means.egress,
          warm: means.warm,
          url: url.slice(0, url.indexOf('#')),
          headers: headersOf(description.headers, values),
          secrets: secretsOf(values),
          readyMsMax: READY_MS_MAX,
          opening: description.open.map((each) => messageText(each, values)),
          ...(ready !== undefined && {
            isReadyMessage: (text: string) => meetsConditions(parseJson(text), ready),
          }),
          ...(keepalive !== undefined && {
            keepalive: {
              afterMs: keepalive.after_ms,
              message: messageText(keepalive.message, values),
            },
          }),
          kindOfClose: (code) => (Object.hasOwn(closes, code) ? closes[code] : undefined),
        },
      });
    },
  });
  return pools.textToSpeech();
}

/** Optional values, whose fields are left out of the messages if they are not set. */
const OPTIONS = ['language', 'speed', 'delivery_mode', 'voice', 'key'];

const CANCELLED_MS_MAX = 2_000;
/** Time without an answer after which the connection of a cancelled utterance is closed. */
const STALLED_MS = 1_000;

interface Active {
  context: string;
  utterance: ServiceUtterance;
  /** Texts whose audio is incomplete. */
  texts: number;
  hasText: boolean;
  isEnded: boolean;
  /** Milliseconds of audio before the current text. */
  fromMs: number;
  /** Monotonic time of the last message in either direction. */
  activeAt: number;
}

interface DescribedConnectionOptions {
  clock: Clock;
  description: VoiceDescription;
  values: DescriptionValues;
  socket: Omit<VendorSocketOptions, 'listener' | 'clock'>;
  listener: ConnectionListener;
}

/** One utterance at a time. After a cancel the connection serves the next one at once if each audio message has a context,
 *  or after the service's confirmation if there is one. Otherwise it is closed. */
class DescribedConnection implements PooledConnection {
  readonly #options: DescribedConnectionOptions;
  readonly #socket: VendorSocket;
  #active: Active | undefined;
  /** Utterances, including cancelled ones, whose text waits for the connection. */
  readonly #unsent = new Set<ServiceUtterance>();
  #count = 0;
  #isCancelling = false;
  #isClosed = false;
  #timer: Timer | undefined;

  /** Never throws. */
  constructor(options: DescribedConnectionOptions) {
    this.#options = options;
    this.#socket = new VendorSocket({
      ...options.socket,
      clock: options.clock,
      listener: {
        onReady: () => this.#ready(),
        onText: (text) => this.#message(text),
        onBinary: (bytes) => this.#binary(bytes),
        onFault: (fault) => this.#failed(fault),
      },
    });
  }

  get hasRoom(): boolean {
    return this.isIdle && !this.#isClosed;
  }

  get isIdle(): boolean {
    return this.#active === undefined && !this.#isCancelling;
  }

  open(utterance: ServiceUtterance): SpeechStream {
    this.#count += 1;
    const active: Active = {
      context: `u${this.#count}`,
      utterance,
      texts: 0,

      hasText: false,
      isEnded: false,
      fromMs: 0,
      activeAt: this.#options.clock.monotonicMs(),
    };
    this.#active = active;
    return {
      push: (text) => this.#push(active, text),
      // Each text is spoken at once.
      flush: () => undefined,
      end: () => this.#end(active),
      cancel: () => this.#cancel(active),
    };
  }

  close(): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#active = undefined;
    const { description, values } = this.#options;
    const { close } = description;
    this.#socket.close(close === undefined ? undefined : messageText(close, values));
  }

  #ready(): void {
    for (const utterance of this.#unsent) utterance.sent();
    this.#unsent.clear();
  }

  #push(active: Active, text: string): void {
    if (this.#active !== active || active.isEnded || !isSpeakable(text)) return;
    const { begin, text: template, flush } = this.#options.description;
    if (!active.hasText) this.#send(active, begin);
    active.hasText = true;
    active.texts += 1;
    const piece = pieceOf(text);
    const { isReady } = this.#socket;
    if (!isReady) this.#unsent.add(active.utterance);
    active.utterance.pushed(piece, isReady);
    this.#send(active, [template], piece);
    if (flush !== undefined) this.#send(active, [flush]);
  }

  #end(active: Active): void {
    if (this.#active !== active || active.isEnded) return;
    active.isEnded = true;
    const { end, done } = this.#options.description;
    if (active.hasText) this.#send(active, end);
    const isDone = !active.hasText || (done.per === 'text' && active.texts === 0);
    // Deferred until the caller's own call has returned, like every other end.
    if (isDone) this.#options.clock.after(0, () => this.#done(active));
  }

  #cancel(active: Active): void {
    active.utterance.cancel();
    if (this.#active !== active) return;
    const { clock, description } = this.#options;
    const { cancel, cancelled, context, audio } = description;
    // Binary messages have no context: those of this utterance could be mistaken for the next one's.
    const isTagged = context !== undefined && audio !== undefined;
    this.#active = undefined;
    const isStalled = clock.monotonicMs() - active.activeAt > STALLED_MS;
    if (!active.hasText || (description.done.per === 'text' && active.texts === 0)) {
      if (active.hasText) this.#send(active, description.after);
      this.#options.listener.onIdle();
    } else if (isStalled || (cancelled === undefined && !isTagged)) {
      this.#giveUp();
    } else {
      this.#send(active, cancel);
      if (cancelled === undefined) {
        this.#options.listener.onIdle();
        return;
      }
      this.#isCancelling = true;
      this.#timer = clock.after(CANCELLED_MS_MAX, () => this.#giveUp());
    }
  }

  #giveUp(): void {
    this.close();
    this.#options.listener.onEnd();
  }

  #send(active: Active, templates: readonly MessageTemplate[], text?: string): void {
    active.activeAt = this.#options.clock.monotonicMs();
    const values = { ...this.#options.values, context: active.context, text };
    for (const each of templates) this.#socket.send(messageText(each, values));
  }

  #binary(bytes: Uint8Array): void {
    if (this.#options.description.audio === undefined) this.#audio(bytes);
  }

  /** Takes audio. That of a cancelled utterance arrives until the cancel is confirmed. */
  #audio(bytes: Uint8Array): void {
    const active = this.#active;
    if (active === undefined) return;
    active.activeAt = this.#options.clock.monotonicMs();
    active.utterance.audio(bytes);
    if (active.utterance.isOver && this.#active === active) this.#giveUp();
  }

  #message(text: string): void {
    const message = parseJson(text);
    if (!isObject(message)) {
      this.#socket.fail('protocol', 'a message is not a JSON object');
      return;
    }
    const { description, listener } = this.#options;
    const error = errorIn(message, description.errors);
    if (error !== undefined) {
      this.#socket.fail(error.kind, error.detail, error);
    } else if (this.#isCancelling) {
      const { cancelled } = description;
      if (cancelled === undefined || !meetsConditions(message, cancelled)) return;
      this.#isCancelling = false;
      this.#timer?.cancel();
      listener.onIdle();
    } else if (this.#active !== undefined && this.#isOf(this.#active, message)) {
      this.#result(this.#active, message);
    }
  }

  /** Whether a message belongs to the utterance. Cancelled utterances continue for a while. */
  #isOf({ context }: Active, message: Record<string, unknown>): boolean {
    const path = this.#options.description.context;
    return path === undefined || textAt(message, path) === context;
  }

  #result(active: Active, message: Record<string, unknown>): void {
    const { words, done } = this.#options.description;
    active.activeAt = this.#options.clock.monotonicMs();
    this.#audioIn(message);
    if (words !== undefined && (words.when === undefined || meetsConditions(message, words.when))) {
      const fromMs = words.from === 'text' ? active.fromMs : 0;
      active.utterance.words(wordsIn(message, words, fromMs));
    }
    if (active.utterance.isOver && this.#active === active) this.#giveUp();
    if (this.#active === active && meetsConditions(message, done.when)) this.#confirmed(active);
  }

  #audioIn(message: Record<string, unknown>): void {
    const { audio } = this.#options.description;
    if (audio === undefined || (audio.when !== undefined && !meetsConditions(message, audio.when)))
      return;
    const data = valueAt(message, audio.path);
    if (typeof data === 'string' && data !== '') this.#audio(Buffer.from(data, audio.encoding));
  }

  /** All audio of a text, or of the utterance, has arrived. */
  #confirmed(active: Active): void {
    if (this.#options.description.done.per === 'utterance') {
      this.#done(active);
      return;
    }
    active.texts = Math.max(0, active.texts - 1);
    active.fromMs = active.utterance.audioMs;
    if (active.isEnded && active.texts === 0) this.#done(active);
  }

  #done(active: Active): void {
    if (this.#active !== active) return;
    this.#active = undefined;
    const { after, done } = this.#options.description;
    if (active.hasText) this.#send(active, after);
    this.#options.listener.onIdle();
    if (active.isEnded || done.per === 'text') active.utterance.done();
    else active.utterance.fault('overload', 'the service ended the utterance before its text');
  }

  #failed(fault: ServiceFault): void {
    this.#isClosed = true;
    this.#timer?.cancel();
    const active = this.#active;
    this.#active = undefined;
    this.#options.listener.onEnd();
    active?.utterance.fail(fault);
  }
}

const WORDS_MAX = 2_000;

type Words = NonNullable<VoiceDescription['words']>;

/** Word times in a message by the description: one word, a list of objects, or three lists. `fromMs`: position in the
 *  utterance to which the times are relative. Never throws. */
function wordsIn(message: unknown, of: Words, fromMs: number): WordTiming[] {
  return itemsIn(message, of).flatMap(({ item, at }) => {
    const index = at === undefined ? '' : `.${at}`;
    const word = textAt(item, `${of.word}${index}`)?.trim();
    const start = numberAt(item, `${of.start}${index}`);
    const end = of.end === undefined ? undefined : numberAt(item, `${of.end}${index}`);
    const length = of.length === undefined ? undefined : numberAt(item, `${of.length}${index}`);
    const until = end ?? (start === undefined ? undefined : start + (length ?? 0));
    // Markup tags are listed as words.
    if (!word || /^<.*>$/.test(word) || start === undefined || until === undefined) return [];
    const ms = of.unit === 's' ? 1_000 : 1;
    return [
      { word, startMs: fromMs + Math.round(start * ms), endMs: fromMs + Math.round(until * ms) },
    ];
  });
}

function itemsIn(message: unknown, of: Words): { item: unknown; at?: number }[] {
  if (of.list !== undefined) {
    const list = valueAt(message, of.list);
    return Array.isArray(list) ? list.slice(0, WORDS_MAX).map((item) => ({ item })) : [];
  }
  const words = valueAt(message, of.word);
  if (!Array.isArray(words)) return [{ item: message }];
  return words.slice(0, WORDS_MAX).map((_, at) => ({ item: message, at }));
}
