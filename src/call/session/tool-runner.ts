// What the tools of one call do outside of it: requests to other systems, and handing the caller over.
// Each is reported exactly once, unless it was stopped or the call is over. It decides nothing.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { toolSeconds } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { WarmTransfer } from '../../telephony/provider/pbx.ts';
import { normalizeAddress } from '../../telephony/provider/phone-address.ts';
import type { TelephonyProvider } from '../../telephony/provider/provider.ts';
import type {
  DialogueAction,
  DialogueEvent,
  TransferFailure,
  UntimedEvent,
} from '../../workflow/engine/dialogue-events.ts';
import type { TransferAnnouncement } from '../../workflow/tools/tool-type.ts';
import { sendToolRequest, type ToolRequestDeps } from '../http/tool-request.ts';
import type { CallPlan } from '../setup/call-plan.ts';
import {
  consultationMsMax,
  consultTransferTarget,
  type WarmTransferDeps,
} from './warm-transfer.ts';

/** The provider answers within a second, or the caller hears nothing for too long. */
const TRANSFER_MS = 8_000;
/** Beyond the time for which the destination rings, where the provider waits for it. */
const TRANSFER_RUNG_MS = 5_000;

type Act<T extends DialogueAction['type']> = Extract<DialogueAction, { type: T }>;
type ToolEvent = Extract<
  DialogueEvent,
  { type: 'called-out' | 'call-out-failed' | 'transferred' | 'transfer-failed' }
>;

interface ToolCall {
  /** Without a provider the conversation is in writing, and nobody can be handed over. */
  plan: Pick<CallPlan, 'run'> & Partial<Pick<CallPlan, 'provider' | 'configuration'>>;
  clock: Clock;
  log: Log;
  /** Ends with the call. */
  callSignal: AbortSignal;
  /** The provider's id of the call, as far as it is known. */
  callId: () => string | null;
  onEvent(event: UntimedEvent<ToolEvent>): void;
  /** Our own fault: the call cannot go on. */
  onBroken(error: unknown): void;
  /** For speaking to whoever a caller is brought to. Undefined in writing. */
  consultation?: Omit<WarmTransferDeps, 'clock' | 'log'> | undefined;
}

export class ToolRunner {
  readonly #deps: Omit<ToolRequestDeps, 'clock'>;
  readonly #call: ToolCall;
  readonly #running = new Map<number, AbortController>();

  constructor(deps: Omit<ToolRequestDeps, 'clock'>, call: ToolCall) {
    this.#deps = deps;
    this.#call = call;
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
        this.#run(action.toolRunId, 'transfer', (signal) => this.#transfer(action, signal));
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
    const { clock, log, callSignal, onEvent, onBroken } = this.#call;
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
    const { plan, clock, log } = this.#call;
    const { organizationId } = plan.run;
    try {
      const deps = { ...this.#deps, clock };
      const { status, data } = await sendToolRequest(deps, { organizationId, request }, signal);
      return { type: 'called-out', toolRunId, status, data };
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'tool request failed');
      const isLate = codeOf(error) === 'TIMED_OUT';
      return { type: 'call-out-failed', toolRunId, isLate, error: wordsOf(error) };
    }
  }

