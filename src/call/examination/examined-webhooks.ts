// Webhooks of one examination call: verified like those of any call, and written to its capture, including refused
// ones.

import { GatewayError } from '../../errors/gateway-error.ts';
import type {
  ProviderEvent,
  ProviderRequest,
  WebhookReply,
} from '../../telephony/provider/provider.ts';
import type { WebhookVerifier } from '../webhooks/webhook-verifier.ts';
import type { CallCapture } from './call-capture.ts';
import type { ExaminationOrder } from './examined-leg.ts';

/** Webhooks of one call at most: it has about ten, more come from other senders. */
const WEBHOOKS_MAX = 100;

export interface ExaminedWebhooksDeps {
  order: ExaminationOrder;
  capture: CallCapture;
  verifier: WebhookVerifier;
  /** Called with an unproven report, which only causes a request to the provider. Must not throw. */
  onReport: (event: ProviderEvent) => void;
}

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
