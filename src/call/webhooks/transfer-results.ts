// Handles a provider's reports about the destination of a transfer: its progress goes into the run's events, once, in
// any order and number of deliveries, and to the transfer if this process carries it out. Source: contract §7.1.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { webhooks } from '../../metrics/metrics.ts';
import { type TransferOutcome, transferOutcome } from '../../model/call-event.ts';
import { type CallStatus, isTerminal, type ProviderName } from '../../model/provider.ts';
import { isWarmTransfer, runOfId } from '../../model/transfer-id.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Store } from '../../store/store.ts';
import type {
  ProviderEvent,
  ProviderRequest,
  WebhookReply,
} from '../../telephony/provider/provider.ts';
import { DIALLED } from '../end/closing/cut-off-call.ts';
import type { ProviderHangUp } from '../end/closing/provider-hang-up.ts';
import type { EventLog, RunLog } from '../events/event-log.ts';
import { stamp } from '../events/transcript.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { CallConfirmation, ProviderCall } from '../start/call-confirmation.ts';
import type { ProviderEvents } from './provider-event.ts';

/** Pause before each check whether the run of an accepted transfer is closed. Extraction and the close of the
 *  services come before that, ten seconds in all at most. */
const CLOSED_MS = 5_000;
/** Checks at most; a database that is unavailable for a moment counts as a failed check. */
const LOOKS_MAX = 6;
/** Deadline of the command that presses keys. */
const PRESS_MS_MAX = 5_000;
/** Characters of a provider's status that are stored. */
const WORD_MAX = 100;

/** Progress of the destination's leg. */
export interface TransferProgress {
  outcome: TransferOutcome;
  /** The provider's id of the destination's leg. */
  callId: string;
  providerStatus: string;
  durationS: number | null;
  /** Keys that a command presses at the destination. */
  digits?: string | undefined;
}

/** A transfer that this process carries out. */
export interface FollowedTransfer {
  /** The id of the destination's leg, once the provider has given it. */
  readonly callId: string | undefined;
  onProgress(progress: TransferProgress): void;
  /** Connects the destination, which has answered, with our media. Never rejects. */
  connect(callId: string): Promise<WebhookReply>;
}

export interface TransferRequest {
  name: ProviderName;
  transferId: string;
  request: ProviderRequest;
}

/** A forward step of a transfer in the run's log. */
interface Step {
  isJoined: boolean;
}

export interface TransferResultsDeps {
  store: Pick<Store, 'runs'>;
  events: EventLog;
  registry: CallRegistry;
  hangUps: ProviderHangUp;
  providerEvents: Pick<ProviderEvents, 'verify'>;
  confirmation: CallConfirmation;
  clock: Clock;
  log: Log;
}

export class TransferResults {
  readonly #deps: TransferResultsDeps;
  /** Transfers that this process carries out, at most one for each call. */
  readonly #followed = new Map<string, FollowedTransfer>();

  constructor(deps: TransferResultsDeps) {
    this.#deps = deps;
  }

  /** Follows a transfer until the returned function is called. */
  follow(transferId: string, transfer: FollowedTransfer): () => void {
    this.#followed.set(transferId, transfer);
    return () => this.#followed.delete(transferId);
  }

  /** Stores the id of the destination's call, by which crash recovery hangs it up. Never rejects. */
  async noteDialled(runId: string, transferId: string, callId: string): Promise<void> {
    const { store, clock, log } = this.#deps;
    try {
      await store.runs.appendCallback(runId, `transfer:${transferId}:dialled`, {
        status: DIALLED,
        timestamp: stamp(clock.now()),
        call_id: callId,
        transfer_id: transferId,
      });
    } catch (error) {
      log.warn({ err: error, runId }, "id of a destination's call not stored");
    }
  }

  /** Handles a report. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED, and PROVIDER_* where the provider must be asked. */
  async take(sent: TransferRequest): Promise<WebhookReply> {
    const { name, transferId, request } = sent;
    const call = await this.#callOf(sent);
    if (call === undefined) {
      webhooks.inc({ provider: name, result: 'unknown_run' });
      return json({ status: 'ignored', reason: 'unknown_run' });
    }
    const progress = await this.#progressOf(call, transferId, request);
    webhooks.inc({ provider: name, result: 'taken' });
    if (progress === undefined) return json({ status: 'pending' });
    await this.#note(call, transferId, progress);
    const { outcome, callId } = progress;
    const followed = this.#followed.get(transferId);
    if (outcome === 'answered' && progress.digits !== undefined)
      await this.#press(call, { transferId, legId: callId, digits: progress.digits });
    const isCommand = call.provider.capabilities.answerStyle === 'command';
    if (followed !== undefined && outcome === 'answered' && isCommand) {
      return followed.connect(callId);
    }
    return json(resultOf(outcome));
  }