  async #transfer(action: Act<'transfer'>, signal: AbortSignal): Promise<UntimedEvent<ToolEvent>> {
    const { plan, clock, log } = this.#call;
    const { toolRunId } = action;
    const { run, provider, configuration } = plan;
    if (provider === undefined || configuration === undefined) {
      return failedTransfer(toolRunId, 'textchat_not_supported');
    }
    const deadline = deadlineSignal(clock, transferMsMax(provider, action), 'transfer', signal);
    try {
      const line = { run, provider, configuration };
      await this.#handOver(line, action, deadline.signal);
      return { type: 'transferred', toolRunId };
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'transfer failed');
      return failedTransfer(toolRunId, transferFailureOf(error));
    } finally {
      deadline.done();
    }
  }

  async #handOver(
    { run, provider, configuration }: Pick<CallPlan, 'run' | 'provider' | 'configuration'>,
    { to, ringS, announcement }: Act<'transfer'>,
    signal: AbortSignal,
  ): Promise<void> {
    const callId = this.#call.callId();
    const { transfer: ways } = provider.capabilities;
    if (callId === null || !ways.includes('cold')) {
      throw new GatewayError('TRANSFER_UNSUPPORTED', { provider: provider.name });
    }
    if (announcement !== undefined && !ways.includes('warm')) {
      throw new GatewayError('TRANSFER_WARM_UNSUPPORTED', { provider: provider.name });
    }
    const address = normalizeAddress(to, null);
    if (address === undefined) throw new GatewayError('TRANSFER_DESTINATION');
    const own = run.callType === 'outbound' ? 'caller_number' : 'called_number';
    const callerId = String(run.initialContext[own] ?? '');
    const warm = announcement && this.#warm(announcement);
    const target = { to: provider.formatAddress(address.normalized), callerId, ringS, warm };
    await provider.control.transfer(configuration.credentials, callId, target, signal);
  }

  #warm(announcement: TransferAnnouncement): WarmTransfer {
    const { clock, log, consultation } = this.#call;
    return {
      callerHears: announcement.callerHears,
      consult: async (media, signal) => {
        if (consultation === undefined) throw new Error('there is nothing to speak with');
        await consultTransferTarget(
          { ...consultation, clock, log },
          { announcement, media },
          signal,
        );
      },
    };
  }
}

function transferMsMax(
  { capabilities }: TelephonyProvider,
  { ringS, announcement }: Act<'transfer'>,
): number {
  if (capabilities.transferAwaits === 'acceptance') return TRANSFER_MS;
  const spokenMs = announcement === undefined ? 0 : consultationMsMax(announcement);
  return ringS * 1_000 + TRANSFER_RUNG_MS + spokenMs;
}

function failedTransfer(toolRunId: number, reason: TransferFailure): UntimedEvent<ToolEvent> {
  return { type: 'transfer-failed', toolRunId, reason, message: failureWords(reason) };
}

/** For the model, which may repeat it to the caller. */
function failureWords(reason: TransferFailure): string {
  switch (reason) {
    case 'no_destination':
      return 'The destination is no telephone number and no SIP address.';
    case 'provider_does_not_support_transfer':
      return 'Calls over this line cannot be transferred.';
    case 'provider_does_not_support_warm_transfer':
      return 'Over this line nobody can be spoken to before a call is transferred to them.';
    case 'declined':
      return 'Somebody answered at the destination, but did not take the call.';
    case 'provider_error':
      return 'The telephone provider refused the transfer.';
    case 'busy':
      return 'The destination is busy.';
    case 'no_answer':
      return 'Nobody answers at the destination.';
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

function transferFailureOf(error: unknown): TransferFailure {
  const code = codeOf(error);
  if (code === 'TRANSFER_UNSUPPORTED') return 'provider_does_not_support_transfer';
  if (code === 'TRANSFER_WARM_UNSUPPORTED') return 'provider_does_not_support_warm_transfer';
  if (code === 'TRANSFER_DECLINED') return 'declined';
  if (code === 'TRANSFER_DESTINATION') return 'no_destination';
  if (code === 'TRANSFER_BUSY') return 'busy';
  if (code === 'TRANSFER_NO_ANSWER') return 'no_answer';
  if (code === 'TRANSFER_FAILED') return 'call_failed';
  if (code === 'TIMED_OUT' || code === 'PROVIDER_TIMEOUT') return 'timeout';
  return code?.startsWith('PROVIDER_') === true ? 'provider_error' : 'execution_error';
}

function resultOf(event: UntimedEvent<ToolEvent>): string {
  if (event.type === 'called-out') return event.status < 400 ? 'ok' : 'refused';
  if (event.type === 'transferred') return 'ok';
  if (event.type === 'transfer-failed') return event.reason;
  return event.isLate ? 'timeout' : 'failed';
}

/** For the model too. */
function wordsOf(error: unknown): string {
  if (codeOf(error) === 'TIMED_OUT') return 'The server did not answer in time.';
  return error instanceof GatewayError ? error.message : 'The request failed.';
}
