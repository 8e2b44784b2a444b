// Fetches variables from an organization's server while the phone rings. The call waits for them before its first
// word, and goes on without them if none come. The result is stored with the run, for a process that adopts the call.
// Source: contract §8.1.

import { z } from 'zod';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { preCallFetches } from '../../../metrics/metrics.ts';
import { CONTEXT_LIMITS } from '../../../model/json-limits.ts';
import type { Run } from '../../../model/run.ts';
import type { WorkflowDefinition } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal, unlessAborted } from '../../../std/deadline.ts';
import { isObject, parseExactJson } from '../../../std/json.ts';
import { jsonExcess } from '../../../std/json-size.ts';
import { PRE_CALL_KEY, type PreCallResult } from '../../../store/runs/pre-call-results.ts';
import type { Store } from '../../../store/store.ts';
import { preCallRequestOf } from '../../../workflow/graph/pre-call-request.ts';
import type { PreCallRequest } from '../../../workflow/nodes/node-type.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { OrganizationHttp } from '../../session/dialogue/tool-request.ts';
import { withoutReserved } from './call-context.ts';

/** Deadline of the request. */
export const FETCH_MS = 10_000;
/** Interval of the looks for the result of another process's request. */
const LOOK_MS = 200;
/** Time for that process to store the result, and the difference of its clock. */
const STORED_MS = 2_000;

export interface PreCallFetch {
  /** The run's initial context with the fetched variables. Settles within 10 s; never rejects. */
  readonly context: Promise<Record<string, unknown>>;
  /** Called with a fault of the code that waits for it. */
  onBroken(error: unknown): void;
}

export interface PreCallFetchesDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  http: OrganizationHttp;
  clock: Clock;
  log: Log;
}

export class PreCallFetches {
  readonly #deps: PreCallFetchesDeps;

  constructor(deps: PreCallFetchesDeps) {
    this.#deps = deps;
  }

