// What every inbound call goes through, by webhook or from a PBX: the agent that answers it, its run,
// and the reason if it is refused.

import { codeOf } from '../errors.ts';
import { callsStarted } from '../metrics.ts';
import type { Run } from '../model/run.ts';
import type { TelephonyConfiguration } from '../model/telephony.ts';
import type { Workflow } from '../model/workflow.ts';
import type { TelephonyProvider } from '../telephony/provider.ts';
import type { RejectReason } from '../telephony/terms.ts';
import { inboundContext } from './context.ts';
import type { CallDeps } from './deps.ts';

export class Refusal extends Error {
  readonly reason: RejectReason;
  constructor(reason: RejectReason) {
    super(reason);
    this.reason = reason;
  }
}

export function reasonOf(error: unknown): RejectReason {
  if (error instanceof Refusal) return error.reason;
  const code = codeOf(error);
  if (code === 'CALL_LIMIT_REACHED' || code === 'GATEWAY_OVERLOADED') return 'busy';
  return code === 'GATEWAY_DRAINING' ? 'draining' : 'error';
}

/** Throws Refusal if nobody answers. */
export async function inboundAgent(
  deps: CallDeps,
  { organizationId }: TelephonyConfiguration,
  workflowId: string | null,
): Promise<Workflow> {
  const workflow =
    workflowId === null ? undefined : await deps.store.workflows.get(organizationId, workflowId);
  if (workflow === undefined || workflow.status !== 'active') throw new Refusal('no-workflow');
  return workflow;
}

interface InboundCall {
  configuration: TelephonyConfiguration;
  workflow: Workflow;
  provider: TelephonyProvider;
  callId: string;
  from: string;
  to: string;
  /** Of the run. */
  name: string;
  /** As the provider names it; null if it does not. */
  accountId: string | null;
  /** What it said of the call. */
  raw: Record<string, unknown>;
}

/** The run of a call; one that came before gets the same. Throws Refusal, CALL_LIMIT_REACHED. */
export async function createInboundRun(deps: CallDeps, call: InboundCall): Promise<Run> {
  const { configuration, workflow, callId, from, to } = call;
  const { name: provider } = call.provider;
  const version = await deps.store.workflows.published(workflow.id);
  if (version === undefined) throw new Refusal('no-workflow');
  const { organizationId, id: configurationId } = configuration;
  const run = await deps.store.runs.create(
    {
      organizationId,
      workflowId: workflow.id,
      definitionId: version.id,
      name: call.name,
      mode: provider,
      callType: 'inbound',
      configurationId,
      providerCallId: callId,
      initialContext: inboundContext({ provider, configurationId, from, to, callId }),
      gatheredContext: { provider, call_id: callId },
      logs: { inbound_webhook: { account_id: call.accountId, raw_webhook_data: call.raw } },
    },
    await deps.store.accounts.concurrentCallLimit(organizationId),
  );
  const runLog = await deps.events.open(run.id);
  if (runLog.events.length > 0) return run; // It was told of twice and was first elsewhere.
  runLog.append({ type: 'call.created', direction: 'inbound', provider, from, to }, 0);
  callsStarted.inc({ provider, direction: 'inbound' });
  deps.log.info({ runId: run.id, provider }, 'inbound call');
  return run;
}
