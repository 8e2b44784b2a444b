// Inbound calls, by webhook or from a PBX: the agent that answers, the run, and the reason for a refusal.

import { codeOf, type GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import { callsStarted } from '../../../metrics/metrics.ts';
import { requireUsable } from '../../../model/json-limits.ts';
import type { OverflowPolicy } from '../../../model/overflow.ts';
import type { ProviderName } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import type { TelephonyConfiguration } from '../../../model/telephony.ts';
import type { WorkflowVersion } from '../../../model/workflow.ts';
import type { NewRun, StartedRun } from '../../../store/runs/run-insertion.ts';
import type { Store } from '../../../store/store.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';
import type { RejectReason } from '../../../telephony/provider/terms.ts';
import type { UnconfiguredNumber } from '../../../telephony/provider/unconfigured-numbers.ts';
import type { EventLog } from '../../events/event-log.ts';
import { inboundContext, knownBefore, legFacts } from '../setup/call-context.ts';
import type { Joined, WaitingLine } from '../waiting-line.ts';

export class Refusal extends Error {
  readonly reason: RejectReason;
  /** The number that was dialled, if the configuration has no such number. */
  readonly unconfigured: UnconfiguredNumber | undefined;
  constructor(reason: RejectReason, unconfigured?: UnconfiguredNumber) {
    super(reason);
    this.reason = reason;
    this.unconfigured = unconfigured;
  }
}

export function reasonOf(error: unknown): RejectReason {
  if (error instanceof Refusal) return error.reason;
  const code = codeOf(error);
  if (isFull(error)) return 'busy';
  return code === 'GATEWAY_DRAINING' ? 'draining' : 'error';
}

/** Whether there is no place for the call now. */
function isFull(error: unknown): boolean {
  const code = codeOf(error);
  return code === 'CALL_LIMIT_REACHED' || code === 'GATEWAY_OVERLOADED';
}

/** What becomes of a call for which there is no place. */
export interface Overflow {
  /** Undefined: it is refused. */
  policy: OverflowPolicy | undefined;
  /** Time until a gateway looks after a waiting call; null: its provider asks, or its process looks after it. */
  dueMs: number | null;
  /** Why this process takes no call now; undefined if it does. */
  refusal?: GatewayError | undefined;
}

export interface InboundCall {
  configuration: TelephonyConfiguration;
  version: WorkflowVersion;
  provider: TelephonyProvider;
  callId: string;
  from: string;
  to: string;
  /** The run of the call's leg before, which the new run continues; undefined for a new call. */
  before?: Run | undefined;
  /** Name of the run. */
  name: string;
  /** The provider's account id; null without one. */
  accountId: string | null;
  /** The provider's facts about the call. */
  raw: Record<string, unknown>;
}

export interface InboundRunsDeps {
  store: Pick<Store, 'runs' | 'workflows'>;
  events: EventLog;
  line: WaitingLine;
  log: Log;
}

export class InboundRuns {
  readonly #deps: InboundRunsDeps;

  constructor(deps: InboundRunsDeps) {
    this.#deps = deps;
  }

  /** The agent that answers. `known`: a version in service that was just read, perhaps of another agent. Throws Refusal
   *  if there is none, AGENT_OVERSIZED. */
  async agent(
    { organizationId }: TelephonyConfiguration,
    workflowId: string | null,
    known?: WorkflowVersion,
  ): Promise<WorkflowVersion> {
    const inService = (id: string) => this.#deps.store.workflows.inService(organizationId, id);
    const version =
      workflowId === null
        ? undefined
        : known?.workflowId === workflowId
          ? known
          : await inService(workflowId);
    if (version === undefined) throw new Refusal('no-workflow');
    return requireUsable(version);
  }

  /** The run of a call, or of its next leg; a repeated report gets the same run. Throws CALL_LIMIT_REACHED. */
  async create(call: InboundCall): Promise<StartedRun> {
    const started = await this.#deps.store.runs.create(newRunOf(call));
    await this.#noteStarted(call, started);
    return started;
  }

  /** As `create`; a call for which there is no place waits for one, or goes to another number, as the policy says. Throws
   *  CALL_LIMIT_REACHED, GATEWAY_OVERLOADED. */
  async createOrWait(call: InboundCall, { policy, dueMs, refusal }: Overflow): Promise<Joined> {
    const { line } = this.#deps;
    try {
      if (refusal !== undefined) throw refusal;
      const started = await this.create(call);
      const { run, isNew } = started;
      const mayWait = !isNew && run.state === 'initialized';
      return { ...started, isWaiting: mayWait && (await line.isWaiting(run.id)) };
    } catch (error) {
      if (policy === undefined || !isFull(error)) throw error;
      const joined = await line.join(newRunOf(call), { policy, dueMs });
      if (joined === undefined) throw error;
      if (joined.isNew) {
        await this.#noteStarted(call, joined);
        await line.noteBegun(joined.run.id);
      }
      return joined;
    }
  }

  async #noteStarted(
    { provider: { name: provider }, from, to }: InboundCall,
    { run, isNew }: StartedRun,
  ): Promise<void> {
    if (!(await this.noteCreated(run.id, { provider, from, to }, isNew))) return;
    callsStarted.inc({ provider, direction: 'inbound' });
    this.#deps.log.info({ runId: run.id, provider }, 'inbound call');
  }

  /** Logs the first event of the run. Returns false if it is stored already: a repeated report, or another process
   *  was first. */
  async noteCreated(
    runId: string,
    facts: { provider: ProviderName; from: string | null; to: string | null },
    isNew = false,
  ): Promise<boolean> {
    const runLog = await this.#deps.events.open(runId, { isNew });
    if (runLog.events.length > 0) return false;
    runLog.append({ type: 'call.created', direction: 'inbound', ...facts }, 0);
    return true;
  }
}

function newRunOf(call: InboundCall): NewRun {
  const { configuration, version, callId, from, to, before } = call;
  const { name: provider } = call.provider;
  const { organizationId, id: configurationId } = configuration;
  return {
    organizationId,
    workflowId: version.workflowId,
    definitionId: version.id,
    name: call.name,
    mode: provider,
    callType: 'inbound',
    configurationId,
    providerCallId: callId,
    follows: before?.id,
    initialContext: {
      ...(before === undefined ? {} : knownBefore(before)),
      ...inboundContext({ provider, configurationId, from, to, callId }),
    },
    gatheredContext: {
      provider,
      call_id: callId,
      ...(before === undefined ? {} : legFacts(before)),
    },
    logs: { inbound_webhook: { account_id: call.accountId, raw_webhook_data: call.raw } },
  };
}
