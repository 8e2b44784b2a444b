// Announcement of a warm transfer: plays the caller's name and reason to the destination, repeatedly, until it accepts
// or refuses the call. Its speech is not recognised: it uses keys, or hangs up.

import { codecByName } from '../../codec/registry.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { CallAudio } from '../../pipeline/call-audio.ts';
import type { CallAudioEvent } from '../../pipeline/call-audio-event.ts';
import type { CallAudioOptions } from '../../pipeline/call-audio-options.ts';
import { defaultTuning } from '../../pipeline/turn/turn-tuning.ts';
import type {
  MediaEvent,
  MediaListener,
  MediaSession,
  MediaStart,
} from '../../telephony/provider/media-session.ts';
import type { TransferAnnouncement } from '../../workflow/tools/tool-type.ts';
import { CallTimers, guardedClock } from '../session/dialogue/call-timers.ts';

/** Time for the destination's audio to start and for the text to be said once, a minute of speech at most. */
const ANNOUNCING_MS_MAX = 75_000;
/** Pause before a repetition: the first words may have been missed. */
const REPEAT_MS = 3_000;

export interface WarmTransferDeps
  extends Pick<CallAudioOptions, 'clock' | 'mediaClock' | 'vad' | 'tts' | 'voice'> {
  log: Log;
}

/** Longest announcement with its repetitions, in milliseconds. */
export function consultationMsMax({ decisionS, queueS }: TransferAnnouncement): number {
  if (queueS !== undefined) return queueS * 1_000;
  return ANNOUNCING_MS_MAX + decisionS * 1_000;
}

/** Announces the caller; settles when the destination accepts. Throws TRANSFER_DECLINED if it does not, errors that
 *  prevent the announcement, and the signal's reason. `digits`: keys that are pressed before, as tones. */
export function consultTransferTarget(
  deps: WarmTransferDeps,
  {
    announcement,
    media,
    digits = '',
  }: { announcement: TransferAnnouncement; media: MediaSession; digits?: string },
  signal: AbortSignal,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const onEnd = (error?: unknown): void => {
      signal.removeEventListener('abort', onAbort);
      if (error === undefined) resolve();
      else reject(error);
    };
    const consultation = new Consultation(deps, { announcement, digits }, onEnd);
    const onAbort = (): void => consultation.end(signal.reason);
    signal.addEventListener('abort', onAbort, { once: true });
    consultation.begin(media);
    if (signal.aborted) onAbort();
  });
}

class Consultation {
  readonly #deps: WarmTransferDeps;
  readonly #announcement: TransferAnnouncement;
  readonly #digits: string;
  readonly #onEnd: (error?: unknown) => void;
  readonly #timers: CallTimers;
  #media: MediaSession | undefined;
  #audio: CallAudio | undefined;
  #utterances = 0;
  #isInterrupted = false;
  #isHeld = false;
  #isAnnounced = false;
  #isOver = false;

  constructor(
    deps: WarmTransferDeps,
    { announcement, digits }: { announcement: TransferAnnouncement; digits: string },
    onEnd: (error?: unknown) => void,
  ) {
    const clock = guardedClock(deps.clock, (error) => this.end(error));
    this.#deps = { ...deps, clock };
    this.#announcement = announcement;
    this.#digits = digits;
    this.#onEnd = onEnd;
    this.#timers = new CallTimers(clock);
  }

  begin(media: MediaSession): void {
    const { queueS } = this.#announcement;
    if (queueS === undefined) this.#timers.after(ANNOUNCING_MS_MAX, () => this.#announced());
    else this.#timers.after(queueS * 1_000, () => this.end(new GatewayError('TRANSFER_QUEUE')));
    this.#media = media;
    media.attach(this.#mediaListener());
  }

  /** Ends the announcement, once. Without an error the destination accepts the call. */
  end(error?: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#timers.cancelAll();
    try {
      void this.#audio?.close();
    } catch (fault) {
      this.#deps.log.warn({ err: fault }, 'audio of a transfer destination not closed completely');
    }
    this.#onEnd(error);
  }

  #mediaListener(): MediaListener {
    return {
      onAudio: (payload, timestampMs) =>
        this.#guarded(() => this.#audio?.audioIn(payload, timestampMs)),
      onEvent: (event) => this.#guarded(() => this.#takeMedia(event)),
    };
  }

  #takeMedia(event: MediaEvent): void {
    switch (event.type) {
      case 'started':
        this.#open(event.start);
        break;
      case 'digit':
        this.#audio?.digit(event.digit);
        break;
      case 'mark':
        this.#audio?.mark(event.name);
        break;
      case 'unplayed':
        this.#audio?.unplayed(event.ms);
        break;
      case 'interrupted':
      case 'restored':
        this.#isInterrupted = event.type === 'interrupted';
        this.#suspend();
        break;
      case 'held':
      case 'unheld':
        this.#isHeld = event.type === 'held';
        this.#suspend();
        break;
      case 'closed':
        if ('error' in event) this.end(event.error);
        else this.#decline('the audio of the destination ended');
    }
  }

  /** Follows outages and hold: an outage may end while the call is on hold, and the other way round. */
  #suspend(): void {
    this.#audio?.suspend(this.#isInterrupted || this.#isHeld);
  }

  #open({ codecIn, codecOut }: MediaStart): void {
    const media = this.#media;
    if (media === undefined || this.#isOver) return;
    const { clock, mediaClock, vad, tts, voice, log } = this.#deps;
    const { marks, lead } = media.traits;
    this.#audio = new CallAudio({
      clock,
      mediaClock,
      vad,
      tts,
      voice,
      log,
      codecIn: codecByName(codecIn),
      codecOut: codecByName(codecOut),
      wire: media,
      lead,
      marks,
      stt: undefined,
      recording: undefined,
      tuning: defaultTuning,
      onEvent: (event) => this.#onAudio(event),
    });
    if (this.#digits !== '') this.#audio.press(this.#digits);
    this.#say();
  }

  /** Handles the destination's keys and the end of the text; ignores everything else. */
  #onAudio(event: CallAudioEvent): void {
    if (event.type === 'digit') this.#key(event.digit);
    else if (event.type === 'utterance-finished') this.#said();
    else if (event.type === 'broken') this.end(event.error);
    else if (event.type === 'fault') {
      this.#deps.log.warn({ err: event.error }, 'announcement to a transfer destination failed');
    }
  }

  #say(): void {
    this.#utterances += 1;
    const utteranceId = this.#utterances;
    const speech = this.#audio?.speak({ utteranceId, interruptible: false });
    speech?.text(this.#announcement.text);
    speech?.end();
  }

  #said(): void {
    this.#announced();
    if (!this.#isOver) this.#timers.after(REPEAT_MS, () => this.#say());
  }

  #announced(): void {
    // In a queue nobody may have heard it yet.
    if (this.#announcement.queueS !== undefined) return;
    if (this.#isAnnounced || this.#isOver) return;
    this.#isAnnounced = true;
    const { accept, decisionS } = this.#announcement;
    if (accept === 'stay') this.end();
    else
      this.#timers.after(decisionS * 1_000, () =>
        this.#decline('the destination pressed no key in time'),
      );
  }

  #key(digit: string): void {
    if (digit === this.#announcement.refuseKey)
      this.#decline('the destination refused the call by a key');
    else this.end();
  }

  #decline(reason: string): void {
    this.end(new GatewayError('TRANSFER_DECLINED', { reason }));
  }

  /** Runs `work`. A fault in our own code ends the transfer, not the caller's call. */
  #guarded(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.end(error);
    }
  }
}
