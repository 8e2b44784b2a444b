// Fetches variables from an organization's server while the phone rings. The call waits for them before its first
// word, and goes on without them if none come. Source: contract §8.1.

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
import type { Store } from '../../../store/store.ts';
import { preCallRequestOf } from '../../../workflow/graph/pre-call-request.ts';
import type { PreCallRequest } from '../../../workflow/nodes/node-type.ts';
import type { EventLog } from '../../events/event-log.ts';
import type { OrganizationHttp } from '../../session/dialogue/tool-request.ts';
import { withoutReserved } from './call-context.ts';

const FETCH_MS = 10_000;

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

  /** Starts the fetch. Undefined if the agent has no pre-call request. */
  start(run: Run, definition: WorkflowDefinition): PreCallFetch | undefined {
    const request = preCallRequestOf(definition, run.callType);
    if (request === undefined) return undefined;
    const onBroken = (error: unknown): void => {
      this.#deps.log.error({ err: error, runId: run.id }, 'work after the pre-call fetch failed');
    };
    return { context: this.#fetchContext(run, request), onBroken };
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
      await store.runs.patch(run.id, { initialContext: variables });
    } catch (error) {
      log.error({ err: error, runId: run.id }, 'fetched variables not stored');
    }
  }

  /** Notes a failed fetch in the run. Never rejects. */
  async #noteFailure(run: Run, error: unknown): Promise<void> {
    const { store, events, log } = this.#deps;
    log.warn({ err: error, runId: run.id }, 'pre-call fetch returned no variables');
    const known = error instanceof GatewayError ? error : failed('the server was not reached');
    const { code, message } = known;
    try {
      const current = await store.runs.find(run.id);
      if (current === undefined || current.state === 'completed') return; // Its log is closed.
      const runLog = await events.open(run.id);
      runLog.append({ type: 'fault', code, message, fatal: false }, 0);
    } catch (failure) {
      log.error({ err: failure, runId: run.id }, 'event not noted');
    }
  }
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
