// A call of this page with an agent: microphone and loudspeaker, the audio thread between them (line.worklet.ts), and the
// media socket. Several calls may follow each other on a page; each object is one call. Everything that a call has opened
// is closed in one place, `#end`.

import { type CallAccess, CallSocket } from './call-socket.ts';
import { EchoCheck, type EchoRemedy } from './echo-check.ts';
import type { FromLine, ToLine } from './line-messages.ts';
import { LoopbackOutput } from './loopback-output.ts';
import { Microphone, MicrophoneError, type MicrophoneFault } from './microphone.ts';

export type WebCallState = 'idle' | 'opening' | 'connecting' | 'talking' | 'reconnecting' | 'ended';

export type CallNotice =
  /** The microphone is gone, and another is being opened; it is there again. */
  | 'microphone-lost'
  | 'microphone-restored'
  | MicrophoneFault
  /** The browser does not remove the agent's voice from the microphone: it is closed while the agent speaks. */
  | 'use-headphones'
  /** The system has taken the loudspeaker, as for a telephone call: `resume` in a click. */
  | 'audio-interrupted';

export interface CallLevel {
  /** Loudness of both sides, root mean square from 0 to 1. */
  microphone: number;
  agent: number;
  /** Audio that waits to be played, in milliseconds, and how often there was none in the middle of a word. */
  ringMs: number;
  underruns: number;
}

export interface CallEnd {
  runId: string | undefined;
  /** Why: the run's end reason, or that of the socket (`MEDIA_SILENT`, `MEDIA_LOST`), or `left` for a hang-up here. */
  reason: string;
  disposition: string | undefined;
  /** Close code of the socket. */
  code: number;
}

export interface CallEvents {
  state: WebCallState;
  level: CallLevel;
  /** A live item of the run: `{ type: 'rtf-…', payload, timestamp }`. */
  item: { type: string } & Record<string, unknown>;
  notice: CallNotice;
  ended: CallEnd;
}

export type CallFault = MicrophoneFault | 'audio-unavailable' | 'audio-blocked';

export class CallError extends Error {
  override readonly name = 'CallError';
  readonly code: CallFault;