  /** Presses the keys of a transfer at its destination, once. Never rejects. */
  async #press(
    { run, provider, configuration }: ProviderCall,
    { transferId, legId, digits }: { transferId: string; legId: string; digits: string },
  ): Promise<void> {
    const { store, clock, log } = this.#deps;
    const { signal, done } = deadlineSignal(clock, PRESS_MS_MAX, 'press keys');
    try {
      const key = `transfer:${transferId}:digits`;
      const entry = { status: 'transfer-digits', timestamp: stamp(clock.now()), call_id: legId };
      if (!(await store.runs.appendCallback(run.id, key, entry))) return;
      await provider.control.sendDigits?.(configuration.credentials, legId, digits, signal);
    } catch (error) {
      log.warn({ err: error, runId: run.id }, 'keys not pressed at the destination of a transfer');
    } finally {
      done();
    }
  }

  /** Answers the answer URL of the destination's call. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED, RUN_NOT_FOUND. */
  async answer(sent: TransferRequest): Promise<WebhookReply> {
    const { transferId, request } = sent;
    const call = await this.#callOf(sent);
    if (call === undefined) throw new GatewayError('RUN_NOT_FOUND');
    const event = call.provider.webhook.parse(request);
    if (!('callId' in event)) throw new GatewayError('WEBHOOK_MALFORMED');
    const { callId } = event;
    const followed = this.#followed.get(transferId);
    // The caller has hung up, or the call's process is gone.
    if (followed === undefined) return call.provider.webhook.reject('error', null).reply;
    const progress = { callId, providerStatus: 'answered', durationS: null };
    await this.#note(call, transferId, { outcome: 'answered', ...progress });
    return followed.connect(callId);
  }

  #callOf({ name, transferId, request }: TransferRequest): Promise<ProviderCall | undefined> {
    return this.#deps.providerEvents.verify(name, runOfId(transferId), request);
  }

  /** Notes progress; a repeated report has no effect. */
  async #note(call: ProviderCall, transferId: string, progress: TransferProgress): Promise<void> {
    const { run } = call;
    const { outcome, callId } = progress;
    const followed = this.#followed.get(transferId);
    followed?.onProgress(progress);
    await this.#deps.store.runs.appendCallback(run.id, `transfer:${transferId}:${outcome}`, {
      status: `transfer-${outcome}`,
      timestamp: stamp(this.#deps.clock.now()),
      call_id: callId,
      transfer_id: transferId,
    });
    const step = await this.#append(call, transferId, progress);
    if (followed !== undefined) return;
    if (!isWarmTransfer(transferId)) await this.#endStranded(call, outcome, LOOKS_MAX);
    else if (step !== undefined) await this.#endLeft(call, progress, step);
  }

  /** Hangs up the call that is left: the other one of two joined calls, or a destination whose caller has left.
   *  Never rejects. */
  async #endLeft(
    call: ProviderCall,
    progress: TransferProgress,
    { isJoined }: Step,
  ): Promise<void> {
    const { run } = call;
    const { callId: legId, outcome } = progress;
    if (isJoined && isFinal(outcome) && run.providerCallId !== null) {
      await this.#deps.hangUps.attempt(call, run.providerCallId, run.id);
    } else if (!isJoined && !isFinal(outcome)) {
      await this.#deps.hangUps.attempt(call, legId, run.id);
    }
  }

  /** The destination's progress; undefined if the report is not progress, or is not confirmed. */
  async #progressOf(
    call: ProviderCall,
    transferId: string,
    request: ProviderRequest,
  ): Promise<TransferProgress | undefined> {
    const { run, provider } = call;
    const event = provider.webhook.parse(request);
    const isProven = provider.capabilities.webhookProof === 'full';
    if (event.kind === 'answered-by') {
      if (!event.machine || !isProven) return undefined;
      const { callId, answeredBy: providerStatus } = event;
      return { outcome: 'answering-machine', callId, providerStatus, durationS: null };
    }
    if (event.kind !== 'status' && event.kind !== 'transfer-result') return undefined;
    // Reports about the caller's own call may come to the same address; they confirm nothing about the destination.
    const isOfCaller = event.callId === run.providerCallId;
    if (isOfCaller && (event.kind === 'status' || !isProven)) return undefined;
    const status = isProven ? event.status : await this.#confirmed(call, transferId, event);
    const outcome = status && outcomeOf(status);
    if (outcome === undefined) return undefined;
    const { callId, durationS } = event;
    const providerStatus = event.providerStatus.slice(0, WORD_MAX);
    const digits = event.kind === 'status' ? event.digits : undefined;
    return { outcome, callId, providerStatus, durationS, ...(digits !== undefined && { digits }) };
  }

  /** Confirms progress by the provider's state of the destination's leg. A provider may delete the leg at its end. */
  async #confirmed(
    { provider, configuration }: ProviderCall,
    transferId: string,
    { callId, status }: Extract<ProviderEvent, { kind: 'status' | 'transfer-result' }>,
  ): Promise<CallStatus | undefined> {
    const asked = { provider, configuration, callId };
    const found = await this.#deps.confirmation.look(asked);
    if (found !== undefined) return found.status;
    const isOurs = this.#followed.get(transferId)?.callId === callId;
    return isOurs && isTerminal(status) ? status : undefined;
  }

  /** Appends the progress if it is a forward step; else undefined. Another process numbers the events of a call that
   *  it holds. */
  async #append(
    { run }: ProviderCall,
    transferId: string,
    progress: TransferProgress,
  ): Promise<Step | undefined> {
    const { events, registry } = this.#deps;
    const isHeld = registry.has(run.id);
    if (!isHeld && run.state !== 'completed') return undefined;
    const runLog = await events.open(run.id);
    const before = outcomesIn(runLog, transferId);
    const last = before.at(-1);
    if (last !== undefined && !isStep(last, progress.outcome)) return undefined;
    const { digits: _, ...facts } = progress;
    const body = { type: 'transfer.result', transferId, ...facts } as const;
    const session = registry.session(run.id);
    if (session === undefined) runLog.append(body, 0);
    else session.note(body);
    if (!isHeld) {
      await events.flush();
      events.release(run.id);
    }
    return { isJoined: before.includes('joined') };
  }

  /** Hangs up a caller whose transfer failed after it had been accepted, where the provider does not end the call
   *  itself: the line would stay silent. Never rejects. */
  async #endStranded(
    { run, provider, configuration }: ProviderCall,
    outcome: TransferOutcome,
    looksLeft: number,
  ): Promise<void> {
    const { closeEndsCall, webhookProof } = provider.capabilities;
    if (closeEndsCall || webhookProof !== 'full' || !isUnanswered(outcome)) return;
    const { store, clock, hangUps, log } = this.#deps;
    const { providerCallId } = run;
    if (providerCallId === null) return;
    if (run.state === 'completed') {
      await hangUps.attempt({ provider, configuration }, providerCallId, run.id);
    } else if (looksLeft > 0) {
      clock.after(CLOSED_MS, () => {
        const read = store.runs.find(run.id).catch((error: unknown) => {
          log.warn({ err: error, runId: run.id }, 'run not read');
          return run;
        });
        void read.then((now) => {
          const call = now && { run: now, provider, configuration };
          return call && this.#endStranded(call, outcome, looksLeft - 1);
        });
      });
    }
  }
}

