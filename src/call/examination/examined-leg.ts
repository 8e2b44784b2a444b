// An examination call at its provider: requests over REST, each with a deadline, and its webhooks, which are verified like
// those of any call.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { CallStatus } from '../../model/provider.ts';
import type { Clock } from '../../std/clock.ts';
import { deadlineSignal } from '../../std/deadline.ts';
import type { MediaListener, MediaSession } from '../../telephony/provider/media-session.ts';
import type {
  HostedProvider,
  ProviderEvent,
  ProviderRequest,
  WebhookReply,
} from '../../telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';
import { callbackUrls } from '../start/setup/callback-urls.ts';
import type { WebhookVerifier } from '../webhooks/webhook-verifier.ts';
import type { CallCapture } from './call-capture.ts';
import type { ExaminationSteps } from './examination-steps.ts';

/** Ring time of an examination call, in seconds. */
export const EXAMINATION_RING_S = 30;
/** Longest call, in seconds. The provider ends it then: nothing else does if this process dies. */
const CALL_S = 60;
const DIAL_MS_MAX = 15_000;
const COMMAND_MS_MAX = 10_000;
/** Webhooks of one call at most: it has about ten, more come from other senders. */
const WEBHOOKS_MAX = 100;

/** What an agent of an examination call uses. */
export interface AgentMeans {
  media: MediaSession;
  steps: ExaminationSteps;
  /** Whether the provider signals keys; else they are in the audio. */
  digitsIn: boolean;
  /** Sends keys over the provider's REST interface. Undefined: they are sent as tones in the audio. */
  sendDigits: ((digits: string) => Promise<void>) | undefined;
  clock: Clock;
}

export interface CallAgent extends MediaListener {
  /** Settles when the agent is done, or the stream closes. Never rejects because of the far end. */
  talk(): Promise<void>;
  stop(): void;
}

export interface ExaminationOrder {
  /** The call's id, in the place of a run's id. */
  id: string;
  organizationId: string;
  provider: HostedProvider;
  credentials: ProviderCredentials;
  /** Caller id, in the provider's format. */
  from: string | null;
  to: string;
  /** What talks with the far end once the media are connected. */
  createAgent: (means: AgentMeans) => CallAgent;
  publicUrl: string;
}

/** The provider requests of an examination call. */
export class ExaminedLeg {
  readonly #order: ExaminationOrder;
  readonly #clock: Clock;

  constructor(order: ExaminationOrder, clock: Clock) {
    this.#order = order;
    this.#clock = clock;
  }

  /** The provider's id of the call. Throws PROVIDER_*. */
  async dial(): Promise<string> {
    const { id, provider, credentials, from, to, publicUrl } = this.#order;
    const { answerUrl, statusUrl, answeredByUrl } = callbackUrls(publicUrl, provider, id);
    const request = {
      runId: id,
      from,
      to,
      answerUrl,
      statusUrl,
      answeredByUrl,

      ringS: EXAMINATION_RING_S,
      callS: CALL_S,
    };
    const { callId } = await this.#within(DIAL_MS_MAX, (signal) =>
      provider.control.dial(credentials, request, signal),
    );
    return callId;
  }

  /** Hangs up. Throws PROVIDER_*. */
  hangUp(callId: string): Promise<void> {
    const { provider, credentials } = this.#order;
    return this.#within(COMMAND_MS_MAX, (signal) =>
      provider.control.hangUp(credentials, callId, signal),
    );
  }

  /** Status of the call; undefined: the provider does not know the call. Throws PROVIDER_*. */
  async status(callId: string): Promise<CallStatus | undefined> {
    const { provider, credentials } = this.#order;
    const call = await this.#within(COMMAND_MS_MAX, (signal) =>
      provider.control.getCall(credentials, callId, signal),
    );
    return call?.status;
  }

  /** Sends DTMF digits. Throws PROVIDER_*. */
  async sendDigits(callId: string, digits: string): Promise<void> {
    const { provider, credentials } = this.#order;
    await this.#within(COMMAND_MS_MAX, async (signal) =>
      provider.control.sendDigits?.(credentials, callId, digits, signal),
    );
  }

  async #within<T>(ms: number, ask: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal, done } = deadlineSignal(this.#clock, ms, 'a request of an examination call');
    try {
      return await ask(signal);
    } finally {
      done();
    }
  }
}

interface ExaminedWebhooksDeps {
  order: ExaminationOrder;
  capture: CallCapture;
  verifier: WebhookVerifier;
  /** Called with an unproven report, which only causes a request to the provider. Must not throw. */
  onReport: (event: ProviderEvent) => void;
}

/** The webhooks of an examination call. All are written to its capture, including refused ones. */
export class ExaminedWebhooks {
  /** Webhooks with a wrong signature. */
  refused = 0;
  readonly #deps: ExaminedWebhooksDeps;
  #count = 0;

  constructor(deps: ExaminedWebhooksDeps) {
    this.#deps = deps;
  }

  /** Returns the reply of `follow`, if the webhook is proven. Throws WEBHOOK_SIGNATURE, WEBHOOK_MALFORMED. */
  async take(
    request: ProviderRequest,
    follow: (event: ProviderEvent) => Promise<WebhookReply>,
  ): Promise<WebhookReply> {
    const { order, capture, verifier } = this.#deps;
    const { provider, credentials } = order;
    this.#count += 1;
    if (this.#count > WEBHOOKS_MAX) throw new GatewayError('WEBHOOK_SIGNATURE');
    if (!verifier.isSigned(provider, request, credentials)) return this.#takeUnproven(request);
    await verifier.refuseReplay(provider, request);
    const event = this.#parsed(request);
    const reply = await follow(event);
    capture.webhook(request, { isVerified: true, event: nameOf(event), reply });
    return reply;
  }

  #takeUnproven(request: ProviderRequest): WebhookReply {
    const { order, capture, onReport } = this.#deps;
    const { webhook } = order.provider;
    if (webhook.isReport?.(request) !== true) {
      this.refused += 1;
      capture.webhook(request, { isVerified: false, event: 'unproven', reply: undefined });
      throw new GatewayError('WEBHOOK_SIGNATURE');
    }
    const event = this.#parsed(request);
    const reply = webhook.acknowledge();
    capture.webhook(request, { isVerified: false, event: nameOf(event), reply });
    onReport(event);
    return reply;
  }

  #parsed(request: ProviderRequest): ProviderEvent {
    const { order, capture } = this.#deps;
    try {
      return order.provider.webhook.parse(request);
    } catch (error) {
      capture.webhook(request, { isVerified: false, event: 'malformed', reply: undefined });
      throw error;
    }
  }
}

function nameOf(event: ProviderEvent): string {
  return event.kind === 'status' ? `status ${event.status}` : event.kind;
}
