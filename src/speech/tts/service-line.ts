// Synthesisers of one call in order of preference, and the one that speaks. A failed one is not used again unless it is
// the last. One with an open circuit, or with a key without a free session, is skipped.

import type { Log } from '../../log.ts';
import { serviceFaults } from '../../metrics/speech-metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { CallSessions } from '../service/call-sessions.ts';
import type { CircuitBreaker } from '../service/service-circuit-breaker.ts';
import { ServiceFault, serviceFaultOf } from '../service/service-fault.ts';
import { type ServiceChange, ServiceReports, serviceChange } from '../service/service-reports.ts';
import { limitFault, type SessionLimit } from '../service/session-limit.ts';
import { SentenceStream } from './streaming/stream-by-sentences.ts';
import type { SpeechStream, StreamOptions, TextToSpeech, UtteranceListener } from './tts.ts';

export interface TtsFallbackService {
  service: TextToSpeech;
  circuit: CircuitBreaker;
  /** Voice of this service. A voice that an utterance requests is the first service's. */
  voice?: string | undefined;
  /** Concurrency limit of its key. Default: no limit. */
  sessions?: SessionLimit;
}

export interface TtsFallbackOptions {
  /** Services, at least one, best first; shared with other calls. */
  services: readonly TtsFallbackService[];
  /** Sessions of all voices of the call. Default: its own. */
  held?: CallSessions;
  /** Receives the reports of all services of the call. Default: its own, with the two listeners below. */
  reports?: ServiceReports;
  clock: Clock;
  log: Log;
  /** Called for a permanent fault or the limit of a key, once for each service: the owner of the call must change
   *  something. */
  onPermanentFault?: (fault: ServiceFault) => void;
  /** Called when another voice speaks because of a temporary fault in this call or in others. */
  onChanged?: (change: ServiceChange) => void;
}

/** Synthesisers of one call, and the choice among them. */
export class ServiceLine {
  readonly #options: TtsFallbackOptions;
  readonly #failed = new Set<TtsFallbackService>();
  readonly #reported = new Set<TtsFallbackService>();
  /** Services whose key was at its limit when the call needed them. */
  readonly #full = new Set<TtsFallbackService>();
  /** Services from which the call has received audio. */
  readonly #proven = new Set<TtsFallbackService>();
  readonly #held: CallSessions;
  readonly #reports: ServiceReports;
  /** Services that the call has left, until another one speaks. */
  readonly #left = new Map<TtsFallbackService, ServiceFault>();
  #current: TtsFallbackService | undefined;
  /** Service with a connection that was opened ahead and not used yet. */
  #prepared: TtsFallbackService | undefined;

  constructor(options: TtsFallbackOptions) {
    this.#options = options;
    this.#held = options.held ?? new CallSessions(options.clock);
    this.#reports = options.reports ?? new ServiceReports(options);
    this.#reports.planned(options.services);
  }