function outcomesIn({ events }: RunLog, transferId: string): TransferOutcome[] {
  return events.flatMap(({ body }) =>
    body.type === 'transfer.result' && body.transferId === transferId ? [body.outcome] : [],
  );
}

/** Whether the destination has not accepted the call. */
function isUnanswered(outcome: TransferOutcome): boolean {
  return ['busy', 'no-answer', 'failed', 'canceled'].includes(outcome);
}

function outcomeOf(status: CallStatus): TransferOutcome | undefined {
  if (status === 'initiated') return undefined;
  return status === 'in-progress' ? 'answered' : status;
}

function isStep(from: TransferOutcome, to: TransferOutcome): boolean {
  const { options } = transferOutcome;
  return !isFinal(from) && options.indexOf(to) > options.indexOf(from);
}

function isFinal(outcome: TransferOutcome): boolean {
  const { options } = transferOutcome;
  return options.indexOf(outcome) >= options.indexOf('busy');
}

/** Result of the transfer in the reference platform's format. */
function resultOf(outcome: TransferOutcome): Record<string, unknown> {
  if (outcome === 'ringing') return { status: 'pending' };
  const isTaken = ['answered', 'joined', 'completed'].includes(outcome);
  const reason = outcome === 'failed' || outcome === 'canceled' ? 'call_failed' : outcome;
  const result = isTaken
    ? { status: 'success', action: 'transfer_success' }
    : { status: 'transfer_failed', reason: reason.replace('-', '_'), action: 'transfer_failed' };
  return { status: 'completed', result };
}

function json(body: Record<string, unknown>): WebhookReply {
  return { status: 200, contentType: 'application/json', body: JSON.stringify(body) };
}
