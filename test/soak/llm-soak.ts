// The soak of a language model: questions over the model that is tested, with faults, and the same one without any behind
// it. What is said must be the answer, or its beginning with an error that says so.

import { codeOf, GatewayError } from '../../src/errors/gateway-error.ts';
import { FallbackModel } from '../../src/speech/llm/fallback.ts';
import type { LanguageModel, LlmRequest } from '../../src/speech/llm/llm.ts';
import { CircuitBreaker } from '../../src/speech/service/service-circuit-breaker.ts';
import type { ServiceMeans } from '../../src/speech/service/service-means.ts';
import { settle } from '../fakes/fake-clock.ts';
import type { RecordedRequest, Reply, ScriptedServer, Step } from '../fakes/scripted-server.ts';
import { ask } from '../speech/llm/model-history.ts';
import { type Bench, KEY, type SoakLine, type SoakProtocol } from './soak-run.ts';

/** Share of the requests with a fault. */
const FAULT_SHARE = 0.25;
const CALL_TURNS_MAX = 9;
const ABORTED_SHARE = 0.1;
/** Simulated time an answer may take: every model twice, with its deadlines. */
const ANSWER_MS_MAX = 200_000;
const STEP_MS = 50;
const WORDS = ['Of', 'course,', 'your', 'table', 'is', 'booked', 'for', 'eight.'];

/** What a model of one protocol sends. */
export interface LlmRow {
  name: string;
  start(key: string): Promise<ScriptedServer>;
  create(server: ScriptedServer, means: ServiceMeans): LanguageModel;
  /** A good answer in steps, one for each word, and the tokens that it bills. */
  says(text: string): Reply;
  tokens(text: string): number;
  refusal(status: number): Reply;
  /** By name: an answer that goes wrong, of the steps of a good one. */
  faults: Readonly<Record<string, LlmFault>>;
}

export interface LlmFault {
  reply(good: Reply): Reply;
  /** The answer is whole all the same. */
  isWhole?: boolean;
}

const cut = (good: Reply): Step[] => good.steps.slice(0, Math.floor(good.steps.length / 2));

/** Faults that every protocol has. */
export const LLM_FAULTS: Readonly<Record<string, LlmFault>> = {
  'silent before the first token': { reply: () => ({ steps: ['stall'] }) },
  'silent in the answer': { reply: (good) => ({ steps: [...cut(good), 'stall'] }) },
  'broken in the answer': { reply: (good) => ({ steps: [...cut(good), 'reset'] }) },
  'half an answer': { reply: (good) => ({ steps: cut(good) }) },
  'no answer': { reply: () => ({ steps: [] }) },
  'broken before the answer': { reply: () => ({ steps: ['reset'] }) },
  'no JSON': { reply: (good) => ({ steps: [...cut(good), 'data: {"type":\n\n'] }) },
  'cut at every byte': {
    reply: (good) => ({ steps: good.steps.flatMap((step) => bytesOf(step)) }),
    isWhole: true,
  },
  'comments between': {
    reply: (good) => ({ steps: good.steps.flatMap((step) => [': ping\n\n', step]) }),
    isWhole: true,
  },
};

function bytesOf(step: Step): Step[] {
  if (typeof step !== 'string') return [step];
  return [...Buffer.from(step)].map((byte) => Uint8Array.of(byte));
}

const REFUSALS = [401, 402, 403, 429, 500, 503] as const;
/** They rest a model for minutes: drawn a tenth as often. */
const PERMANENT: ReadonlySet<number> = new Set([401, 402, 403]);

export function llmSoak(row: LlmRow): SoakProtocol {
  return { name: `llm/${row.name}`, open: (bench) => LlmLine.open(row, bench) };
}

interface Entry {
  model: LanguageModel;
  circuit: CircuitBreaker;
}

class LlmLine implements SoakLine {
  readonly #row: LlmRow;
  readonly #bench: Bench;
  readonly #servers: readonly ScriptedServer[];
  readonly #services: readonly Entry[];
  readonly #asked = [0, 0];
  #isFaulty = true;
  #text = '';
  #counted = 0;
  #billed = 0;