  constructor(code: CallFault, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

export interface WebCallOptions {
  /** Gets the token of a call: the answer of `POST /api/v1/web-calls`, from one's own server or with the console's session.
   *  It is called once the microphone is there. */
  access: (signal: AbortSignal) => Promise<CallAccess>;
  /** Address of the built line.worklet.ts, on the page's own origin. */
  workletUrl: string;
  /** Microphone; the system's by default. */
  deviceId?: string;
  /** Off for headphones. Default: true. */
  echoCancellation?: boolean;
}

const RATE_HZ = 16_000;
const RESUME_MS_MAX = 3_000;
const ACCESS_MS_MAX = 15_000;

type Listeners = { [Name in keyof CallEvents]: Set<(event: CallEvents[Name]) => void> };

export class WebCall {
  readonly #options: WebCallOptions;
  readonly #listeners: Listeners = {
    state: new Set(),
    level: new Set(),
    item: new Set(),
    notice: new Set(),
    ended: new Set(),
  };
  readonly #abort = new AbortController();
  readonly #microphone: Microphone;
  readonly #echo = new EchoCheck();
  #state: WebCallState = 'idle';
  #context: AudioContext | undefined;
  #line: AudioWorkletNode | undefined;
  #source: MediaStreamAudioSourceNode | undefined;
  #loopback: LoopbackOutput | undefined;
  #socket: CallSocket | undefined;
  #runId: string | undefined;
  #isMuted = false;
  /** What the gateway has said of the end. */
  #ended: { reason: string; disposition: string | undefined } | undefined;

  constructor(options: WebCallOptions) {
    this.#options = options;
    const { deviceId, echoCancellation } = options;
    this.#microphone = new Microphone({
      deviceId,
      echoCancellation,
      onStream: (stream) => this.#useStream(stream),
      onLost: () => this.#emit('notice', 'microphone-lost'),
      onFault: (fault) => this.#emit('notice', fault),
    });
  }

  get state(): WebCallState {
    return this.#state;
  }

  get runId(): string | undefined {
    return this.#runId;
  }

  get isMuted(): boolean {
    return this.#isMuted;
  }

  /** How the agent's echo is kept out of the microphone, beside the browser's canceller. */
  get echoRemedy(): EchoRemedy {
    return this.#echo.remedy;
  }

  /** Calls `listener` for each event until the returned function is called. */
  on<Name extends keyof CallEvents>(
    name: Name,
    listener: (event: CallEvents[Name]) => void,
  ): () => void {
    const listeners: Set<(event: CallEvents[Name]) => void> = this.#listeners[name];
    listeners.add(listener);
    return () => void listeners.delete(listener);
  }

  /** Starts the call. To be called in a click: browsers allow sound and ask for the microphone only there. Throws CallError,
   *  and what `access` throws; the call is then ended. */
  async start(): Promise<void> {
    if (this.#state !== 'idle') throw new Error('a call starts once');
    this.#setState('opening');
    try {
      // Before the first wait: afterwards the click counts no more.
      const context = new AudioContext({ sampleRate: RATE_HZ, latencyHint: 'interactive' });
      this.#context = context;
      const resumed = resumedInTime(context);
      resumed.catch(() => undefined); // Reported below, if the microphone does not fail first.
      context.onstatechange = () => this.#contextChanged();
      await this.#openAudio(context, resumed);
      const signal = AbortSignal.any([this.#abort.signal, AbortSignal.timeout(ACCESS_MS_MAX)]);
      const access = await this.#options.access(signal);
      this.#abort.signal.throwIfAborted();
      this.#runId = access.run_id;
      this.#setState('connecting');
      this.#openSocket(access);
    } catch (error) {
      const fault = error instanceof MicrophoneError ? new CallError(error.code, error) : error;
      this.#end(fault instanceof CallError ? fault.code : 'left', 1006);
      throw fault;
    }
  }

  hangUp(): void {
    this.#socket?.close();
    this.#end('left', 1000);
  }

  /** Whether the caller is heard. A muted caller is silent at the gateway too. */
  mute(on: boolean): void {
    this.#isMuted = on;
    this.#toLine({ type: 'mute', on });
    this.#socket?.send({ type: 'mute', on });
  }

  /** Presses a key: 0-9, A-D, * or #. */
  sendKey(digit: string): void {
    if (/^[0-9A-D*#]$/.test(digit)) this.#socket?.send({ type: 'key', digit });
  }

  /** Silences the agent for a moment, for a caller whose microphone is closed while it speaks. */
  interrupt(): void {
    this.#toLine({ type: 'interrupt' });
  }

  /** Plays again after `audio-interrupted`. To be called in a click. */
  async resume(): Promise<void> {
    if (this.#context !== undefined) await resumedInTime(this.#context);
  }

  async #openAudio(context: AudioContext, resumed: Promise<void>): Promise<void> {
    const loaded = context.audioWorklet.addModule(this.#options.workletUrl);
    loaded.catch(() => undefined); // Reported below.
    await this.#microphone.open();
    this.#abort.signal.throwIfAborted();
    await resumed;
    try {
      await loaded;
    } catch (error) {
      throw new CallError('audio-unavailable', error);
    }
    this.#abort.signal.throwIfAborted();
    if (context.sampleRate !== RATE_HZ) throw new CallError('audio-unavailable');
    const line = new AudioWorkletNode(context, 'line', {
      numberOfInputs: 1,
      numberOfOutputs: 1,
      outputChannelCount: [1],
    });
    line.port.onmessage = ({ data }: MessageEvent<FromLine>) => this.#fromLine(data);
    this.#line = line;
    this.#source?.connect(line);
    line.connect(context.destination);
  }

  /** Takes a stream of the microphone, the first one or that of another device. */
  #useStream(stream: MediaStream): void {
    const context = this.#context;
    if (context === undefined) return;
    const isFirst = this.#source === undefined;
    this.#source?.disconnect();
    this.#source = context.createMediaStreamSource(stream);
    if (this.#line !== undefined) this.#source.connect(this.#line);
    if (!isFirst) this.#emit('notice', 'microphone-restored');
  }

  #openSocket(access: CallAccess): void {
    this.#socket = new CallSocket(access, {
      onOpen: () => {
        const outMs = Math.round((this.#context?.outputLatency ?? 0) * 1_000);
        const echo = this.#microphone.cancelsEcho;
        const ua = navigator.userAgent.slice(0, 300);
        this.#toLine({ type: 'clear' });
        this.#socket?.send({ type: 'hello', rate: RATE_HZ, echo, out_ms: outMs, ua });
        if (this.#isMuted) this.#socket?.send({ type: 'mute', on: true });
        this.#setState('talking');
      },
      onLost: () => {
        this.#toLine({ type: 'clear' });
        this.#setState('reconnecting');
      },
      onAudio: (pcm) => this.#toLine({ type: 'audio', pcm }, pcm),
      onMessage: (message) => this.#takeMessage(message),
      onClosed: (code, reason) => this.#end(reason === '' ? `closed ${code}` : reason, code),
    });
  }

  #takeMessage(message: { type: string } & Record<string, unknown>): void {
    if (message.type === 'mark') this.#toLine({ type: 'mark', name: String(message['name']) });
    else if (message.type === 'clear') this.#toLine({ type: 'clear' });
    else if (message.type === 'ended') {
      const { reason, disposition } = message;
      this.#ended = {
        reason: String(reason),
        disposition: typeof disposition === 'string' ? disposition : undefined,
      };
    } else if (message.type.startsWith('rtf-')) this.#emit('item', message);
  }

  #fromLine(message: FromLine): void {
    switch (message.type) {
      case 'frame':
        this.#socket?.sendAudio(message.pcm);
        this.#toLine(message, message.pcm);
        break;
      case 'mark':
        this.#socket?.send({ type: 'mark', name: message.name, at_frame: message.atFrame });
        break;
      case 'level':
        this.#checkEcho(message);
        this.#emit('level', message);
    }
  }

  #checkEcho({ microphone, agent }: CallLevel): void {
    const isCancelling = this.#options.echoCancellation ?? true;
    if (!isCancelling || this.#isMuted || this.#state !== 'talking') return;
    const remedy = this.#echo.take(microphone, agent);
    if (remedy === 'loopback') void this.#playByLoopback();
    else if (remedy === 'half-duplex') this.#closeWhileAgentSpeaks();
  }

  async #playByLoopback(): Promise<void> {
    const context = this.#context;
    const line = this.#line;
    if (context === undefined || line === undefined) return;
    try {
      const loopback = new LoopbackOutput();
      this.#loopback = loopback;
      const output = context.createMediaStreamDestination();
      line.connect(output);
      await loopback.play(output.stream);
      if (this.#state === 'ended') loopback.close();
      else line.disconnect(context.destination);
    } catch {
      // The audio still goes to the loudspeaker; the microphone is closed instead. Some browsers have no connections.
      this.#loopback?.close();
      this.#loopback = undefined;
      this.#echo.remedy = 'half-duplex';
      this.#closeWhileAgentSpeaks();
    }
  }

  #closeWhileAgentSpeaks(): void {
    this.#toLine({ type: 'gate', on: true });
    this.#emit('notice', 'use-headphones');
  }

  /** Systems take the sound away, as for a telephone call (`interrupted` on iOS). */
  #contextChanged(): void {
    const context = this.#context;
    if (context === undefined || this.#line === undefined || this.#state === 'ended') return;
    if (context.state !== 'running') this.#emit('notice', 'audio-interrupted');
  }

  #toLine(message: ToLine, ...given: ArrayBuffer[]): void {
    this.#line?.port.postMessage(message, given);
  }

  #setState(state: WebCallState): void {
    if (this.#state === state) return;
    this.#state = state;
    this.#emit('state', state);
  }

  #emit<Name extends keyof CallEvents>(name: Name, event: CallEvents[Name]): void {
    const listeners: Set<(event: CallEvents[Name]) => void> = this.#listeners[name];
    for (const listener of listeners) listener(event);
  }

  /** Closes everything that the call has opened. The first reason counts. */
  #end(reason: string, code: number): void {
    if (this.#state === 'ended') return;
    this.#abort.abort();
    this.#microphone.close();
    this.#toLine({ type: 'end' });
    this.#source?.disconnect();
    this.#line?.disconnect();
    this.#loopback?.close();
    this.#socket?.close();
    if (this.#context !== undefined) {
      this.#context.onstatechange = null;
      void this.#context.close();
    }
    this.#setState('ended');
    const { reason: endReason = reason, disposition } = this.#ended ?? {};
    this.#emit('ended', { runId: this.#runId, reason: endReason, disposition, code });
  }
}

/** A context without a sound server never settles. Throws CallError. */
async function resumedInTime(context: AudioContext): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new CallError('audio-blocked')), RESUME_MS_MAX);
  });
  try {
    await Promise.race([context.resume(), late]);
  } finally {
    clearTimeout(timer);
  }
}
