// Loads the tools of a call while the phone rings. A tool that cannot be loaded is omitted, and the call goes on
// without it.

import { GatewayError } from '../../../errors/gateway-error.ts';
import type { Log } from '../../../log.ts';
import type { Run } from '../../../model/run.ts';
import type { WorkflowDefinition } from '../../../model/workflow.ts';
import type { Clock } from '../../../std/clock.ts';
import { withDeadline } from '../../../std/deadline.ts';
import type { Store } from '../../../store/store.ts';
import type { TelephonyProvider } from '../../../telephony/provider/provider.ts';
import type { Graph } from '../../../workflow/graph/graph.ts';
import {
  NO_TOOLS,
  type NodeTools,
  offeredFunctions,
} from '../../../workflow/tools/offered-functions.ts';
import { toolUuidsOf } from '../../../workflow/tools/tool-references.ts';

/** Deadline of the load: the phone rings meanwhile. */
const LOAD_MS_MAX = 3_000;

/** Loads the tools of an agent. Never rejects. */
export async function planTools(
  { store, clock, log }: { store: Pick<Store, 'tools'>; clock: Clock; log: Log },
  run: Pick<Run, 'organizationId'> & { id?: string },
  { definition, graph: { nodes } }: { definition: WorkflowDefinition; graph: Graph },
): Promise<NodeTools> {
  const uuids = toolUuidsOf(definition);
  if (uuids.length === 0) return NO_TOOLS;
  const runLog = run.id === undefined ? log : log.child({ runId: run.id });
  try {
    const loading = store.tools.find(run.organizationId, uuids);
    const tools = await withDeadline(clock, LOAD_MS_MAX, 'tools of a call', loading);
    const { offered, skipped } = offeredFunctions(nodes.values(), tools);
    for (const each of skipped) runLog.warn(each, 'tool not offered');
    return offered;
  } catch (error) {
    runLog.error({ err: error }, 'tools of a call not loaded');
    return NO_TOOLS;
  }
}

/** Faults for tools that need features which the call's provider lacks: each such tool fails when it is used. */
export function toolFaults(
  { name, capabilities }: TelephonyProvider,
  tools: NodeTools,
): GatewayError[] {
  const needs = (what: 'needsWarm' | 'needsDigits'): boolean =>
    [...tools.values()].some((offered) => offered.some(({ tool }) => tool.transfer?.[what]));
  const hasWarm = capabilities.transfer.includes('warm');
  const hasDigits = capabilities.transferDigits === true;
  const faults: GatewayError[] = [];
  if (!hasWarm && needs('needsWarm'))
    faults.push(new GatewayError('TRANSFER_WARM_UNSUPPORTED', { provider: name }));
  if (!hasDigits && needs('needsDigits'))
    faults.push(new GatewayError('TRANSFER_DIGITS_UNSUPPORTED', { provider: name }));
  return faults;
}
