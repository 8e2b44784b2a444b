// The soak of a recogniser: calls of a few turns over the service that is tested, with faults, and the same service without
// any behind it. Each turn must come out word for word.

import { CircuitBreaker } from '../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceMeans } from '../../src/speech/service/service-means.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../src/speech/stt/stt-fallback.ts';
import type { Clock } from '../../src/std/clock.ts';
import { wordOf } from '../fakes/call/spoken-words.ts';
import { settle } from '../fakes/fake-clock.ts';
import type { SttFaults } from '../fakes/services/stt-server.ts';
import { RecognizerRig } from '../speech/stt/recognizer-rig.ts';
import type { Bench, SoakLine, SoakProtocol } from './soak-run.ts';
import { drawSttFault, type SttFaultName } from './stt-faults.ts';

/** Share of the connections to the tested service with a fault. */
const FAULT_SHARE = 0.6;
const CALL_TURNS_MAX = 9;
const TURN_WORDS_MAX = 8;
/** Share of the calls whose caller leaves within a sentence. */
const CUT_SHARE = 0.4;
/** For the last words, and what a machine takes to pass a message on. */
const LAST_MS_MAX = 2_000;
const PASSES_MAX = 200;
/** From the question for the final words to them: two replays of 15 s, and their deadlines. */
const FINAL_MS_MAX = 40_000;
/** What was pushed and has not gone out when a connection breaks, and the part of a packet at a close. */
const UNSENT_S_MAX = 0.3;

/** What one fake has received. */
export interface HeardBySoak {
  url: string;
  /** Emptied when they are reported. */
  violations: string[];
  /** Sessions, uploads or connections of utterances. */
  sessions(): number;
  open(): number;
  /** As the service bills it. */
  seconds(): number;
  /** Audio of requests that broke off: it is open who bills them. */
  disputedSeconds?(): number;
  close(): Promise<unknown>;
}

export interface SttRow {
  name: string;
  faults: readonly SttFaultName[];
  /** Default: `FAULT_SHARE`. */
  faultShare?: number;
  /** Audio a connection may count that is not billed, as its last part packet. Default: `UNSENT_S_MAX`. */
  unsentSecondsMax?: number;
  start(clock: Clock, faults: () => SttFaults): Promise<HeardBySoak>;
  create(url: string, means: ServiceMeans): SpeechToText;
}

interface State {
  isFaulty: boolean;
  /** A session of this call gives empty answers: words are lost that nobody else has. */
  withholds: boolean;
}

export function sttSoak(row: SttRow): SoakProtocol {
  return { name: `stt/${row.name}`, open: (bench) => SttLine.open(row, bench) };
}

class SttLine implements SoakLine {
  readonly #row: SttRow;
  readonly #bench: Bench;
  readonly #servers: readonly HeardBySoak[];
  readonly #services: { service: SpeechToText; circuit: CircuitBreaker }[];
  readonly #state: State;
  #counted = 0;
  #nextWord = 0;

