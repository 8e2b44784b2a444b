// Call service that also serves examination calls: passes their webhooks to them, and everything else to the service of
// runs.

import type { ProviderName } from '../../model/provider.ts';
import type { ProviderRequest, WebhookReply } from '../../telephony/provider/provider.ts';
import type { CallService } from '../call-service.ts';
import type { StartCall, StartedCall, TestCall } from '../start/setup/call-start.ts';
import type { StartedWebCall, WebCall } from '../start/setup/web-call.ts';
import type { ExaminationCalls } from './examination-calls.ts';

export class ExaminedCalls implements CallService {
  readonly #calls: CallService;
  readonly #examinations: Pick<ExaminationCalls, 'ofRun' | 'ofEvent'>;

  constructor(calls: CallService, examinations: Pick<ExaminationCalls, 'ofRun' | 'ofEvent'>) {
    this.#calls = calls;
    this.#examinations = examinations;
  }

  get activeCalls(): number {
    return this.#calls.activeCalls;
  }

  start(request: StartCall): Promise<StartedCall> {
    return this.#calls.start(request);
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#calls.startTest(request);
  }

  startWeb(request: WebCall): Promise<StartedWebCall> {
    return this.#calls.startWeb(request);
  }

  hangUp(wanted: Parameters<CallService['hangUp']>[0]): ReturnType<CallService['hangUp']> {
    return this.#calls.hangUp(wanted);
  }

  sendDigits(wanted: Parameters<CallService['sendDigits']>[0]): Promise<void> {
    return this.#calls.sendDigits(wanted);
  }

  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    return this.#calls.inbound(request, workflowId);
  }

  answer(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const call = this.#examinations.ofRun(name, runId);
    return call?.answer(request) ?? this.#calls.answer(name, runId, request);
  }

  /** An examination ends with its media: its documents do not ask. */
  resume(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#calls.resume(name, runId, request);
  }

  /** An examination takes no place. */
  wait(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#calls.wait(name, runId, request);
  }

  event(name: ProviderName, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    const call = this.#examinations.ofRun(name, runId);
    return call?.event(request) ?? this.#calls.event(name, runId, request);
  }

  async accountEvent(name: ProviderName, request: ProviderRequest): Promise<WebhookReply> {
    const call = this.#examinations.ofEvent(name, request);
    if (call === undefined) return this.#calls.accountEvent(name, request);
    if (call.isProven(request)) return call.event(request);
    // A call's id proves nothing: a configuration with an API address of its own dials calls with any id.
    const [taken] = await Promise.allSettled([this.#calls.accountEvent(name, request)]);
    if (taken.status === 'fulfilled' && !call.isReport(request)) return taken.value;
    const noted = call.event(request);
    if (taken.status === 'fulfilled') return noted;
    await noted.catch(() => undefined); // The capture has it; the service's refusal is the answer.
    throw taken.reason;
  }
}
