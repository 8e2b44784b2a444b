// One examination call: dials a number over a hosted provider's configuration, connects it to the agent of
// examination-agent.ts, follows it to its final status, and writes a capture. It belongs to no run, and ends within
// two minutes whatever happens.

import { codeOf, type ErrorCode, GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { type CallStatus, isTerminal } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import { fail, pass, warn } from '../../telephony/provider/check.ts';
import type {
  ProviderEvent,
  ProviderRequest,
  WebhookReply,
} from '../../telephony/provider/provider.ts';
import { isUncertain } from '../../telephony/provider/rest-failure.ts';
import { SocketMediaSession } from '../../telephony/provider/socket-media-session.ts';
import { CLOSE } from '../../transport/media-socket.ts';
import type { MediaPath, TokenSubject } from '../../transport/media-token.ts';
import type { MediaTokenStore } from '../../transport/media-token-store.ts';
import type { MediaAdmission } from '../../transport/websocket/media-server.ts';
import type { CallActions } from '../start/call-actions.ts';
import { callbackUrls, mediaUrl } from '../start/setup/callback-urls.ts';
import type { WebhookVerifier } from '../webhooks/webhook-verifier.ts';
import { type CallCapture, capturedListener, capturedSocket } from './call-capture.ts';
import { dialRemedy, ExaminationSteps, failed, noteMissing } from './examination-steps.ts';
import {
  type CallAgent,
  EXAMINATION_RING_S,
  type ExaminationOrder,
  ExaminedLeg,
  ExaminedWebhooks,
} from './examined-leg.ts';
import { Moment } from './moment.ts';

/** Longest conversation; it takes about 20 s. */
const TALK_MS_MAX = 35_000;
/** Time beyond the ring time, for webhooks on their way. */
const ANSWER_MS_EXTRA = 10_000;
/** Deadline from the answer to the media socket. */
const MEDIA_MS_MAX = 12_000;
/** Wait for the status webhook after the hang-up; after it the provider is asked. */
const STATUS_MS_MAX = 6_000;
/** Wait for a webhook of a call whose dial got no clear answer. */
const DOUBT_MS_MAX = 5_000;
const TOKEN_MS = 60_000;

/** The workflow segment of an examination call's media URL. */
export const EXAMINATION_WORKFLOW = 'examination';

export interface ExaminationCallDeps {
  capture: CallCapture;
  /** The capture writes `placeholder` in place of `value` from now on. */
  addSecret: (value: string, placeholder: string) => void;
  tokens: MediaTokenStore;
  actions: CallActions;
  verifier: WebhookVerifier;
  clock: Clock;
  log: Log;
}

export class ExaminationCall {
  readonly steps: ExaminationSteps;
  /** Settles when everything is over. Never rejects. */
  readonly ended: Promise<void>;
  readonly order: ExaminationOrder;
  readonly #deps: ExaminationCallDeps;
  readonly #leg: ExaminedLeg;
  readonly #webhooks: ExaminedWebhooks;
  readonly #callId = new Moment<string>();
  readonly #answered = new Moment<true>();
  readonly #agent = new Moment<CallAgent>();
  readonly #final = new Moment<CallStatus>();
  /** Settled when the client ends the call or the provider cannot connect it. */
  readonly #cut = new Moment<true>();
  readonly #never = new Moment<never>().promise;
  #session: SocketMediaSession | undefined;
  #isConnecting = false;
  #isHungUp = false;
  #isOver = false;
  /** Code of the provider's refusal to dial. */
  dialFault: ErrorCode | undefined;

  /** Dials at once. */
  constructor(deps: ExaminationCallDeps, order: ExaminationOrder) {
    const { capture, verifier, clock } = deps;
    this.#deps = deps;
    this.order = order;
    this.#leg = new ExaminedLeg(order, clock);
    this.#webhooks = new ExaminedWebhooks({
      order,
      capture,
      verifier,
      onReport: (event) => void this.#confirm(event),
    });
    this.steps = new ExaminationSteps(clock, (step) => capture.step(step));
    this.ended = this.#run();
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** The provider's id of the call, once it is known. */
  get callId(): string | undefined {
    return this.#callId.value;
  }

  /** How the call ended; undefined before, and if nothing reported it. */
  get finalStatus(): CallStatus | undefined {
    return this.#final.value;
  }

  hangUp(): void {
    this.#cut.settle(true);
  }

  // Requests of the provider.

  /** Handles its answer URL. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED. */
  answer(request: ProviderRequest): Promise<WebhookReply> {
    return this.#take(request, async (event) => {
      if (!('callId' in event)) throw new GatewayError('WEBHOOK_MALFORMED');
      if (this.#isOver) return this.#refuse(event.callId);
      if (this.callId === event.callId) this.#follow('in-progress');
      return this.#connect(event.callId);
    });
  }

  /** Handles any other webhook. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED. */
  event(request: ProviderRequest): Promise<WebhookReply> {
    const { webhook, capabilities } = this.order.provider;
    return this.#take(request, async (event) => {
      const isAnswered = event.kind === 'status' && event.status === 'in-progress';
      if (isAnswered && this.#isOver) return this.#refuse(event.callId);
      if (isAnswered && capabilities.answerStyle === 'command') return this.#connect(event.callId);
      return webhook.acknowledge();
    });
  }

  /** Whether the request is signed by the account of this call. */
  isProven(request: ProviderRequest): boolean {
    const { provider, credentials } = this.order;
    return this.#deps.verifier.isSigned(provider, request, credentials);
  }

  /** Whether the request is a report that needs no proof: it only causes a request to the provider. */
  isReport(request: ProviderRequest): boolean {
    return this.order.provider.webhook.isReport?.(request) === true;
  }

  /** Decides about its media socket. */
  async admit(
    path: MediaPath,
    headers: Record<string, string | undefined>,
  ): Promise<MediaAdmission> {
    const { capture, tokens } = this.#deps;
    const { provider, credentials } = this.order;
    const refuse = (code: number, reason: string): MediaAdmission => {
      capture.upgrade(headers, reason);
      return { refuse: code, reason };
    };
    if (tokens.redeem(path)?.kind !== 'issued') return refuse(CLOSE.unauthorized, 'token');
    const body = { rawBody: Buffer.alloc(0), form: {}, formAll: {}, json: undefined };
    const upgrade = { ...body, method: 'GET', url: this.#mediaUrl(path.token), headers };
    if (provider.webhook.verifyUpgrade?.(upgrade, credentials) === false) {
      const advice = "Compare the secret that verifies webhooks with the provider's console.";
      this.steps.note('media', fail('The media socket came with a wrong signature.', advice));
      return refuse(CLOSE.unauthorized, 'signature');
    }
    if (this.#agent.isPast || this.#isOver) return refuse(CLOSE.notFound, 'no call waits');
    capture.upgrade(headers, 'accepted');
    return {
      accept: (socket) => {
        const { clock, log } = this.#deps;
        const protocol = provider.createMedia();
        const captured = capturedSocket(socket, capture);
        const media = new SocketMediaSession({ socket: captured, protocol, clock, log });
        this.#attach(media);
        return capturedListener(media, capture);
      },
    };
  }

  #attach(media: SocketMediaSession): void {
    const { provider, createAgent } = this.order;
    const { digitsIn, digitsOut } = provider.capabilities;
    const sendDigits = (digits: string) => this.#leg.sendDigits(this.callId ?? '', digits);
    const agent = createAgent({
      media,
      digitsIn,
      steps: this.steps,
      clock: this.#deps.clock,
      sendDigits: digitsOut === 'request' ? sendDigits : undefined,
    });
    this.#session = media;
    // The answer webhook may come before the dial's answer, and no status after it.
    this.#follow('in-progress');
    media.attach(agent);
    this.#agent.settle(agent);
  }

  #take(
    request: ProviderRequest,
    follow: (event: ProviderEvent) => Promise<WebhookReply>,
  ): Promise<WebhookReply> {
    return this.#webhooks.take(request, (event) => {
      this.steps.note('webhooks', pass('Webhooks arrive, and their proof is valid.'));
      this.#note(event);
      return follow(event);
    });
  }

  /** Notes an event. A webhook whose proof does not cover its content counts only for the call that was dialled. */
  #note(event: ProviderEvent): void {
    if (!('callId' in event)) return;
    const { webhookProof } = this.order.provider.capabilities;
    if (webhookProof === 'full') this.#callId.settle(event.callId);
    if (this.callId !== event.callId) return;
    if (event.kind === 'status') this.#follow(event.status);
    if (event.kind !== 'media-failed') return;
    const message = `The provider could not open the media socket: ${event.reason}.`;
    const advice = 'Check the proxy before the public address, and its certificate.';
    this.steps.note('media', fail(message, advice));
    this.hangUp();
  }

  #follow(status: CallStatus): void {
    if (status === 'ringing') this.steps.note('ringing', pass('The provider reports ringing.'));
    if (status === 'in-progress') {
      this.steps.note('answered', pass('The call was answered.'));
      this.#answered.settle(true);
    }
    if (isTerminal(status)) this.#final.settle(status);
  }

  /** Asks the provider whether an unproven event is true. Never rejects. */
  async #confirm(event: ProviderEvent): Promise<void> {
    try {
      if (event.kind !== 'status' || event.callId !== this.callId) return;
      const status = await this.#leg.status(event.callId);
      if (status !== undefined) this.#follow(status);
    } catch (error) {
      this.#deps.log.warn({ err: error }, 'report about an examination call not confirmed');
    }
  }

  /** Connects the answered call to the media socket. A repeated command is not sent: the first one is carried out. */
  #connect(callId: string): Promise<WebhookReply> {
    const { tokens, actions, addSecret } = this.#deps;
    const { provider, credentials, publicUrl } = this.order;
    const isCommand = provider.capabilities.answerStyle === 'command';
    if (isCommand && this.#isConnecting) return Promise.resolve(provider.webhook.acknowledge());
    this.#isConnecting = true;
    const token = tokens.reissue(this.#subject, TOKEN_MS);
    addSecret(token, 'redacted-media-token');
    const { statusUrl, answeredByUrl } = callbackUrls(publicUrl, provider, this.order.id);
    const action = provider.webhook.answer({
      runId: this.order.id,
      callId,
      isAnswered: true,
      statusUrl,
      answeredByUrl,
      mediaUrl: this.#mediaUrl(token),
    });
    return actions.perform(action, credentials, async (error) => {
      this.steps.note('media', failed(error));
      this.hangUp();
    });
  }

  /** Hangs up a call that is answered after the end: a call whose dial got no clear answer may ring all the same,
   *  and nothing else would hang it up. */
  async #refuse(callId: string): Promise<WebhookReply> {
    const { webhook } = this.order.provider;
    if (this.#isHungUp) return webhook.acknowledge();
    await this.#leg.hangUp(callId).catch((error: unknown) => {
      this.#deps.log.warn({ err: error }, 'late examination call not hung up');
    });
    return webhook.reject('error', callId).reply;
  }

  #mediaUrl(token: string): string {
    return mediaUrl(this.order.publicUrl, this.#subject, token);
  }

  get #subject(): TokenSubject {
    const { id, organizationId } = this.order;
    return { id, organizationId, workflowId: EXAMINATION_WORKFLOW };
  }

  // The course of the call.

  async #run(): Promise<void> {
    try {
      if (await this.#dial()) await this.#hold();
      await this.#leave();
    } catch (error) {
      this.#deps.log.error({ err: error }, 'examination call failed');
      const advice = 'See the log of the gateway, and the console of the provider.';
      this.steps.note('final_status', fail('The examination itself failed.', advice));
    } finally {
      this.#isOver = true;
      this.#session?.close('over');
    }
  }

  /** Dials. Returns whether there is a call. */
  async #dial(): Promise<boolean> {
    try {
      this.#callId.settle(await this.#leg.dial());
      this.steps.note('dial', pass('The provider has accepted the call.'));
      return true;
    } catch (error) {
      this.steps.note('dial', failed(error, dialRemedy(error)));
      this.dialFault = codeOf(error);
      if (!isUncertain(codeOf(error))) return this.#callId.isPast;
      const known = await this.#callId.within(this.#deps.clock, DOUBT_MS_MAX, this.#cut.promise);
      return known !== undefined;
    }
  }

  async #hold(): Promise<void> {
    const { clock } = this.#deps;
    const end = Promise.race([this.#final.promise, this.#cut.promise]);
    const ringMs = EXAMINATION_RING_S * 1_000 + ANSWER_MS_EXTRA;
    if ((await this.#answered.within(clock, ringMs, end)) === undefined) return;
    const agent = await this.#agent.within(clock, MEDIA_MS_MAX, end);
    if (agent === undefined) return;
    void end.then(() => agent.stop());
    const timer = clock.after(TALK_MS_MAX, () => agent.stop());
    await agent.talk().finally(() => timer.cancel());
  }

  /** Hangs up and determines how the call ended. */
  async #leave(): Promise<void> {
    const { callId } = this;
    if (callId !== undefined) await this.#hangUp(callId);
    this.#agent.value?.stop();
    this.#session?.close('over');
    if (callId === undefined) return;
    const status = await this.#final.within(this.#deps.clock, STATUS_MS_MAX, this.#never);
    if (status === undefined) await this.#askForEnd(callId);
    else this.steps.note('final_status', pass(`The provider reports: ${status}.`));
    noteMissing(this.steps, {
      publicUrl: this.order.publicUrl,
      refused: this.#webhooks.refused,

      finalStatus: this.#final.value,
      isCut: this.#cut.isPast,
    });
  }

  async #hangUp(callId: string): Promise<void> {
    const hasEnded = this.#final.isPast;
    try {
      await this.#leg.hangUp(callId);
      this.#isHungUp = true;
      const message = hasEnded ? 'The call had ended already.' : 'The provider has accepted it.';
      this.steps.note('hang_up', pass(message));
    } catch (error) {
      const advice = 'The provider ends the call after a minute: see its console.';
      this.steps.note('hang_up', failed(error, advice));
    }
  }

  async #askForEnd(callId: string): Promise<void> {
    try {
      const status = await this.#leg.status(callId);
      const isOver = status === undefined || isTerminal(status);
      const words = status ?? 'the call is not known any more';
      const message = `No webhook reported it. On request, the provider reports: ${words}.`;
      const outcome = isOver ? warn : fail;
      this.steps.note('final_status', outcome(message, STATUS_MISSING));
    } catch (error) {
      this.steps.note('final_status', failed(error, STATUS_MISSING));
    }
  }
}

const STATUS_MISSING =
  'Status webhooks are missing: the end of a call that nobody answers would be found late.';