  private constructor(row: LlmRow, bench: Bench, servers: readonly ScriptedServer[]) {
    this.#row = row;
    this.#bench = bench;
    this.#servers = servers;
    this.#services = servers.map((server) => ({
      model: row.create(server, bench.means),
      circuit: new CircuitBreaker({ clock: bench.clock, job: 'llm', service: row.name }),
    }));
    for (const [nth, server] of servers.entries()) {
      server.otherwise((request) => this.#reply(nth, server, request));
    }
  }

  static async open(row: LlmRow, bench: Bench): Promise<LlmLine> {
    return new LlmLine(row, bench, [await row.start(KEY), await row.start(KEY)]);
  }

  #reply(nth: number, server: ScriptedServer, _request: RecordedRequest): Reply {
    const { draws, ledger } = this.#bench;
    const { says, faults, refusal } = this.#row;
    server.requests.length = 0;
    this.#asked[nth] = (this.#asked[nth] ?? 0) + 1;
    const good = says(this.#text);
    if (nth > 0 || !this.#isFaulty || !draws.chance(FAULT_SHARE)) return good;
    const status = draws.pick(REFUSALS);
    if (draws.chance(0.25) && (!PERMANENT.has(status) || draws.chance(0.1))) {
      ledger.drew(`refused, ${status}`);
      return refusal(status);
    }
    const name = draws.pick(Object.keys(faults));
    ledger.drew(name);
    return faults[name]?.reply(good) ?? good;
  }

  async call(): Promise<void> {
    const { draws, clock, means } = this.#bench;
    const services = this.#services;
    const model = new FallbackModel({ services, clock, log: means.log });
    const turns = draws.between(1, CALL_TURNS_MAX);
    for (let turn = 0; turn < turns; turn++) {
      await this.#turn(model);
      await clock.advanceAsync(draws.between(0, 4_000), 1_000);
    }
    await model.close();
    const isOpen = services[0]?.circuit.state === 'open';
    if (isOpen && draws.chance(0.5)) await clock.advanceAsync(300_000, 5_000);
  }

  async #turn(model: LanguageModel): Promise<void> {
    const { draws, clock, ledger } = this.#bench;
    const askedOfNext = this.#asked[1];
    this.#text = `${WORDS.slice(0, draws.between(1, WORDS.length)).join(' ')} ${ledger.turns}.`;
    const abort = new AbortController();
    const isAborted = draws.chance(ABORTED_SHARE);
    let said = '';
    let firstAt: number | undefined;
    const startedAt = clock.monotonicMs();
    const listener = {
      onText(delta: string) {
        firstAt ??= clock.monotonicMs();
        said += delta;
        if (isAborted) abort.abort('barge-in');
      },
    };
    let outcome: unknown;
    const request: LlmRequest = ask;
    model.respond(request, listener, abort.signal).then(
      (answer) => {
        outcome = answer;
        this.#counted += answer.usage.completionTokens;
        this.#billed += this.#row.tokens(answer.text);
        if (answer.text.trim() !== said.trim())
          ledger.broke('the answer is what was said', { said });
      },
      (error: unknown) => {
        outcome = error ?? 'nothing';
      },
    );
    while (outcome === undefined && clock.monotonicMs() - startedAt < ANSWER_MS_MAX) {
      await settle();
      if (outcome === undefined) await clock.advanceAsync(STEP_MS, STEP_MS);
    }
    ledger.turns += 1;
    if (this.#asked[1] === askedOfNext) ledger.turnsOfFirst += 1;
    ledger.waits.push((firstAt ?? clock.monotonicMs()) - startedAt);
    this.#judge(said, outcome, isAborted);
  }

  #judge(said: string, outcome: unknown, isAborted: boolean): void {
    const { ledger } = this.#bench;
    const facts = { said, text: this.#text, outcome: String(outcome) };
    const isError = outcome instanceof GatewayError;
    if (outcome === undefined) ledger.broke('a question has its answer', facts);
    else if (outcome instanceof Error && !isError) ledger.broke('errors have codes', facts);
    if (!this.#text.startsWith(said.trim())) ledger.broke('no word is lost or doubled', facts);
    if (outcome === 'barge-in' && isAborted) return;
    // Behind the first model is one without faults: only what was begun cannot be repeated.
    if (isError && said === '')
      ledger.broke('the next model answers', { ...facts, code: codeOf(outcome) });
    if (!isError && said.trim() !== this.#text) ledger.broke('an answer is whole', facts);
  }

  async recovers(): Promise<boolean> {
    const { clock } = this.#bench;
    this.#isFaulty = false;
    await clock.advanceAsync(600_000, 5_000);
    const [before = 0] = this.#asked;
    await this.call();
    return (this.#asked[0] ?? 0) > before && this.#services[0]?.circuit.state === 'closed';
  }

  bill() {
    return { unit: 'tokens' as const, counted: this.#counted, billed: this.#billed, slack: 0 };
  }

  async close(): Promise<void> {
    for (const { model } of this.#services) await model.close();
    for (const server of this.#servers) await server.close();
  }
}
