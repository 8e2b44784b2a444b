// Runs the tools of one conversation: requests to other systems, and transfers of the caller, which the medium carries
// out. Each is reported exactly once, unless it was stopped or the conversation is over. Makes no decisions.

import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { toolSeconds } from '../../../metrics/metrics.ts';
import type { TransferFailure } from '../../../model/engine-input.ts';
import type { Clock } from '../../../std/clock.ts';
import type {
  DialogueAction,
  DialogueEvent,
  UntimedEvent,
} from '../../../workflow/engine/dialogue-events.ts';
import { failureOf } from '../../../workflow/tools/tool-request-builder.ts';
import { sendToolRequest, type ToolRequestDeps } from './tool-request.ts';

type Act<T extends DialogueAction['type']> = Extract<DialogueAction, { type: T }>;
type ToolEvent = Extract<
  DialogueEvent,
  { type: 'called-out' | 'call-out-failed' | 'transferred' | 'transfer-failed' }
>;
export type TransferAction = Act<'transfer'>;
export type TransferEvent = UntimedEvent<
  Extract<DialogueEvent, { type: 'transferred' | 'transfer-failed' }>
>;

export interface ToolRunnerOptions {
  organizationId: string;
  requests: Omit<ToolRequestDeps, 'clock'>;
  clock: Clock;
  log: Log;
  /** Aborted at the end of the conversation. */
  callSignal: AbortSignal;
  /** Transfers the caller. Never rejects. */
  transfer(action: TransferAction, signal: AbortSignal): Promise<TransferEvent>;
  onEvent(event: UntimedEvent<ToolEvent>): void;
  /** Called at a fault of ours: the conversation cannot go on. */
  onBroken(error: unknown): void;
}

export class ToolRunner {
  readonly #options: ToolRunnerOptions;
  readonly #running = new Map<number, AbortController>();

  constructor(options: ToolRunnerOptions) {
    this.#options = options;
  }

  get pending(): boolean {
    return this.#running.size > 0;
  }

  perform(action: Act<'call-out' | 'transfer' | 'stop-tool'>): void {
    switch (action.type) {
      case 'call-out':
        this.#run(action.toolRunId, action.tool, (signal) => this.#callOut(action, signal));
        break;
      case 'transfer':
        this.#run(action.toolRunId, 'transfer', (signal) => this.#options.transfer(action, signal));
        break;
      case 'stop-tool':
        this.#running.get(action.toolRunId)?.abort();
        this.#running.delete(action.toolRunId);
    }
  }

  #run(
    toolRunId: number,
    tool: string,
    work: (signal: AbortSignal) => Promise<UntimedEvent<ToolEvent>>,
  ): void {
    const { clock, log, callSignal, onEvent, onBroken } = this.#options;
    const controller = new AbortController();
    this.#running.set(toolRunId, controller);
    const startMs = clock.monotonicMs();
    work(AbortSignal.any([callSignal, controller.signal]))
      .then((event) => {
        const ms = clock.monotonicMs() - startMs;
        const isWanted = this.#running.delete(toolRunId) && !callSignal.aborted;
        const result = isWanted ? resultOf(event) : 'stopped';
        toolSeconds.observe({ tool, result }, ms / 1_000);
        log.info({ tool, result, ms: Math.round(ms) }, 'tool finished');
        if (isWanted) onEvent(event);
      })
      .catch(onBroken);
  }

  async #callOut(
    { toolRunId, request }: Act<'call-out'>,
    signal: AbortSignal,
  ): Promise<UntimedEvent<ToolEvent>> {
    const { clock, log, requests, organizationId } = this.#options;
    try {
      const deps = { ...requests, clock };
      const { status, data } = await sendToolRequest(deps, { organizationId, request }, signal);
      return { type: 'called-out', toolRunId, status, data };
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'tool request failed');
      const isLate = codeOf(error) === 'TIMED_OUT';
      return { type: 'call-out-failed', toolRunId, isLate, error: wordsOf(error) };
    }
  }
}

export function failedTransfer(toolRunId: number, reason: TransferFailure): TransferEvent {
  return { type: 'transfer-failed', toolRunId, reason, message: failureWords(reason) };
}

/** Reason of a failed transfer as a text for the model, which may repeat it to the caller. */
function failureWords(reason: TransferFailure): string {
  switch (reason) {
    case 'no_destination':
      return 'The destination is neither a telephone number nor a SIP address.';
    case 'provider_does_not_support_transfer':
      return 'Calls over this line cannot be transferred.';
    case 'provider_does_not_support_warm_transfer':
      return 'This line does not support an announcement to the destination before the transfer.';
    case 'declined':
      return 'The destination answered, but did not accept the call.';
    case 'provider_error':
      return 'The telephone provider refused the transfer.';
    case 'busy':
      return 'The destination is busy.';
    case 'no_answer':
      return 'The destination does not answer.';
    case 'queue_timeout':
      return 'Nobody in the queue took the call in time.';
    case 'provider_does_not_support_digits':
      return 'This line cannot press the keys of an extension at the destination.';
    case 'answering_machine':
      return 'An answering machine took the call at the destination.';
    case 'call_failed':
      return 'The destination could not be reached.';
    case 'timeout':
      return 'The telephone provider did not answer in time.';
    case 'execution_error':
      return 'The transfer failed.';
    case 'textchat_not_supported':
      return 'This conversation is in writing: there is no call to transfer.';
  }
}

function resultOf(event: UntimedEvent<ToolEvent>): string {
  if (event.type === 'called-out') return failureOf(event.status) === undefined ? 'ok' : 'refused';
  if (event.type === 'transferred') return 'ok';
  if (event.type === 'transfer-failed') return event.reason;
  return event.isLate ? 'timeout' : 'failed';
}

/** Error text for the model. */
function wordsOf(error: unknown): string {
  if (codeOf(error) === 'TIMED_OUT') return 'The server did not answer in time.';
  return error instanceof GatewayError ? error.message : 'The request failed.';
}
