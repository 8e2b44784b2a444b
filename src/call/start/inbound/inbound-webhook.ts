// Handles an inbound call's webhook: finds the configuration and number, verifies the provider's signature, finds the
// agent. Order of checks: contract §7.2. Every refusal is in the provider's own form: spoken markup, or a command.

import { codeOf, type GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsRefused, webhooks } from '../../../metrics/metrics.ts';
import type { OverflowPolicy } from '../../../model/overflow.ts';
import { isTerminal } from '../../../model/provider.ts';
import type { PhoneNumber, TelephonyConfiguration } from '../../../model/telephony.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import type { Random } from '../../../std/random.ts';
import type { Store } from '../../../store/store.ts';
import type { CalledNumber } from '../../../store/telephony/phone-numbers.ts';
import { normalizeAddress } from '../../../telephony/provider/phone-address.ts';
import {
  type HostedProvider,
  type ProviderEvent,
  type ProviderRequest,
  recognisedBy,
  type WebhookReply,
} from '../../../telephony/provider/provider.ts';
import type { ProviderCredentials } from '../../../telephony/provider/terms.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import { StoreWait } from '../store-wait.ts';
import { DUE_MS, type HostedWaits } from '../waiting/hosted-waits.ts';
import { type Joined, overflowOf } from '../waiting-line.ts';
import { type InboundRuns, Refusal, reasonOf } from './inbound-run.ts';

type InboundCall = Extract<ProviderEvent, { kind: 'inbound-call' }>;

/** Reply to a request that matches no provider. */
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
  /** Why this process takes no call now. */
  refusal: GatewayError | undefined;
  wait: StoreWait;
}

export interface InboundWebhooksDeps {
  store: Pick<Store, 'telephony'>;
  providers: { readonly hosted: readonly HostedProvider[] };
  runs: InboundRuns;
  waits: Pick<HostedWaits, 'begin'>;
  connect: Pick<
    ConnectServices,
    'registry' | 'watchdog' | 'preparation' | 'actions' | 'verifier' | 'confirmation'
  >;
  clock: Clock;
  random: Random;
  log: Log;
}

export class InboundWebhooks {
  readonly #deps: InboundWebhooksDeps;

  constructor(deps: InboundWebhooksDeps) {
    this.#deps = deps;
  }

  /** Answers the webhook. `workflowId` comes from the deprecated route, where the URL selects the agent. `refusal`: why
   *  this process takes no call now; a call that may not wait is refused with it. */
  async answer(
    request: ProviderRequest,
    workflowId: string | null,
    refusal?: GatewayError,
  ): Promise<WebhookReply> {
    const provider = recognisedBy(this.#deps.providers.hosted, request);
    if (provider === undefined) {
      webhooks.inc({ provider: 'unknown', result: 'unrecognised' });
      return NOBODY;
    }
    /** Set when the provider has proven that the call belongs to this account. */
    const proven: { credentials?: ProviderCredentials; callId?: string } = {};
    try {
      const event = provider.webhook.parse(request);
      if (event.kind !== 'inbound-call') return provider.webhook.acknowledge();
      proven.callId = event.callId;
      const wait = new StoreWait(this.#deps, provider);
      const inbound = { provider, request, event, workflowId, refusal, wait };
      const found = await wait.repeat(() => this.#findVerified(inbound));
      if (found.isVerified) proven.credentials = found.configuration.credentials;
      const reply = await this.#connect(inbound, found);
      webhooks.inc({ provider: provider.name, result: 'answered' });
      return reply;
    } catch (error) {
      if (refusal !== undefined && error === refusal) return this.refuse(request, refusal);
      const reason = reasonOf(error);
      webhooks.inc({ provider: provider.name, result: reason });
      callsRefused.inc({ code: codeOf(error) ?? reason });
      if (reason === 'error' && codeOf(error) !== 'WEBHOOK_MALFORMED')
        this.#deps.log.error({ err: error }, 'inbound call not answered');
      else this.#deps.log.warn({ reason, provider: provider.name }, 'inbound call refused');
      const { callId = null, credentials } = proven;
      const action = provider.webhook.reject(reason, callId);
      // An unproven request must not make the gateway end a call.
      if (credentials === undefined) return action.reply;
      return this.#deps.connect.actions.perform(action, credentials);
    }
  }

  async #connect(
    inbound: Inbound,
    {
      configuration,
      number,
      version: ofNumber,
      isVerified,
    }: CalledNumber & { isVerified: boolean },
  ): Promise<WebhookReply> {
    const { registry, watchdog, preparation, verifier } = this.#deps.connect;
    const { provider, request, event, workflowId, wait } = inbound;
    const agentId = workflowId ?? number.inboundWorkflowId;
    const version = await wait.repeat(() =>
      this.#deps.runs.agent(configuration, agentId, ofNumber),
    );
    if (!isVerified) throw new Refusal('signature');
    const policy = overflowOf(configuration, number);
    // Before the webhook counts as used: another gateway may take it.
    if (inbound.refusal !== undefined && policy === undefined) throw inbound.refusal;
    await wait.repeat(() => verifier.refuseReplay(provider, request));
    await this.#confirm(inbound, configuration);
    const { run, isNew, isWaiting } = await wait.repeat(() =>
      this.#createRun({ configuration, number, version, inbound, policy }),
    );
    if (isWaiting) return this.#deps.waits.begin({ run, configuration, provider });
    if (run.state !== 'initialized' || registry.connected(run.id)) {
      // The webhook is a late repetition: a command would end the connected call.
      if (provider.capabilities.answerStyle === 'command') return provider.webhook.acknowledge();
      throw new Refusal('error');
    }
    if (!registry.has(run.id)) watchdog.answered({ run, configuration, provider });
    const fresh = isNew ? version : undefined;
    return preparation.answer({ run, configuration, provider, fresh, wait }, event.callId);
  }

  /** The configuration and number of the call: those of the account that the provider proves. Throws Refusal if no
   *  configuration has the number. */
  async #findVerified({
    provider,
    request,
    event,
  }: Inbound): Promise<CalledNumber & { isVerified: boolean }> {
    const { store, connect } = this.#deps;
    // The digits may be a complete number, or a number without its country code.
    const forms = [null, event.toCountry ?? null].flatMap(
      (country) => normalizeAddress(event.to, country)?.normalized ?? [],
    );
    const candidates: CalledNumber[] = [];
    for (const to of new Set(forms)) {
      candidates.push(...(await store.telephony.findInbound(provider.name, event.accountId, to)));
    }
    const verified = candidates.find(({ configuration }) =>
      connect.verifier.isSigned(provider, request, configuration.credentials),
    );
    const found = verified ?? candidates[0];
    if (found === undefined) throw new Refusal('not-configured');
    return { ...found, isVerified: verified !== undefined };
  }

