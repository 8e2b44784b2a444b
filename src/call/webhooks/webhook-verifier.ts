// Verifies webhooks: the provider's signature, and that no signed webhook is used a second time.

import { createHash } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { webhooks } from '../../metrics/metrics.ts';
import type { Clock } from '../../std/clock.ts';
import type { Store } from '../../store/store.ts';
import type { HostedProvider, ProviderRequest } from '../../telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../telephony/provider/terms.ts';

export interface WebhookVerifierDeps {
  store: Pick<Store, 'webhookNonces'>;
  clock: Clock;
  log: Log;
}

export class WebhookVerifier {
  readonly #deps: WebhookVerifierDeps;

  constructor(deps: WebhookVerifierDeps) {
    this.#deps = deps;
  }

  isSigned(
    { webhook }: HostedProvider,
    request: ProviderRequest,
    credentials: ProviderCredentials,
  ): boolean {
    return webhook.verify(request, credentials, this.#deps.clock.now());
  }

  /** Refuses a replay, for a request that `isSigned` has accepted. A repeated delivery of the same content soon
   *  after the first is no replay: its handling is idempotent. Throws WEBHOOK_SIGNATURE for a replay,
   *  STORE_UNAVAILABLE. */
  async refuseReplay(provider: HostedProvider, request: ProviderRequest): Promise<void> {
    const nonce = provider.webhook.nonceOf?.(request);
    if (nonce === undefined) return;
    const { name } = provider;
    const { method, url, rawBody } = request;
    const content = createHash('sha256').update(`${method} ${url}\n`).update(rawBody).digest('hex');
    if (await this.#deps.store.webhookNonces.claim({ provider: name, nonce, content })) return;
    webhooks.inc({ provider: name, result: 'replayed' });
    this.#deps.log.warn({ provider: name }, 'webhook with a used nonce refused');
    throw new GatewayError('WEBHOOK_SIGNATURE');
  }
}
