// A fake call service: records its requests and returns prepared answers.

import type { CallService } from '../../../src/call/call-service.ts';
import type { StartCall, StartedCall, TestCall } from '../../../src/call/start/setup/call-start.ts';
import type { StartedWebCall, WebCall } from '../../../src/call/start/setup/web-call.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { Run } from '../../../src/model/run.ts';
import type { ProviderRequest, WebhookReply } from '../../../src/telephony/provider/provider.ts';

interface Taken {
  what: 'inbound' | 'answer' | 'resume' | 'wait' | 'event' | 'account-event';
  /** The workflow of the deprecated inbound route, else the run. */
  id: string | null;
  provider: string | null;
  request: ProviderRequest;
}

export class FakeCallService implements CallService {
  readonly started: (StartCall | TestCall)[] = [];
  readonly startedWeb: WebCall[] = [];
  readonly taken: Taken[] = [];
  /** Thrown by everything instead of an answer. */
  refusal: GatewayError | undefined;
  reply: WebhookReply = { status: 200, contentType: 'text/xml', body: '<Response/>' };
  activeCalls = 0;
  /** Starts wait for it. */
  untilStarted: Promise<void> = Promise.resolve();
  #held: Promise<void> = Promise.resolve();
  #release: () => void = () => undefined;
  #arrived: () => void = () => undefined;
  #arrival: Promise<void> = Promise.resolve();

  /** Webhooks wait until `release`. */
  hold(): void {
    this.#held = new Promise((resolve) => {
      this.#release = resolve;
    });
    this.#arrival = new Promise((resolve) => {
      this.#arrived = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  /** Settles once a webhook waits. */
  asked(): Promise<void> {
    return this.#arrival;
  }

  start(request: StartCall): Promise<StartedCall> {
    return this.#begin(request);
  }

  startTest(request: TestCall): Promise<StartedCall> {
    return this.#begin(request);
  }

  async startWeb(request: WebCall): Promise<StartedWebCall> {
    this.startedWeb.push(request);
    return { ...(await this.#answer()), token: '7.1.1.gw1.1-token' };
  }

  async #begin(request: StartCall | TestCall): Promise<StartedCall> {
    this.started.push(request);
    return this.#answer();
  }

  async #answer(): Promise<StartedCall> {
    if (this.refusal !== undefined) throw this.refusal;
    await this.untilStarted;
    return { runId: '42', runName: 'WR-API-4821' };
  }

  readonly hungUp: string[] = [];
  /** What a hang-up leaves; undefined: there is no such run. */
  run: Run | undefined;

  hangUp({ runId }: { organizationId: string; runId: string }): Promise<Run> {
    this.hungUp.push(runId);
    if (this.refusal !== undefined) return Promise.reject(this.refusal);
    if (this.run === undefined) return Promise.reject(new GatewayError('RUN_NOT_FOUND'));
    return Promise.resolve(this.run);
  }

  readonly pressed: { runId: string; digits: string }[] = [];

  sendDigits({ runId, digits }: { runId: string; digits: string }): Promise<void> {
    this.pressed.push({ runId, digits });
    return this.refusal === undefined ? Promise.resolve() : Promise.reject(this.refusal);
  }

  inbound(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    return this.#take({ what: 'inbound', id: workflowId, provider: null, request });
  }

  answer(provider: string, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#take({ what: 'answer', id: runId, provider, request });
  }

  resume(provider: string, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#take({ what: 'resume', id: runId, provider, request });
  }

  wait(provider: string, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#take({ what: 'wait', id: runId, provider, request });
  }

  event(provider: string, runId: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#take({ what: 'event', id: runId, provider, request });
  }

  accountEvent(provider: string, request: ProviderRequest): Promise<WebhookReply> {
    return this.#take({ what: 'account-event', id: null, provider, request });
  }

  async #take(taken: Taken): Promise<WebhookReply> {
    this.taken.push(taken);
    this.#arrived();
    await this.#held;
    if (this.refusal !== undefined) throw this.refusal;
    return this.reply;
  }
}
