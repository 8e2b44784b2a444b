// The soak of a voice: utterances in pieces over the service that is tested, with faults, and the same service without any
// behind it. Every clause must be spoken to its end, and none twice.

import { CircuitBreaker } from '../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceMeans } from '../../src/speech/service/service-means.ts';
import type { TextToSpeech } from '../../src/speech/tts/tts.ts';
import { createTtsFallback } from '../../src/speech/tts/tts-fallback.ts';
import { MS_PER_CHARACTER, type VoiceFaults } from '../fakes/call/scripted-voice.ts';
import { settle } from '../fakes/fake-clock.ts';
import { HeardUtterance } from '../speech/tts/heard-utterance.ts';
import type { Draws } from './draws.ts';
import type { Bench, SoakLine, SoakProtocol } from './soak-run.ts';

/** Share of the utterances with a fault. */
const FAULT_SHARE = 0.2;
const CALL_TURNS_MAX = 9;
const CANCELLED_SHARE = 0.15;
/** Simulated time an utterance may take: the deadlines of both services, and the slowest speech. */
const UTTERANCE_MS_MAX = 120_000;
const STEP_MS = 40;
/** Rounding of a resampler, and a frame. */
const AUDIO_MS_SLACK = 25;

export type SoakVoiceFaults = VoiceFaults & {
  refuse?: { status: number; body: string };
  isReset?: boolean;
};

/** What one fake has received. */
export interface SpokenBySoak {
  url: string;
  /** Emptied when they are reported. */
  errors: string[];
  /** Sets the faults of the utterances that begin from now on. */
  set(faults: SoakVoiceFaults): void;
  requests(): number;
  characters(): number;
  close(): Promise<unknown>;
}

export interface TtsRow {
  name: string;
  faults: readonly VoiceFaultName[];
  /** Share of the text that one side may count where a request is cancelled before its answer begins. Default: 0. */
  disputedShareMax?: number;
  start(bench: Bench): Promise<SpokenBySoak>;
  create(url: string, means: ServiceMeans): TextToSpeech;
}

const CODES = [1000, 1001, 1008, 1011, 1012, 1013, 4001] as const;
const refusal = (status: number) => () => ({
  refuse: { status, body: '{"message":"refused"}' },
});

const FAULTS = {
  'refused, 401': refusal(401),
  'refused, 402': refusal(402),
  'refused, 403': refusal(403),
  'refused, 429': refusal(429),
  'refused, 500': refusal(500),
  'refused, 503': refusal(503),
  'reset connection': () => ({ isReset: true }),
  'no audio': () => ({ noAudio: true }),
  'done without audio': () => ({ doneWithoutAudio: true }),
  'audio after a cancel': (d) => ({ goesOnAfterCancel: true, speed: d.pick([1, 4]) }),
  'at 0.8 times real time': () => ({ speed: 0.8 }),
  'at 50 times real time': () => ({ speed: 50 }),
  'half samples': () => ({ pieceBytes: 333 }),
  'words before audio': () => ({ words: 'before' }),
  'words after audio': () => ({ words: 'after' }),
  'no words': () => ({ words: 'never' }),
  closed: (d) => ({ failsAfterMs: d.between(0, 6_000), failure: d.pick(CODES) }),
  'used up in an utterance': (d) => ({ failsAfterMs: d.between(0, 4_000), failure: 'quota' }),
  'silent in an utterance': (d) => ({ failsAfterMs: d.between(0, 6_000), failure: 'silent' }),
} satisfies Record<string, (draws: Draws) => SoakVoiceFaults>;

export type VoiceFaultName = keyof typeof FAULTS;
export const VOICE_FAULTS = Object.keys(FAULTS) as VoiceFaultName[];
/** They rest a service for minutes: drawn a tenth as often. */
const PERMANENT: ReadonlySet<string> = new Set([
  ...['refused, 401', 'refused, 402', 'refused, 403', 'used up in an utterance'],
]);

const CLAUSES = [
  'Your table is booked,',
  'for eight on Friday the second.',
  'Of course,',
  'we have one by the window.',
  'Is there anything else that I can do?',
  'One moment, please.',
  'See you then, and good bye!',
];

export function ttsSoak(row: TtsRow): SoakProtocol {
  return { name: `tts/${row.name}`, open: (bench) => TtsLine.open(row, bench) };
}

/** The parts of an utterance, one for each service that spoke. */
class Parts extends HeardUtterance {
  readonly from = [0];
  readonly partMs = [0];

  override onAudio(samples: Int16Array): void {
    super.onAudio(samples);
    this.partMs[this.partMs.length - 1] = (this.partMs.at(-1) ?? 0) + samples.length / 8;
  }

  onContinued(fromCharacter: number): void {
    this.from.push(fromCharacter);
    this.partMs.push(0);
  }
}

class TtsLine implements SoakLine {
  readonly #row: TtsRow;
  readonly #bench: Bench;
  readonly #servers: readonly SpokenBySoak[];
  readonly #services: { service: TextToSpeech; circuit: CircuitBreaker }[];
  #isFaulty = true;
  #counted = 0;