  /** Service that speaks next. Skips an open circuit and a key without a free session, unless nothing else is left. The
   *  call stays with the service that it has spoken with. */
  current(): TtsFallbackService | undefined {
    const chosen = this.#current;
    if (chosen !== undefined && (this.#proven.has(chosen) || this.#hasRoom(chosen))) return chosen;
    const left = this.#options.services.filter((each) => !this.#failed.has(each));
    const found = left.find((each) => this.#hasRoom(each) && each.circuit.admit());
    const current = found ?? left.at(-1);
    this.#current = current;
    if (current !== undefined) this.#notePassed(left.slice(0, left.indexOf(current)), current);
    return current;
  }

  /** Service in use so far. Undefined: none, or the call has just left it. */
  get chosen(): TtsFallbackService | undefined {
    return this.#current;
  }

  /** Whether the call has no other choice: after it there is no service, or only skipped ones. */
  isLast(entry: TtsFallbackService): boolean {
    return entry === this.#options.services.at(-1);
  }

  /** Opens a connection. Does not consult the circuits: a probe is for a call that speaks. */
  prepare(): void {
    const entry = this.#current ?? this.#likely;
    if (entry?.sessions?.admitAhead() === false) return;
    this.#prepared = entry;
    entry?.service.prepare?.();
  }

  /** Whether a request may be made that no caller waits for. If so, `endAhead` follows. The first one uses the
   *  connection of `prepare`. */
  admitAhead(entry: TtsFallbackService): boolean {
    const isPrepared = this.#prepared === entry;
    this.#prepared = undefined;
    return isPrepared || entry.sessions?.admitAhead() !== false;
  }

  /** Records that the service sent audio. */
  spoke(entry: TtsFallbackService): void {
    this.#proven.add(entry);
    this.#held.hold(entry.sessions);
  }

  /** Records that the call plays a line that the service has cached. The call keeps this voice. It proves nothing about
   *  the service. */
  played(entry: TtsFallbackService): void {
    this.#prepared = undefined;
    this.#held.hold(entry.sessions);
  }

  get #likely(): TtsFallbackService | undefined {
    const { services } = this.#options;
    const likely = services.find((each) => this.#hasRoom(each) && each.circuit.state !== 'open');
    return likely ?? services.at(-1);
  }

  #hasRoom({ sessions }: TtsFallbackService): boolean {
    return this.#held.hasRoom(sessions);
  }

  open(
    entry: TtsFallbackService,
    wanted: string | undefined,
    listener: UtteranceListener,
    how: StreamOptions,
  ): SpeechStream {
    const { service, voice, sessions } = entry;
    this.#noteFull(entry);
    this.#noteLeft(entry);
    this.#prepared = undefined;
    this.#held.hold(sessions);
    const named = entry === this.#options.services[0] ? (wanted ?? voice) : voice;
    if (service.stream !== undefined) return service.stream(named, listener, how);
    return new SentenceStream(service, named, listener);
  }

  /** Records a failure. `isLeft`: the call does not use the service any more. */
  failed(entry: TtsFallbackService, error: Error, isLeft: boolean): void {
    const { log } = this.#options;
    const { service } = entry;
    const fault = serviceFaultOf('tts', service.name, error);
    entry.circuit.failed(fault);
    if (fault.kind === 'rate' && !this.#proven.has(entry)) entry.sessions?.refused();
    if (fault.isPermanent && !this.#reported.has(entry)) {
      this.#reported.add(entry);
      this.#reports.permanent(fault);
    }
    const facts = { service: service.name, model: service.model, kind: fault.kind };
    log.warn({ ...facts, isLeft }, 'voice failed');
    // The last service may fail on this text but say the next one.
    const others = this.#options.services.filter((each) => each !== entry);
    if (!isLeft || others.every((each) => this.#failed.has(each))) return;
    // A superseded utterance can fail, too.
    if (!this.#failed.has(entry)) this.#left.set(entry, fault);
    this.#failed.add(entry);
    this.#held.leave(entry.sessions);
    if (this.#current === entry) this.#current = undefined;
  }

  /** Reports skipped services. After a failure in this call the run has the reason already; a full key is noted with
   *  the first text. */
  #notePassed(before: readonly TtsFallbackService[], { service: to }: TtsFallbackService): void {
    const passed = before.filter((each) => this.#hasRoom(each));
    if (this.#left.size === 0) this.#reports.passedBy('tts', passed, to);
    else this.#reports.known('tts', passed);
  }

  #noteLeft({ service: to }: TtsFallbackService): void {
    for (const [{ service: from }, fault] of this.#left) {
      const change = serviceChange('tts', fault, { from, to });
      if (change !== undefined) this.#reports.changed(change);
    }
    this.#left.clear();
  }

  /** Reports services before `entry` that were skipped only because their key has no free session. */
  #noteFull(entry: TtsFallbackService): void {
    const { services } = this.#options;
    for (const each of services.slice(0, services.indexOf(entry))) {
      const { service, sessions } = each;
      if (sessions === undefined || this.#hasRoom(each)) continue;
      if (this.#full.has(each) || this.#failed.has(each)) continue;
      this.#full.add(each);
      this.#reports.permanent(limitFault('tts', service.name, sessions));
    }
  }
}

/** Fault for a service that reported none. */
export function silenceOf(entry: TtsFallbackService, kind: 'timeout' | 'overload'): ServiceFault {
  const service = entry.service.name;
  serviceFaults.inc({ kind: 'tts', service, fault: kind });
  const detail = kind === 'timeout' ? 'no audio in time' : 'no audio for the text';
  return new ServiceFault('tts', service, kind, { detail });
}