  /** Starts the fetch, or takes its stored result. Undefined if the agent has no pre-call request. */
  start(run: Run, definition: WorkflowDefinition): PreCallFetch | undefined {
    const request = preCallRequestOf(definition, run.callType);
    if (request === undefined) return undefined;
    const isDone = storedResult(run) !== undefined;
    return this.#of(
      run,
      isDone ? Promise.resolve(run.initialContext) : this.#fetchContext(run, request),
    );
  }

  /** Takes the result of the request that another process has sent for the run: at once if it is stored, else when it is,
   *  or without variables after `untilMs` (milliseconds since 1970). Undefined if the agent has no pre-call request. */
  resume(run: Run, definition: WorkflowDefinition, untilMs: number): PreCallFetch | undefined {
    if (preCallRequestOf(definition, run.callType) === undefined) return undefined;
    const isDone = storedResult(run) !== undefined;
    return this.#of(run, isDone ? Promise.resolve(run.initialContext) : this.#stored(run, untilMs));
  }

  #of(run: Run, context: PreCallFetch['context']): PreCallFetch {
    const onBroken = (error: unknown): void => {
      this.#deps.log.error({ err: error, runId: run.id }, 'work after the pre-call fetch failed');
    };
    return { context, onBroken };
  }

  /** Never rejects. */
  async #stored(run: Run, untilMs: number): Promise<Record<string, unknown>> {
    const { store, clock, log } = this.#deps;
    const endMs = clock.now() + Math.min(untilMs - clock.now(), FETCH_MS) + STORED_MS;
    for (;;) {
      const current = await store.runs.find(run.id).catch((error: unknown) => {
        log.warn({ err: error, runId: run.id }, 'variables of another process not read');
      });
      const result = current && storedResult(current);
      if (result?.status === 'ok') return { ...run.initialContext, ...current?.initialContext };
      const isLate = clock.now() >= endMs || current?.state === 'completed';
      if (result !== undefined || isLate) {
        // Its process has not logged it: the call was adopted before.
        await this.#logFault(run, result ?? failed('its process stored no result in time'));
        return run.initialContext;
      }
      await new Promise<void>((resolve) => clock.after(LOOK_MS, resolve));
    }
  }

  async #fetchContext(run: Run, request: PreCallRequest): Promise<Record<string, unknown>> {
    try {
      const variables = await this.#fetchVariables(run, request);
      preCallFetches.inc({ result: 'ok' });
      void this.#keep(run, variables); // The caller does not wait for the database.
      return { ...run.initialContext, ...variables };
    } catch (error) {
      preCallFetches.inc({ result: codeOf(error) === 'TIMED_OUT' ? 'timeout' : 'failed' });
      void this.#noteFailure(run, error);
      return run.initialContext;
    }
  }

  async #fetchVariables(
    run: Run,
    { url, credentialUuid }: PreCallRequest,
  ): Promise<Record<string, unknown>> {
    const { clock, http } = this.#deps;
    const deadline = deadlineSignal(clock, FETCH_MS, 'pre-call fetch');
    try {
      const credential =
        credentialUuid === null
          ? {}
          : await unlessAborted(
              deadline.signal,
              http.credentialHeaders(run.organizationId, credentialUuid),
            );
      const reply = await http.outside.send(
        {
          method: 'POST',
          url,
          headers: { ['Content-Type']: 'application/json', ...credential },
          body: JSON.stringify(questionOf(run)),
        },
        deadline.signal,
      );
      if (reply.status < 200 || reply.status >= 300) throw failed(`status ${reply.status}`);
      const answer = parseExactJson(reply.text);
      if (!isObject(answer)) throw failed('no JSON object');
      const variables = variablesIn(answer);
      const excess = jsonExcess(variables, CONTEXT_LIMITS);
      if (excess !== undefined) throw failed(excess);
      return variables;
    } finally {
      deadline.done();
    }
  }

  /** Stores the context that the call uses. Never rejects. */
  async #keep(run: Run, variables: Record<string, unknown>): Promise<void> {
    const { store, log } = this.#deps;
    try {
      await store.runs.noteFetched(run.id, { result: { status: 'ok' }, variables });
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'fetched variables not stored');
    }
  }

  /** Notes a failed fetch in the run. Never rejects. */
  async #noteFailure(run: Run, error: unknown): Promise<void> {
    const { store, log } = this.#deps;
    log.warn({ err: error, runId: run.id }, 'pre-call fetch returned no variables');
    const known = error instanceof GatewayError ? error : failed('the server was not reached');
    const { code, message } = known;
    try {
      const result = { status: 'failed', code, message } as const;
      const current = await store.runs.noteFetched(run.id, { result, variables: {} });
      // The log of a completed run is closed, and that of an adopted call is another process's.
      if (current === undefined || current.state === 'completed' || !current.isOwn) return;
      await this.#logFault(run, known);
    } catch (failure) {
      log.error({ err: failure, runId: run.id }, 'failed fetch not noted');
    }
  }

  /** Never rejects. */
  async #logFault(run: Run, { code, message }: { code: string; message: string }): Promise<void> {
    const { events, log } = this.#deps;
    try {
      const runLog = await events.open(run.id);
      runLog.append({ type: 'fault', code, message, fatal: false }, 0);
    } catch (failure) {
      log.error({ err: failure, runId: run.id }, 'event not noted');
    }
  }
}

const storedFetch = z.discriminatedUnion('status', [
  z.object({ status: z.literal('ok') }),
  z.object({ status: z.literal('failed'), code: z.string(), message: z.string() }),
]) satisfies z.ZodType<PreCallResult>;

/** The stored result of the run's request; undefined if there is none yet. */
function storedResult({ logs }: Run): PreCallResult | undefined {
  return storedFetch.safeParse(logs[PRE_CALL_KEY]).data;
}

/** Calls `use` with the call's initial context: at once if nothing is fetched, else some time after `onWait`. */
export function onceFetched(
  { run, preCall }: { run: Run; preCall: PreCallFetch | undefined },
  use: (initialContext: Record<string, unknown>) => void,
  onWait?: () => void,
): void {
  if (preCall === undefined) {
    use(run.initialContext);
    return;
  }
  onWait?.();
  preCall.context.then(use).catch(preCall.onBroken);
}

/** Body of the request. The event has one name for both directions. */
function questionOf({ workflowId, initialContext }: Run): object {
  return {
    event: 'call_inbound',
    call_inbound: {
      agent_id: Number(workflowId),
      from_number: initialContext['caller_number'] ?? '',
      to_number: initialContext['called_number'] ?? '',
    },
  };
}

/** The fetched variables: of their possible places in the answer, the first one with an object counts. */
export function variablesIn(answer: Record<string, unknown>): Record<string, unknown> {
  const { call_inbound: inner } = answer;
  for (const place of isObject(inner) ? [inner, answer] : [answer]) {
    for (const name of ['initial_context', 'dynamic_variables']) {
      const variables = place[name];
      if (isObject(variables)) return withoutReserved(variables);
    }
  }
  return {};
}

function failed(reason: string): GatewayError {
  return new GatewayError('PRE_CALL_FETCH_FAILED', { reason });
}
