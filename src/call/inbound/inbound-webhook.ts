// An inbound call's webhook: finds the configuration and number, verifies the provider's signature, finds the
// agent. Order of checks: contract §7.2. Every refusal is spoken markup, status 200.

import { codeOf, type GatewayError } from '../../errors/gateway-error.ts';
import type { Log } from '../../log.ts';
import { callsRefused, webhooks } from '../../metrics/metrics.ts';
import type { TelephonyConfiguration } from '../../model/telephony.ts';
import type { WorkflowVersion } from '../../model/workflow.ts';
import type { Random } from '../../std/random.ts';
import type { StartedRun } from '../../store/runs/new-run.ts';
import type { Store } from '../../store/store.ts';
import { normalizeAddress } from '../../telephony/provider/phone-address.ts';
import type {
  HostedProvider,
  ProviderEvent,
  ProviderRequest,
  WebhookReply,
} from '../../telephony/provider/provider.ts';
import type { ConnectServices } from '../connect/connect-services.ts';
import { type InboundRuns, Refusal, reasonOf } from './inbound-run.ts';

type InboundCall = Extract<ProviderEvent, { kind: 'inbound-call' }>;

/** For a request that matches no provider. */
const NOBODY: WebhookReply = {
  status: 200,
  contentType: 'text/xml; charset=utf-8',
  body: '<?xml version="1.0" encoding="UTF-8"?><Response><Hangup/></Response>',
};

interface Inbound {
  provider: HostedProvider;
  request: ProviderRequest;
  event: InboundCall;
  workflowId: string | null;
}

export interface InboundWebhooksDeps {
  store: Pick<Store, 'telephony'>;
  providers: { readonly hosted: readonly HostedProvider[] };
  runs: InboundRuns;
  connect: Pick<ConnectServices, 'registry' | 'watchdog' | 'preparation'>;
  random: Random;
  log: Log;
}

export class InboundWebhooks {
  readonly #deps: InboundWebhooksDeps;

  constructor(deps: InboundWebhooksDeps) {
    this.#deps = deps;
  }

  /** `workflowId` comes from the deprecated route, where the URL selects the agent. */
  async answer(request: ProviderRequest, workflowId: string | null): Promise<WebhookReply> {
    const provider = this.#deps.providers.hosted.find(({ webhook }) => webhook.recognises(request));
    if (provider === undefined) {
      webhooks.inc({ provider: 'unknown', result: 'unrecognised' });
      return NOBODY;
    }
    try {
      const event = provider.webhook.parse(request);
      if (event.kind !== 'inbound-call') return provider.webhook.acknowledge();
      const reply = await this.#connect({ provider, request, event, workflowId });
      webhooks.inc({ provider: provider.name, result: 'answered' });
      return reply;
    } catch (error) {
      const reason = reasonOf(error);
      webhooks.inc({ provider: provider.name, result: reason });
      callsRefused.inc({ code: codeOf(error) ?? reason });
      if (reason === 'error' && codeOf(error) !== 'WEBHOOK_MALFORMED')
        this.#deps.log.error({ err: error }, 'inbound call not answered');
      else this.#deps.log.warn({ reason, provider: provider.name }, 'inbound call refused');
      return provider.webhook.reject(reason);
    }
  }

  async #connect(inbound: Inbound): Promise<WebhookReply> {
    const { registry, watchdog, preparation } = this.#deps.connect;
    const { provider, request } = inbound;
    const { configuration, version } = await this.#findAgent(inbound);
    if (!provider.webhook.verify(request, configuration.credentials))
      throw new Refusal('signature');
    const { run, isNew } = await this.#createRun({ configuration, version, inbound });
    if (run.state !== 'initialized' || registry.connected(run.id)) throw new Refusal('error');
    if (!registry.has(run.id)) watchdog.answered({ run, configuration, provider });
    const fresh = isNew ? version : undefined;
    return preparation.answer({ run, configuration, provider, fresh });
  }

  async #findAgent({
    provider,
    event,
    workflowId,
  }: Inbound): Promise<{ configuration: TelephonyConfiguration; version: WorkflowVersion }> {
    const to = normalizeAddress(event.to, null)?.normalized;
    const found =
      to === undefined
        ? undefined
        : await this.#deps.store.telephony.findInbound(provider.name, event.accountId, to);
    if (found === undefined) throw new Refusal('not-configured');
    const { configuration, number } = found;
    const version = await this.#deps.runs.agent(
      configuration,
      workflowId ?? number.inboundWorkflowId,
    );
    return { configuration, version };
  }

  #createRun(found: {
    configuration: TelephonyConfiguration;
    version: WorkflowVersion;
    inbound: Inbound;
  }): Promise<StartedRun> {
    const { configuration, version, inbound } = found;
    const { provider, event } = inbound;
    const { callId, accountId, from, to, raw } = event;
    const digits = String(this.#deps.random.integer(100_000_000)).padStart(8, '0');
    const name = `WR-TEL-IN-${digits}`;
    const call = { callId, accountId, from, to, raw };
    return this.#deps.runs.create({ ...call, name, configuration, version, provider });
  }

  refuse(request: ProviderRequest, refusal: GatewayError): WebhookReply {
    return refuseInbound(this.#deps, request, refusal);
  }
}

/** A refusal in the provider's markup because this gateway accepts no call now: GATEWAY_DRAINING,
 *  GATEWAY_OVERLOADED. The store is not used. */
export function refuseInbound(
  { providers }: Pick<InboundWebhooksDeps, 'providers'>,
  request: ProviderRequest,
  refusal: GatewayError,
): WebhookReply {
  callsRefused.inc({ code: refusal.code });
  const provider = providers.hosted.find(({ webhook }) => webhook.recognises(request));
  return provider?.webhook.reject(reasonOf(refusal)) ?? NOBODY;
}
