// Idempotent starts: calls that clients start, each once per idempotency key. A repeated request gets the answer of the
// first, also while the first one's call is still being placed, and after a kill in between. If the database's answer
// to the first was lost (stranded-starts.ts), nothing was dialled: its run is closed, and that is the answer.

import { createHash } from 'node:crypto';
import { codeOf } from '../../../errors/gateway-error.ts';
import { callsRefused } from '../../../metrics/metrics.ts';
import type { Run } from '../../../model/run.ts';
import { SharedReads } from '../../../std/batches.ts';
import { isObject } from '../../../std/json.ts';
import type { StartedRun } from '../../../store/runs/run-insertion.ts';
import type { StartKey } from '../../../store/runs/start-batch.ts';
import type { Store } from '../../../store/store.ts';
import { startFailure } from '../../end/closing/unconnected-calls.ts';
import type { StartCall, TestCall } from '../setup/call-start.ts';
import { type DialRequestOfRun, notPlaced, type RunDialler } from './dial.ts';
import {
  type Prepared,
  prepareStart,
  prepareTest,
  type StartDeps,
  type StartFacts,
} from './start-call.ts';
import type { StrandedStarts } from './stranded-starts.ts';

/** Refusals of providers that are cached: more than begin while the store is unavailable; the store has all others. */
const REFUSALS_MAX = 1_000;

export interface IdempotentStartsDeps extends StartDeps {
  store: StartDeps['store'] & Pick<Store, 'runs'>;
  dialler: RunDialler;
  stranded: Pick<StrandedStarts, 'closeIfStranded'>;
}

export class IdempotentStarts {
  readonly #deps: IdempotentStartsDeps;
  /** Reads that starts share: a client that starts many calls a second has one agent read for several of them. */
  readonly #facts = new SharedReads<StartFacts>();
  /** Calls that are being placed, by run; at most as many as the organizations' limits allow. */
  readonly #placing = new Map<string, Promise<void>>();
  /** Recent refusals, by run: answers that the store may not have yet. */
  readonly #refusals = new Map<string, unknown>();

  constructor(deps: IdempotentStartsDeps) {
    this.#deps = deps;
  }

  /** Starts a call. If the provider refuses, the run is stored and completed. Throws the errors of contract §6.1. */
  start(request: StartCall): Promise<Run> {
    return this.#once(request, () => prepareStart({ ...this.#deps, facts: this.#facts }, request));
  }

  startTest(request: TestCall): Promise<Run> {
    return this.#once(request, () => prepareTest(this.#deps, request));
  }

  async #once(request: StartCall | TestCall, prepare: () => Promise<Prepared>): Promise<Run> {
    const { organizationId, idempotencyKey, apiKeyId: _, apiKeyCreatedBy: __, ...asked } = request;
    const key = idempotencyKeyOf(idempotencyKey, asked);
    const prepared = await this.#prepared(prepare, { organizationId, key });
    if ('known' in prepared) return this.#answerAgain(prepared.known);
    const { begin, createsRun, ...route } = prepared;
    const { run, isNew } = await counted(begin(key));
    // Starts that create runs are one statement after the other: that of the first is over, and dials by now if it was
    // answered.
    if (!isNew && createsRun) await this.#closeIfStranded(run);
    if (!isNew) return this.#answerAgain(run);
    await this.#place({ run, ...route, isNew: createsRun });
    return run;
  }

  /** Prepares a start. Most keys are new, which the statement that begins the call detects. Only if the call cannot
   *  be prepared, the run of an earlier request is looked up first: it is the answer, whatever its agent is by now. */
  async #prepared(
    prepare: () => Promise<Prepared>,
    { organizationId, key }: { organizationId: string; key: StartKey | undefined },
  ): Promise<Prepared | { known: Run }> {
    try {
      return await prepare();
    } catch (error) {
      const known = key && (await this.#deps.store.starts.startedBy(organizationId, key));
      if (known === undefined) throw error;
      return { known };
    }
  }

  async #place(placement: DialRequestOfRun): Promise<void> {
    const { run } = placement;
    const placing = this.#deps.dialler.dial(placement);
    this.#placing.set(run.id, placing);
    try {
      await placing;
    } catch (error) {
      this.#keepRefusal(run.id, error);
      throw error;
    } finally {
      this.#placing.delete(run.id);
    }
  }

  #keepRefusal(runId: string, error: unknown): void {
    this.#refusals.set(runId, error);
    const [oldest] = this.#refusals.keys();
    if (this.#refusals.size > REFUSALS_MAX && oldest !== undefined) this.#refusals.delete(oldest);
  }

  /** Closes the run of a first request that got an error because the database's answer was lost: its call is never
   *  dialled. */
  async #closeIfStranded(run: Run): Promise<void> {
    if (this.#placing.has(run.id) || this.#refusals.has(run.id) || !isUnplaced(run)) return;
    await this.#deps.stranded.closeIfStranded(run.id);
  }

  /** The answer of the first request, as soon as it exists. */
  async #answerAgain(run: Run): Promise<Run> {
    await this.#placing.get(run.id);
    if (this.#refusals.has(run.id)) throw this.#refusals.get(run.id);
    // The call may have been refused since the run was read.
    const current = isUnplaced(run) ? await this.#deps.store.runs.find(run.id) : run;
    const failure = startFailure(current ?? run);
    if (failure !== undefined) throw notPlaced(run, failure);
    return run;
  }
}

/** Whether the provider has reported nothing about the run's call. */
function isUnplaced({ state, providerCallId }: Run): boolean {
  return state === 'initialized' && providerCallId === null;
}

async function counted(beginning: Promise<StartedRun>): Promise<StartedRun> {
  try {
    return await beginning;
  } catch (error) {
    const code = codeOf(error);
    if (code !== undefined) callsRefused.inc({ code });
    throw error;
  }
}

/** Key of a request with its content. Two requests are equal if they have the same content, in any order and from
 *  any client. Undefined without a key. Source: draft-ietf-httpapi-idempotency-key-header. */
export function idempotencyKeyOf(
  key: string | null,
  asked: Record<string, unknown>,
): StartKey | undefined {
  if (key === null) return undefined;
  const requestHash = createHash('sha256')
    .update(JSON.stringify(sorted(asked)))
    .digest('hex');
  return { key, requestHash };
}

/** The value with the entries of every object sorted by name. */
function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isObject(value)) return value;
  const names = Object.keys(value).sort();
  return { entries: names.map((name) => [name, sorted(value[name])]) };
}