  private constructor(row: TtsRow, bench: Bench, servers: readonly SpokenBySoak[]) {
    this.#row = row;
    this.#bench = bench;
    this.#servers = servers;
    this.#services = servers.map(({ url }) => ({
      service: row.create(url, bench.means),
      circuit: new CircuitBreaker({ clock: bench.clock, job: 'tts', service: row.name }),
    }));
  }

  static async open(row: TtsRow, bench: Bench): Promise<TtsLine> {
    return new TtsLine(row, bench, [await row.start(bench), await row.start(bench)]);
  }

  async call(): Promise<void> {
    const { draws, clock, means, ledger } = this.#bench;
    const call = createTtsFallback({ services: this.#services, clock, log: means.log });
    const turns = draws.between(1, CALL_TURNS_MAX);
    for (let turn = 0; turn < turns; turn++) {
      this.#draw();
      await this.#turn(call);
      await clock.advanceAsync(draws.between(0, 4_000), 500);
    }
    await call.close();
    for (const { errors } of this.#servers) {
      for (const what of errors.splice(0)) ledger.broke('the protocol is kept', { what });
    }
    await this.#pause();
  }

  #draw(): void {
    const { draws, ledger } = this.#bench;
    const [first] = this.#servers;
    first?.set({});
    if (!this.#isFaulty || !draws.chance(FAULT_SHARE)) return;
    const name = draws.pick(this.#row.faults);
    if (PERMANENT.has(name) && !draws.chance(0.1)) return;
    const faults = FAULTS[name](draws);
    ledger.drew(name, faults);
    first?.set(faults);
  }

  async #turn(call: TextToSpeech): Promise<void> {
    const { draws, clock, ledger } = this.#bench;
    const requests = this.#servers[1]?.requests();
    const heard = new Parts();
    const stream = call.stream?.(undefined, heard);
    if (stream === undefined) throw new Error('no streams');
    const clauses = Array.from({ length: draws.between(1, 4) }, () => draws.pick(CLAUSES));
    const startedAt = clock.monotonicMs();
    for (const [nth, clause] of clauses.entries()) {
      stream.push(clause);
      if (nth === 0) stream.flush();
      if (draws.chance(0.5)) await clock.advanceAsync(draws.between(0, 1_200), STEP_MS);
    }
    const isCancelled = draws.chance(CANCELLED_SHARE);
    if (!isCancelled) stream.end();
    const firstAudioAt = await this.#hear(heard, isCancelled);
    if (isCancelled) await this.#cancel(heard, () => stream.cancel());
    ledger.turns += 1;
    if (this.#servers[1]?.requests() === requests) ledger.turnsOfFirst += 1;
    ledger.waits.push(firstAudioAt - startedAt);
    this.#counted += heard.characters;
    if (!isCancelled) this.#judge(clauses.join(' '), clauses.length, heard);
  }

  /** To the end, or to the first audio. Returns when that came. */
  async #hear(heard: Parts, isFirstEnough: boolean): Promise<number> {
    const { clock } = this.#bench;
    const untilMs = clock.monotonicMs() + UTTERANCE_MS_MAX;
    let firstAudioAt: number | undefined;
    while (heard.ends.length === 0 && clock.monotonicMs() < untilMs) {
      await clock.advanceAsync(STEP_MS, STEP_MS);
      if (heard.samples === 0) continue;
      firstAudioAt ??= clock.monotonicMs();
      if (isFirstEnough) break;
    }
    return firstAudioAt ?? clock.monotonicMs();
  }

  async #cancel(heard: Parts, cancel: () => void): Promise<void> {
    const { clock, ledger } = this.#bench;
    const isOver = heard.ends.length > 0;
    const { samples } = heard;
    cancel();
    await clock.advanceAsync(1_000, STEP_MS);
    const hasMore = heard.samples > samples || (!isOver && heard.ends.length > 0);
    if (hasMore) ledger.broke('nothing follows a cancel');
  }

  #judge(text: string, pieces: number, heard: Parts): void {
    const { ledger } = this.#bench;
    const { from, partMs, ends } = heard;
    const facts = { text, from, partMs, ends: ends.map(String) };
    if (ends[0] !== 'done') ledger.broke('an utterance is spoken to its end', facts);
    const spoken = from.map((at, nth) => text.slice(at, from[nth + 1]));
    if (spoken.join('') !== text) ledger.broke('every clause is spoken', facts);
    for (const [nth, part] of spoken.entries()) {
      const needMs = part.trimEnd().length * MS_PER_CHARACTER;
      const ms = partMs[nth] ?? 0;
      // Requests of a sentence each have no space between them.
      const leastMs = needMs - (pieces - 1) * MS_PER_CHARACTER - AUDIO_MS_SLACK;
      if (ms < leastMs) ledger.broke('no clause is cut', { part, ms, ...facts });
      // Fakes speak a space behind each piece.
      const mostMs = needMs + (pieces + 1) * MS_PER_CHARACTER + AUDIO_MS_SLACK;
      if (nth === spoken.length - 1 && ms > mostMs) {
        ledger.broke('no clause is spoken twice', { part, ms, ...facts });
      }
    }
  }

  async #pause(): Promise<void> {
    const { clock, draws } = this.#bench;
    const isOpen = this.#services[0]?.circuit.state === 'open';
    this.#servers[0]?.set({});
    if (isOpen && draws.chance(0.5)) await clock.advanceAsync(300_000, 5_000);
  }

  async recovers(): Promise<boolean> {
    const { clock } = this.#bench;
    this.#isFaulty = false;
    this.#servers[0]?.set({});
    await clock.advanceAsync(600_000, 5_000);
    const before = this.#servers[0]?.requests() ?? 0;
    await this.call();
    const used = (this.#servers[0]?.requests() ?? 0) - before;
    return used > 0 && this.#services[0]?.circuit.state === 'closed';
  }

  bill() {
    const billed = this.#servers.reduce((sum, server) => sum + server.characters(), 0);
    const slack = (this.#row.disputedShareMax ?? 0) * billed;
    return { unit: 'characters' as const, counted: this.#counted, billed, slack };
  }

  async close(): Promise<void> {
    for (const { service } of this.#services) await service.close();
    await settle();
    for (const server of this.#servers) await server.close();
  }
}
