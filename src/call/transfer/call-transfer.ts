// Transfers the caller of one phone call: at once (cold), or after an announcement to the destination (warm). The
// provider carries it out; this file reports the result.

import { codeOf, GatewayError } from '../../errors/gateway-error.ts';
import type { CallEventBody } from '../../model/call-event.ts';
import type { TransferFailure } from '../../model/engine-input.ts';
import { POST_DIAL_MAX, postDialMs, splitDestination } from '../../model/post-dial-digits.ts';
import { newTransferId } from '../../model/transfer-id.ts';
import type { CallAudio } from '../../pipeline/call-audio.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { Random } from '../../std/random.ts';
import type { WarmTransfer } from '../../telephony/provider/pbx.ts';
import { dialledAddress, normalizeAddress } from '../../telephony/provider/phone-address.ts';
import { isHosted, type TelephonyProvider } from '../../telephony/provider/provider.ts';
import { connectivityOf } from '../../telephony/registry/configuration.ts';
import type { TransferAnnouncement } from '../../workflow/tools/tool-type.ts';
import {
  failedTransfer,
  type TransferAction,
  type TransferEvent,
} from '../session/dialogue/tool-runner.ts';
import type { CallPlan } from '../start/setup/call-plan.ts';
import { callbackUrls, transferUrls } from '../start/setup/callback-urls.ts';
import { type LegTransferDeps, type TransferLegs, transferByLeg } from './transfer-leg.ts';
import {
  consultationMsMax,
  consultTransferTarget,
  type WarmTransferDeps,
} from './warm-transfer.ts';

/** Deadline of a transfer. A provider answers within a second; the caller waits in silence meanwhile. */
const TRANSFER_MS = 8_000;
/** Time in addition to the destination's ring time, where the provider waits for the answer. */
const TRANSFER_RUNG_MS = 5_000;

export interface CallTransferOptions
  extends Pick<LegTransferDeps, 'hangUps' | 'callerGone' | 'clock' | 'log'> {
  plan: Pick<CallPlan, 'run' | 'provider' | 'configuration'>;
  /** Destinations of warm transfers that the provider does not carry out by itself. */
  transferLegs: TransferLegs;
  random: Random;
  /** The provider's id of the call, if known. */
  callId: () => string | null;
  /** The caller's audio. */
  audio: () => Pick<CallAudio, 'away'> | undefined;
  note(body: CallEventBody): void;
  /** The public URL without a trailing slash. */
  publicUrl: string;
  /** Dependencies of the announcement to the destination of a warm transfer. */
  consultation: Omit<WarmTransferDeps, 'clock' | 'log'>;
}

export class CallTransfer {
  readonly #options: CallTransferOptions;

  constructor(options: CallTransferOptions) {
    this.#options = options;
  }

  /** Transfers the caller. Never rejects. */
  async transfer(action: TransferAction, signal: AbortSignal): Promise<TransferEvent> {
    const { plan, clock, log } = this.#options;
    const { toolRunId } = action;
    const deadline = deadlineSignal(
      clock,
      transferMsMax(plan.provider, action),
      'transfer',
      signal,
    );
    try {
      await this.#handOver(action, deadline.signal);
      return { type: 'transferred', toolRunId };
    } catch (error) {
      if (!signal.aborted) log.warn({ err: error }, 'transfer failed');
      return failedTransfer(toolRunId, transferFailureOf(error));
    } finally {
      deadline.done();
    }
  }

  async #handOver(action: TransferAction, signal: AbortSignal): Promise<void> {
    const { to, announcement } = action;
    const { run, provider, configuration } = this.#options.plan;
    const callId = this.#options.callId();
    const { transfer: ways } = provider.capabilities;
    if (callId === null || !ways.includes('cold')) {
      throw new GatewayError('TRANSFER_UNSUPPORTED', { provider: provider.name });
    }
    if (announcement?.isRequired === true && !ways.includes('warm')) {
      throw new GatewayError('TRANSFER_WARM_UNSUPPORTED', { provider: provider.name });
    }
    const own = run.callType === 'outbound' ? 'caller_number' : 'called_number';
    const ownNumber = String(run.initialContext[own] ?? '');
    const { address: written, digits } = splitDestination(to);
    const address = destination(written, provider, ownNumber);
    const callerId = callerIdOf(provider, ownNumber);
    const isWarm = announcement !== undefined && ways.includes('warm');
    const { asTones, byProvider } = keysFor(provider, { digits, isWarm });
    const warm = isWarm ? this.#warm(announcement, asTones) : undefined;
    const ringS = Math.max(action.ringS, announcement?.queueS ?? 0);
    const { publicUrl, random } = this.#options;
    const { transferUrl: documentUrl } = callbackUrls(publicUrl, provider, run.id);
    const { resultUrl } = transferUrls(publicUrl, provider, newTransferId(run.id, 'cold', random));
    const { join } = provider.control;
    if (warm !== undefined && join !== undefined) {
      const known = { callId, to: provider.formatAddress(address), from: callerId, ringS };
      const isQueue = announcement?.queueS !== undefined;
      const wanted = { ...known, digits: byProvider, isQueue, warm };
      await transferByLeg(this.#legDeps(), wanted, signal);
      return;
    }
    const known = { to: provider.formatAddress(address), callerId, ringS };
    const keys = byProvider === '' ? {} : { digits: byProvider };
    const target = { ...known, ...keys, documentUrl, resultUrl, warm };
    await provider.control.transfer(configuration.credentials, callId, target, signal);
  }