  /** Asks the provider whether the call exists, where the signature does not cover the content. Throws Refusal,
   *  PROVIDER_*. */
  async #confirm(
    { provider, event }: Inbound,
    configuration: TelephonyConfiguration,
  ): Promise<void> {
    if (provider.capabilities.webhookProof !== 'url-only') return;
    const { callId } = event;
    const asked = { provider, configuration, callId };
    const call = await this.#deps.connect.confirmation.lookForNew(asked);
    if (call === undefined || isTerminal(call.status)) throw new Refusal('signature');
  }

  #createRun(found: {
    configuration: TelephonyConfiguration;
    number: PhoneNumber;
    version: WorkflowVersion;
    inbound: Inbound;
    policy: OverflowPolicy | undefined;
  }): Promise<Joined> {
    const { configuration, number, version, inbound, policy } = found;
    const { provider, event, refusal } = inbound;
    const { callId, accountId, from, raw } = event;
    const { addressNormalized: whole } = number;
    // Transfers show the called number, which needs the country code that the provider omitted.
    const to = normalizeAddress(event.to, null)?.normalized === whole ? event.to : whole;
    const digits = String(this.#deps.random.integer(100_000_000)).padStart(8, '0');
    const name = `WR-TEL-IN-${digits}`;
    const call = { callId, accountId, from, to, raw };
    const dueMs = provider.capabilities.answerStyle === 'command' ? DUE_MS : null;
    return this.#deps.runs.createOrWait(
      { ...call, name, configuration, version, provider },
      { policy, dueMs, refusal },
    );
  }

  refuse(request: ProviderRequest, refusal: GatewayError): WebhookReply {
    return refuseInbound(this.#deps, request, refusal);
  }
}

const UNAVAILABLE = 503;

/** A refusal in the provider's markup for a gateway that accepts no call at the moment: GATEWAY_DRAINING,
 *  GATEWAY_OVERLOADED. Does not use the store. */
export function refuseInbound(
  { providers }: Pick<InboundWebhooksDeps, 'providers'>,
  request: ProviderRequest,
  refusal: GatewayError,
): WebhookReply {
  callsRefused.inc({ code: refusal.code });
  const provider = recognisedBy(providers.hosted, request);
  if (provider === undefined) return NOBODY;
  const { reply, command } = provider.webhook.reject(reasonOf(refusal), null);
  // The provider sends the webhook again; another gateway may accept the call.
  return command === undefined && provider.capabilities.answerStyle === 'document'
    ? reply
    : { ...reply, status: UNAVAILABLE };
}
