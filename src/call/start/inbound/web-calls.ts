// Calls from browsers, which a client of the API starts for its page: the agent, the run, the plan, and the token with which
// the page opens the media socket.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsStarted } from '../../../metrics/metrics.ts';
import type { Run } from '../../../model/run.ts';
import type { Random } from '../../../std/random.ts';
import type { Store } from '../../../store/store.ts';
import type { DirectProvider } from '../../../telephony/provider/provider.ts';
import { webTokenOf } from '../../../transport/media-token.ts';
import type { MediaTokenStore } from '../../../transport/media-token-store.ts';
import { requireValid } from '../../../workflow/stored/agent-checks.ts';
import { WITHOUT_ACCOUNT } from '../../end/closing/provider-hang-up.ts';
import type { ConnectServices } from '../../media/connect-services.ts';
import { startLogs } from '../outbound/start-call.ts';
import { webContext } from '../setup/call-context.ts';
import { type ResolvedAgent, resolveAgentById } from '../setup/resolve-agent.ts';
import { WEB_TOKEN_MS, type WebCall, webCallLogs } from '../setup/web-call.ts';
import type { InboundRuns } from './inbound-run.ts';

export interface WebCallsDeps {
  store: Pick<Store, 'workflows' | 'tools' | 'starts' | 'modelConfigurations'>;
  providers: { direct: readonly DirectProvider[] };
  runs: Pick<InboundRuns, 'noteCreated'>;
  connect: Pick<ConnectServices, 'preparation' | 'watchdog' | 'unconnected'>;
  tokens: MediaTokenStore;
  random: Random;
  log: Log;
}

export class WebCalls {
  readonly #deps: WebCallsDeps;

  constructor(deps: WebCallsDeps) {
    this.#deps = deps;
  }

  /** Starts a call, which waits for its socket from then on. Throws AGENT_NOT_FOUND, AGENT_NOT_ACTIVE,
   *  AGENT_NOT_PUBLISHED, AGENT_OVERSIZED, WORKFLOW_INVALID, CALL_LIMIT_REACHED, QUEUE_FULL. */
  async start(request: WebCall): Promise<{ run: Run; token: string }> {
    const { runs, connect, log } = this.#deps;
    const provider = this.#provider();
    const { organizationId, workflowId, isDraft } = request;
    const agent = await resolveAgentById(this.#deps, { organizationId, workflowId, isDraft });
    await requireValid(this.#deps, organizationId, agent.version);
    const { run } = await this.#deps.store.starts.start(this.#newRun(request, agent), undefined);
    await runs.noteCreated(run.id, { provider: provider.name, from: null, to: null }, true);
    callsStarted.inc({ provider: provider.name, direction: 'inbound' });
    log.info({ runId: run.id, provider: provider.name }, 'call from a browser');
    const call = { run, provider, configuration: WITHOUT_ACCOUNT, fresh: agent.version };
    await connect.preparation.prepare(call);
    connect.watchdog.answered(call);
    try {
      return { run, token: this.#tokenOf(run, request.origin) };
    } catch (error) {
      await connect.unconnected.fail(call, error);
      throw error;
    }
  }

  /** Throws PROVIDER_NOT_BUILT. */
  #provider(): DirectProvider {
    const [provider] = this.#deps.providers.direct;
    if (provider === undefined) throw new GatewayError('PROVIDER_NOT_BUILT', { provider: 'web' });
    return provider;
  }

  #tokenOf({ id, workflowId, organizationId }: Run, origin: string | null): string {
    const subject = { id, workflowId, organizationId, origin: origin ?? undefined };
    return webTokenOf(subject, this.#deps.tokens.issue(subject, WEB_TOKEN_MS));
  }

  #newRun(request: WebCall, { workflow, version }: ResolvedAgent) {
    const provider = this.#provider();
    const { random } = this.#deps;
    const { isDraft, initialContext: client } = request;
    const digits = String(random.integer(100_000_000)).padStart(8, '0');
    const initialContext = {
      ...webContext({
        client: { ...(isDraft ? version.templateContextVariables : {}), ...client },
        provider: provider.name,
      }),
      trigger_mode: isDraft ? 'test' : 'production',
      workflow_uuid: workflow.uuid,
      agent_uuid: workflow.uuid,
      api_key_id: request.apiKeyId,
      api_key_created_by: request.apiKeyCreatedBy,
    };
    return {
      organizationId: request.organizationId,
      workflowId: workflow.id,
      definitionId: version.id,
      name: `WR-WEB-${digits}`,
      mode: provider.name,
      callType: 'inbound' as const,
      configurationId: null,
      providerCallId: null,
      initialContext,
      gatheredContext: { provider: provider.name, triggered_by: 'api' },
      logs: { ...startLogs(version, initialContext, 'inbound'), ...webCallLogs(request) },
    };
  }
}
