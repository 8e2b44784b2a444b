// Recogniser of one call that survives faults of services (failover). After a fault the unconfirmed audio is replayed
// to a new session of the same or the next service, faster than real time and followed by the live audio. Words are
// reported once: finals confirm the audio before them, and only later audio is replayed. The list of services can
// change between two turns.

import { codeOf, type GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { serviceFaults } from '../../../metrics/speech-metrics.ts';
import type { ExpectedInput } from '../../../model/expected-input.ts';
import type { Clock } from '../../../std/clock.ts';
import { ServiceFault, serviceFaultOf } from '../../service/service-fault.ts';
import type { ServiceReports } from '../../service/service-reports.ts';
import type { RecognizedWords, Recognizer, RecognizerListener, VendorTurn } from '../stt.ts';
import { AudioRing } from './audio-ring.ts';
import { type Mark, RecognizerSession, type SessionContext } from './fallback-session.ts';
import { OpenWords } from './open-words.ts';
import { isFamily, RecognizerLine, type SttFallbackService } from './recognizer-line.ts';
import { SessionRetry, SessionRotation } from './session-renewal.ts';
import { SpeechWatchdog } from './speech-watchdog.ts';

/** Audio before the detected beginning of speech, and in a pause: the least that a new session receives. */
const BEFORE_SAMPLES = 8_000;
/** Control marks in the unconfirmed audio. A turn has a handful. */
const MARKS_MAX = 200;
/** Clients give up a service that has not answered `finalize` after this time. */
const BEHIND_MS = 1_000;

export interface FallbackRecognizerOptions {
  /** Services in order of preference, one list for each step of the conversation. */
  lists: readonly (readonly SttFallbackService[])[];
  /** Number of the first list, and of the first service in it to use. */
  list: number;
  first: number;
  clock: Clock;
  log: Log;
  reports: ServiceReports;
  onSession: (entry: SttFallbackService) => void;
  expectation: ExpectedInput;
  listener: RecognizerListener;
}

export class FallbackRecognizer implements Recognizer {
  readonly #options: FallbackRecognizerOptions;
  readonly #ring = new AudioRing();
  readonly #watchdog: SpeechWatchdog;
  /** Controls after the confirmed position, in order. */
  #marks: Mark[] = [];
  #session: RecognizerSession | undefined;
  readonly #line: RecognizerLine;
  readonly #retry = new SessionRetry();
  #confirmed = 0;
  readonly #words = new OpenWords();
  #owed = 0;
  #isInTurn = false;
  #isFinishing = false;
  #expectation: ExpectedInput;
  readonly #context: SessionContext = {};
  readonly #rotation: SessionRotation;

  constructor(options: FallbackRecognizerOptions) {
    this.#options = options;
    const { lists, list, first, log, reports } = options;
    const onPassed = (fault: ServiceFault): void => {
      log.warn({ service: fault.service, kind: fault.kind }, 'recogniser skipped');
      reports.permanent(fault);
    };
    this.#line = new RecognizerLine(lists, { list, service: first }, { onPassed, reports });
    this.#expectation = options.expectation;
    this.#watchdog = new SpeechWatchdog(options.clock, (detail) => this.#silent(detail));
    this.#rotation = new SessionRotation(options.clock, {
      onDue: () => this.#rotateInPause(),
      onOverdue: () => this.#renew(),
    });
    this.#open();
  }

  push(frame: Int16Array): void {
    this.#ring.write(frame);
    this.#session?.pushed(frame);
  }

  speechStarted(): void {
    if (this.#isPause) this.#confirm(this.#pause());
    this.#isInTurn = true;
    this.#mark('start');
  }

  speechStopped(): void {
    this.#mark('stop');
  }

  speechResumed(): void {
    // The service ended a turn that continues.
    if (this.#isInTurn) this.#mark('resume');
    else this.speechStarted();
  }

  prepareFinal(): void {
    this.#session?.prepareFinal();
  }

  finalize(): void {
    if (this.#session === undefined) return;
    this.#owed += 1;
    this.#isInTurn = false;
    const { lagSamples, isBehind, delayMs } = this.#session;
    this.#mark('finalize');
    if (lagSamples > 0) this.#options.listener.onDelayed?.(delayMs);
    else if (isBehind) this.#options.listener.onDelayed?.(BEHIND_MS);
  }

  expect(expectation: ExpectedInput): void {
    this.#expectation = expectation;
    this.#session?.recognizer.expect(expectation);
  }

  agentSaid(agentText: string): void {
    this.#context.agentText = agentText;
    this.#session?.recognizer.agentSaid?.(agentText);
  }

  setLanguage(language: string): void {
    this.#context.language = language;
    this.#session?.recognizer.setLanguage?.(language);
  }

  switchTo(list: number): void {
    this.#line.want(list);
    if (this.#isPause) this.#switch();
    else this.#line.prepareWanted();
  }

  async finish(): Promise<void> {
    this.#isFinishing = true;
    this.#words.finishing();
    this.#watchdog.reset();
    this.#rotation.cancel();
    this.#line.stay();
    const session = this.#session;
    await session?.finish(!this.#isPause);
    this.#endSession();
    const last = this.#words.last(session);
    if (last.text !== '') this.#options.listener.onFinal(last);
  }

  close(): void {
    this.#endSession();
  }

  /** Whether the caller is silent and all of their speech has been answered. */
  get #isPause(): boolean {
    return !this.#isInTurn && this.#owed === 0 && !this.#words.hasPartial;
  }

  #mark(kind: Mark['kind']): void {
    if (this.#session === undefined) return;
    if (this.#marks.length >= MARKS_MAX) this.#marks.shift();
    const mark = { kind, at: this.#ring.written };
    this.#marks.push(mark);
    this.#session.mark(mark);
  }

  /** Position at which a new session begins outside speech. */
  #pause(): number {
    return this.#ring.written - BEFORE_SAMPLES;
  }

  #confirm(position: number): void {
    this.#confirmed = Math.max(this.#confirmed, Math.min(position, this.#ring.written));
  }

  // The session.

  #open(): void {
    const { clock, listener } = this.#options;
    const entry = this.#line.current;
    if (entry === undefined) return;
    this.#options.onSession(entry);
    if (this.#isPause) this.#confirm(this.#pause());
    this.#keepLostWords();
    const from = this.#confirmed;
    const session: RecognizerSession = new RecognizerSession({
      service: entry.service,
      sessions: entry.sessions,
      expectation: this.#expectation,

      clock,
      ring: this.#ring,
      from,
      marks: this.#marks,
      watchdog: this.#watchdog,
      onOverdue: (detail) => this.#overdue(session, detail),
      listener: {
        onPartial: (words) => this.#from(session, () => this.#partial(session, words)),
        onFinal: (words) => this.#from(session, () => this.#final(session, words)),
        onTurn: (turn, words) => this.#from(session, () => this.#turn(session, turn, words)),
        onDelayed: (ms) => this.#from(session, () => listener.onDelayed?.(ms)),
        onActivity: () => this.#from(session, () => this.#alive(session)),
        onUsage: (usage) => listener.onUsage?.(usage),
        onError: (error) => this.#from(session, () => this.#ended(error, entry.service.name)),
      },
    });
    this.#session = session;
    session.setContext(this.#context);
    this.#rotation.await(entry.service.capabilities.sessionMsMax);
  }

  /** Keeps the interim words of audio that is older than the ring: it cannot be replayed. */
  #keepLostWords(): void {
    const { oldest } = this.#ring;
    const lostToMs = this.#words.renew(this.#confirmed < oldest ? oldest / 8 : 0);
    if (this.#confirmed < oldest) this.#confirm(Math.max(oldest, lostToMs * 8));
  }

  /** Ignores late events of a session that was given up. */
  #from(session: RecognizerSession, work: () => void): void {
    if (session === this.#session) work();
  }

  #endSession(): void {
    const session = this.#session;
    this.#session = undefined;
    this.#watchdog.reset();
    this.#rotation.cancel();
    session?.close();
  }

  #rotateInPause(): void {
    if (this.#isPause) this.#switch();
    if (this.#rotation.isDue && this.#isPause && this.#session?.lagSamples === 0) this.#renew();
  }

  /** Changes to the wanted list. Everything up to this position is confirmed. */
  #switch(): void {
    const change = this.#line.change();
    if (change === undefined) return;
    const { before, after, isReturn } = change;
    this.#retry.reset();
    if (before?.service === after.service) return;
    if (this.#session !== undefined && isFamily(before, after)) {
      this.#session.recognizer.setLanguage?.(after.language);
      return;
    }
    if (!isReturn) this.#context.language = undefined;
    this.#renew();
    const { capabilities } = after.service;
    if (before?.service.capabilities !== capabilities) {
      this.#options.listener.onReplaced?.(capabilities);
    }
  }

  #renew(): void {
    this.#endSession();
    this.#open();
  }

  // Results.

  #alive(session: RecognizerSession): void {
    this.#watchdog.event();
    if (session.isProven) return;
    session.isProven = true;
    this.#line.current?.circuit.succeeded();
  }

  #understood(session: RecognizerSession, words: RecognizedWords): void {
    this.#watchdog.words(words.words?.at(-1)?.endMs);
    this.#line.keep();
    this.#alive(session);
  }

  #partial(session: RecognizerSession, words: RecognizedWords): void {
    if (words.text !== '') this.#understood(session, words);
    const all = this.#words.partial(words, session);
    if (all !== undefined) this.#options.listener.onPartial(all);
  }

  #final(session: RecognizerSession, words: RecognizedWords): void {
    if (words.text !== '') this.#understood(session, words);
    else if (session.owesFinal) {
      if (!this.#isFinishing && this.#isDoubtful()) return;
      this.#watchdog.noWords();
    }
    const answered = session.answered();
    this.#confirm(answered?.at ?? session.endOf(words) ?? session.likelyEnd);
    // At the end of a call, an earlier session may have had more words.
    const mayBeFewer = this.#isFinishing && this.#words.areOfOther(session);
    if (answered === undefined && (this.#owed > 0 || mayBeFewer)) {
      this.#words.hold(words);
      return;
    }
    if (answered !== undefined) {
      this.#owed -= 1;
      this.#marks = this.#marks.slice(this.#marks.indexOf(answered) + 1);
    }
    const all = this.#words.final(words, answered !== undefined);
    if (answered === undefined && all.text === '') return;
    this.#options.listener.onFinal(all);
    // Even if the caller continues: further words belong to the next turn.
    if (answered !== undefined && this.#owed === 0) this.#switch();
    this.#rotateInPause();
  }

  #turn(session: RecognizerSession, turn: VendorTurn, words: RecognizedWords): void {
    if (turn === 'ended' && this.#owed === 0) {
      this.#isInTurn = false;
      this.#marks = this.#marks.filter(({ at }) => at > this.#confirmed);
    }
    // Turns within replayed audio are over. While an answer is due, the answer ends the turn.
    if (this.#owed > 0 || (turn !== 'ended' && session.lagSamples > 0)) return;
    this.#options.listener.onTurn?.(turn, words);
    if (turn === 'ended') this.#rotateInPause();
  }

  // Faults.

  /** Handles a turn without words, after which the service may have stopped. Returns true if another session gets its
   *  audio. */
  #isDoubtful(): boolean {
    // Such a service reports only the phrases that it knows.
    if (this.#line.current?.service.capabilities.closedOnly === true) return false;
    const doubt = this.#watchdog.doubt();
    if (doubt === 'speech') return this.#silent('no sign of life');
    if (doubt === undefined) return false;
    // A cough has no words at any service. The call then returns to its earlier service.
    const other = doubt === 'word-again' ? this.#line.nextOfOpenSpeech() : undefined;
    this.#lookInto('no sign of life', other ?? this.#line.index, true);
    return true;
  }

  /** Handles a service that sends nothing while the caller speaks. A new session gets the same audio, then the next
   *  service. If that one is silent too, the audio has no words. Returns false if no session or service is left. */
  #silent(detail: string): boolean {
    const { index } = this.#line;
    const next = this.#watchdog.silences > 1 ? this.#line.nextOfOpenSpeech() : index;
    if (next !== undefined) this.#lookInto(detail, next, false);
    return next !== undefined;
  }

  #lookInto(detail: string, next: number, isLent: boolean): void {
    const fault = this.#timeout(detail);
    this.#watchdog.suspect(fault, this.#line.current?.circuit);
    this.#endSession();
    this.#use(next, fault, isLent);
  }

  #overdue(session: RecognizerSession, detail: string): void {
    if (session !== this.#session || this.#isFinishing) return;
    const fault = this.#timeout(detail);
    serviceFaults.inc({ kind: 'stt', service: fault.service, fault: fault.kind });
    this.#failed(fault);
  }

  #timeout(detail: string): ServiceFault {
    const name = this.#line.current?.service.name ?? '';
    return new ServiceFault('stt', name, 'timeout', { detail });
  }

  #ended(error: GatewayError, service: string): void {
    if (codeOf(error) !== 'STT_UNAVAILABLE') {
      const fault = serviceFaultOf('stt', service, error);
      if (this.#isFinishing) this.#failedAtEnd(fault);
      else this.#failed(fault);
      return;
    }
    // The embedded recogniser is at its capacity. Its circuit stays closed for the next call.
    this.#endSession();
    if (!this.#isFinishing) this.#use(this.#line.next(), error);
  }

  /** Records a fault at the end of a call, without a replacement. A session that was asked for its last words may still
   *  deliver them. */
  #failedAtEnd(fault: ServiceFault): void {
    this.#line.current?.circuit.failed(fault);
    if (fault.isPermanent) this.#options.reports.permanent(fault);
    if (this.#session?.isEnding === false) this.#endSession();
  }

  #failed(fault: ServiceFault): void {
    const livedMs = this.#options.clock.monotonicMs() - (this.#session?.openedAt ?? 0);
    this.#line.current?.circuit.failed(fault);
    this.#endSession();
    const isLastResort = this.#line.nextOfOpenSpeech() === undefined;
    const retries = this.#retry.take(fault, { livedMs, isLastResort });
    this.#use(retries ? this.#line.index : this.#line.next(), fault);
  }

  #use(index: number | undefined, fault: GatewayError, isLent = false): void {
    const { listener, log, reports } = this.#options;
    const { service, kind } = fault.facts;
    const entry = this.#line.at(index);
    if (index === undefined || entry === undefined) {
      log.warn({ service, kind }, 'no recogniser is left');
      listener.onError(fault);
      return;
    }
    log.info({ service, kind, next: entry.service.name }, 'recogniser replaced');
    if (fault instanceof ServiceFault && fault.isPermanent) reports.permanent(fault);
    const isOther = index !== this.#line.index;
    if (isOther) this.#retry.reset();
    this.#line.use(index, fault, isLent);
    this.#open();
    if (isOther) listener.onReplaced?.(entry.service.capabilities);
    // The answers that are due wait for the replay.
    if (this.#owed > 0 && this.#session !== undefined) listener.onDelayed?.(this.#session.delayMs);
  }
}