  #legDeps(): LegTransferDeps {
    const { transferLegs: legs, audio, note } = this.#options;
    return {
      ...this.#options,
      legs,
      onWait: (sound) => audio()?.away(sound),
      onJoined: ({ id: transferId, callId = '' }) => {
        const facts = { transferId, callId, providerStatus: 'joined', durationS: null };
        note({ type: 'transfer.result', outcome: 'joined', ...facts });
      },
    };
  }

  /** `digits`: keys that are pressed before, as tones. */
  #warm(announcement: TransferAnnouncement, digits: string): WarmTransfer {
    const { clock, log, consultation } = this.#options;
    return {
      callerHears: announcement.callerHears,
      consult: async (media, signal) => {
        await consultTransferTarget(
          { ...consultation, clock, log },
          { announcement, media, digits },
          signal,
        );
      },
    };
  }
}

/** Who presses the keys at the destination: we, as tones before the announcement, or the provider. Throws
 *  TRANSFER_DESTINATION, TRANSFER_DIGITS_UNSUPPORTED. */
function keysFor(
  { name, capabilities, control }: TelephonyProvider,
  { digits, isWarm }: { digits: string; isWarm: boolean },
): { asTones: string; byProvider: string } {
  if (digits.length > POST_DIAL_MAX) throw new GatewayError('TRANSFER_DESTINATION');
  const isByLeg = isWarm && control.join !== undefined;
  if (isByLeg && capabilities.digitsOut === 'tones') return { asTones: digits, byProvider: '' };
  if (digits !== '' && !isByLeg && capabilities.transferDigits !== true)
    throw new GatewayError('TRANSFER_DIGITS_UNSUPPORTED', { provider: name });
  return { asTones: '', byProvider: digits };
}

/** The destination in the form of a dial. Throws TRANSFER_DESTINATION. */
function destination(written: string, { name }: TelephonyProvider, ownNumber: string): string {
  const callerId = normalizeAddress(ownNumber, null)?.normalized ?? null;
  const hasExtensions = connectivityOf(name) === 'sip';
  const address = dialledAddress(written, { hasExtensions, callerId });
  if ('reason' in address) throw new GatewayError('TRANSFER_DESTINATION');
  return address.to;
}

/** The caller id in the form of a dial. A PBX gets the number as the PBX wrote it, such as an extension. */
function callerIdOf(provider: TelephonyProvider, own: string): string {
  if (!isHosted(provider)) return own;
  return provider.formatAddress(normalizeAddress(own, null)?.normalized ?? own);
}

function transferMsMax(
  { capabilities }: TelephonyProvider,
  { to, ringS, announcement }: TransferAction,
): number {
  const isWarm = announcement !== undefined && capabilities.transfer.includes('warm');
  const isAwaited = capabilities.transferAwaits === 'answer' || isWarm;
  if (!isAwaited) return TRANSFER_MS;
  const spokenMs = isWarm ? consultationMsMax(announcement) : 0;
  const rungMs = Math.max(ringS, announcement?.queueS ?? 0) * 1_000;
  return rungMs + TRANSFER_RUNG_MS + spokenMs + postDialMs(splitDestination(to).digits);
}

function transferFailureOf(error: unknown): TransferFailure {
  const code = codeOf(error);
  if (code === 'TRANSFER_UNSUPPORTED') return 'provider_does_not_support_transfer';
  if (code === 'TRANSFER_WARM_UNSUPPORTED') return 'provider_does_not_support_warm_transfer';
  if (code === 'TRANSFER_DIGITS_UNSUPPORTED') return 'provider_does_not_support_digits';
  if (code === 'TRANSFER_QUEUE') return 'queue_timeout';
  if (code === 'TRANSFER_DECLINED') return 'declined';
  if (code === 'TRANSFER_DESTINATION') return 'no_destination';
  if (code === 'TRANSFER_BUSY') return 'busy';
  if (code === 'TRANSFER_NO_ANSWER') return 'no_answer';
  if (code === 'TRANSFER_MACHINE') return 'answering_machine';
  if (code === 'TRANSFER_FAILED') return 'call_failed';
  if (code === 'TIMED_OUT' || code === 'PROVIDER_TIMEOUT') return 'timeout';
  return code?.startsWith('PROVIDER_') === true ? 'provider_error' : 'execution_error';
}