  private constructor(row: SttRow, bench: Bench, servers: readonly HeardBySoak[], state: State) {
    this.#row = row;
    this.#bench = bench;
    this.#servers = servers;
    this.#state = state;
    this.#services = servers.map(({ url }) => ({
      service: row.create(url, bench.means),
      circuit: new CircuitBreaker({ clock: bench.clock, job: 'stt', service: row.name }),
    }));
  }

  static async open(row: SttRow, bench: Bench): Promise<SttLine> {
    const { draws, ledger } = bench;
    const state: State = { isFaulty: true, withholds: false };
    const faults = (): SttFaults => {
      if (!state.isFaulty || !draws.chance(row.faultShare ?? FAULT_SHARE)) return {};
      const drawn = drawSttFault(draws, row.faults);
      ledger.drew(drawn.name, drawn.faults);
      if (drawn.faults.finals === 'empty') state.withholds = true;
      return drawn.faults;
    };
    const servers = [
      await row.start(bench.clock, faults),
      await row.start(bench.clock, () => ({})),
    ];
    return new SttLine(row, bench, servers, state);
  }

  async call(): Promise<void> {
    const { draws, clock, ledger, means } = this.#bench;
    const services = this.#services;
    this.#state.withholds = false;
    const faultsBefore = ledger.faultCount;
    const rig = new RecognizerRig(clock, createSttFallback({ services, clock, log: means.log }));
    await settle();
    const turns = draws.between(1, CALL_TURNS_MAX);
    for (let turn = 0; turn < turns && rig.errors.length === 0; turn++) await this.#turn(rig);
    if (rig.errors.length === 0 && draws.chance(CUT_SHARE)) await this.#cut(rig, faultsBefore);
    rig.recognizer.close();
    await settle();
    await settle();
    for (const { amount } of rig.usage) this.#counted += amount;
    for (const error of rig.errors) ledger.broke('a recogniser is left', { ...error.facts });
    for (const server of this.#servers) {
      const open = server.open();
      if (open > 0) ledger.broke('the connections of a call end with it', { open });
      for (const what of server.violations.splice(0))
        ledger.broke('the protocol is kept', { what });
    }
    await this.#pause(rig);
  }

  async #turn(rig: RecognizerRig): Promise<void> {
    const { draws, clock, ledger } = this.#bench;
    const text = this.#words(draws.between(1, TURN_WORDS_MAX));
    const before = rig.finals.length;
    const sessionsOfNext = this.#servers[1]?.sessions();
    await rig.says(text);
    await rig.silence(20 * draws.between(3, 45));
    const unasked = rig.finals.length;
    const askedAt = clock.monotonicMs();
    rig.recognizer.finalize();
    await settle();
    while (rig.finals.length === unasked && clock.monotonicMs() - askedAt < FINAL_MS_MAX) {
      if (rig.errors.length > 0) break;
      await rig.silence(40);
    }
    ledger.waits.push(clock.monotonicMs() - askedAt);
    await rig.silence(20 * draws.between(0, 60));
    ledger.turns += 1;
    if (this.#servers[1]?.sessions() === sessionsOfNext) ledger.turnsOfFirst += 1;
    this.#judge(text, rig, { before, unasked });
  }

  /** The caller leaves within a sentence, whose words come before the call is over. */
  async #cut(rig: RecognizerRig, faultsBefore: number): Promise<void> {
    const { draws, clock, ledger } = this.#bench;
    const spoken = this.#words(draws.between(1, TURN_WORDS_MAX));
    const before = rig.finals.length;
    await rig.says(spoken);
    let isOver = false;
    void rig.recognizer.finish?.().then(() => {
      isOver = true;
    });
    for (let nth = 0; nth < PASSES_MAX && !isOver; nth++) await settle();
    for (let ms = 0; ms < LAST_MS_MAX && !isOver; ms += 100) await clock.advanceAsync(100, 100);
    if (!isOver) ledger.broke('a call waits two seconds for its last words');
    const finals = rig.finals.slice(before).map(({ text }) => text);
    const heard = finals
      .filter((text) => text !== '')
      .join(' ')
      .replace(/[.,?!]/g, '');
    const isWhole = ledger.faultCount === faultsBefore;
    if (isWhole ? heard === spoken : isWithin(heard, spoken)) return;
    ledger.broke('the last words are kept, and none is doubled', { spoken, finals });
  }

  #judge(spoken: string, rig: RecognizerRig, at: { before: number; unasked: number }): void {
    const { ledger } = this.#bench;
    const finals = rig.finals.slice(at.before).map(({ text }) => text);
    const heard = finals.filter((text) => text !== '').join(' ');
    if (rig.finals.length === at.unasked) ledger.broke('a question has its answer', { spoken });
    const plain = heard.replace(/[.,?!]/g, '');
    if (plain === spoken) return;
    if (this.#state.withholds && isWithin(plain, spoken)) return;
    ledger.broke('no word is lost or doubled', { spoken, finals });
  }

  #words(count: number): string {
    const from = this.#nextWord;
    this.#nextWord += count;
    return Array.from({ length: count }, (_, nth) => wordOf(from + nth)).join(' ');
  }

  /** Between two calls; some are made when the pause of the circuit is over. */
  async #pause({ clock }: RecognizerRig): Promise<void> {
    const { draws } = this.#bench;
    const [first] = this.#services;
    const isOpen = first?.circuit.state === 'open';
    if (isOpen && draws.chance(0.5)) await clock.advanceAsync(300_000, 5_000);
    else await clock.advanceAsync(draws.between(0, 4_000), 500);
  }

  async recovers(): Promise<boolean> {
    const { clock } = this.#bench;
    this.#state.isFaulty = false;
    await clock.advanceAsync(600_000, 5_000);
    const before = this.#servers[0]?.sessions() ?? 0;
    await this.call();
    const used = (this.#servers[0]?.sessions() ?? 0) - before;
    return used > 0 && this.#services[0]?.circuit.state === 'closed';
  }

  bill() {
    const billed = this.#servers.reduce((sum, server) => sum + server.seconds(), 0);
    const sessions = this.#servers.reduce((sum, server) => sum + server.sessions(), 0);
    const disputed = this.#servers.reduce((sum, each) => sum + (each.disputedSeconds?.() ?? 0), 0);
    const unsent = (this.#row.unsentSecondsMax ?? UNSENT_S_MAX) * sessions;
    const slack = unsent + disputed + 0.001;
    return { unit: 'seconds' as const, counted: this.#counted, billed, slack };
  }

  async close(): Promise<void> {
    for (const { service } of this.#services) await service.close();
    await settle();
    for (const server of this.#servers) await server.close();
  }
}

/** Some of the words, in their order, each once. */
function isWithin(some: string, all: string): boolean {
  const rest = all.split(' ');
  return some.split(' ').every((word) => {
    const at = word === '' ? 0 : rest.indexOf(word) + 1;
    rest.splice(0, at);
    return word === '' || at > 0;
  });
}
