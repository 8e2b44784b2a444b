// The microphone of a call (getUserMedia): opened in a click, again when its device is gone or permitted anew, and closed
// with the call.

export type MicrophoneFault =
  /** The person or the browser's settings refuse it. */
  | 'microphone-blocked'
  | 'microphone-missing'
  /** Another program has it, or the system refuses it. */
  | 'microphone-busy'
  /** The chosen device is gone, or has not what was asked of it. */
  | 'microphone-unfit'
  /** The page is neither https nor localhost, or its frame may not use it. */
  | 'microphone-unavailable';

const FAULTS: ReadonlyMap<string, MicrophoneFault> = new Map([
  ['NotAllowedError', 'microphone-blocked'],
  ['SecurityError', 'microphone-unavailable'],
  ['NotFoundError', 'microphone-missing'],
  ['NotReadableError', 'microphone-busy'],
  ['AbortError', 'microphone-busy'],
  ['OverconstrainedError', 'microphone-unfit'],
]);

export class MicrophoneError extends Error {
  override readonly name = 'MicrophoneError';
  readonly code: MicrophoneFault;

  constructor(code: MicrophoneFault, cause?: unknown) {
    super(code, { cause });
    this.code = code;
  }
}

export function microphoneFaultOf(error: unknown): MicrophoneFault {
  const name = error instanceof Error || error instanceof DOMException ? error.name : '';
  return FAULTS.get(name) ?? 'microphone-unavailable';
}

export interface MicrophoneOptions {
  /** Id of the device. Default: the system's. */
  deviceId?: string | undefined;
  /** Default: true. Off for headphones, where the browser's processing only harms. */
  echoCancellation?: boolean | undefined;
  /** The stream in use, which replaces the one before. */
  onStream: (stream: MediaStream) => void;
  /** The device is gone; another is being opened. */
  onLost: () => void;
  /** No other can be opened: the call continues in silence until one is plugged in. */
  onFault: (fault: MicrophoneFault) => void;
}

export class Microphone {
  readonly #options: MicrophoneOptions;
  #stream: MediaStream | undefined;
  #permission: PermissionStatus | undefined;
  #isClosed = false;
  #isOpening = false;
  /** Another device is there, or another permission. */
  readonly #onChange = (): void => {
    if (this.#stream === undefined || !this.#isLive) void this.#openAgain();
  };

  constructor(options: MicrophoneOptions) {
    this.#options = options;
  }

  /** Whether the browser says that it cancels echo. */
  get cancelsEcho(): boolean {
    return this.#stream?.getAudioTracks()[0]?.getSettings().echoCancellation === true;
  }

  /** Asks for the microphone. Throws MicrophoneError. */
  async open(): Promise<void> {
    if (navigator.mediaDevices === undefined) throw new MicrophoneError('microphone-unavailable');
    await this.#open(this.#options.deviceId);
    navigator.mediaDevices.addEventListener('devicechange', this.#onChange);
    void this.#watchPermission();
  }

  /** Stops all tracks. The browser's sign for an open microphone goes out. */
  close(): void {
    this.#isClosed = true;
    navigator.mediaDevices?.removeEventListener('devicechange', this.#onChange);
    this.#permission?.removeEventListener('change', this.#onChange);
    this.#release();
  }

  /** A person who has refused the microphone in the middle of a call may allow it again. */
  async #watchPermission(): Promise<void> {
    try {
      const permission = await navigator.permissions.query({ name: 'microphone' });
      if (this.#isClosed) return;
      this.#permission = permission;
      permission.addEventListener('change', this.#onChange);
    } catch {
      // The browser does not report the reason: another device or another call opens the microphone.
    }
  }

  get #isLive(): boolean {
    return this.#stream?.getAudioTracks().some(({ readyState }) => readyState === 'live') === true;
  }

  async #open(deviceId: string | undefined): Promise<void> {
    const processing = this.#options.echoCancellation ?? true;
    let stream: MediaStream;
    try {
      stream = await navigator.mediaDevices.getUserMedia({
        audio: {
          echoCancellation: processing,
          noiseSuppression: processing,
          autoGainControl: processing,
          channelCount: 1,
          ...(deviceId === undefined ? {} : { deviceId: { exact: deviceId } }),
        },
      });
    } catch (error) {
      const code = microphoneFaultOf(error);
      // The chosen device may be gone: any other is better than none.
      const isGone = code === 'microphone-unfit' || code === 'microphone-missing';
      if (isGone && deviceId !== undefined) return this.#open(undefined);
      throw new MicrophoneError(code, error);
    }
    if (this.#isClosed) {
      stopAll(stream);
      return;
    }
    this.#release();
    this.#stream = stream;
    for (const track of stream.getAudioTracks()) track.onended = () => this.#lost(stream);
    this.#options.onStream(stream);
  }

  #lost(stream: MediaStream): void {
    if (this.#isClosed || stream !== this.#stream) return;
    this.#options.onLost();
    void this.#openAgain();
  }

  async #openAgain(): Promise<void> {
    if (this.#isClosed || this.#isOpening) return;
    this.#isOpening = true;
    try {
      await this.#open(this.#options.deviceId);
    } catch (error) {
      if (!this.#isClosed) this.#options.onFault(microphoneFaultOf(causeOf(error)));
    } finally {
      this.#isOpening = false;
    }
  }

  #release(): void {
    const stream = this.#stream;
    this.#stream = undefined;
    if (stream !== undefined) stopAll(stream);
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof MicrophoneError ? error.cause : error;
}

function stopAll(stream: MediaStream): void {
  for (const track of stream.getTracks()) {
    track.onended = null;
    track.stop();
  }
}
