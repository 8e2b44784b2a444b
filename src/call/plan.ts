// All that a call needs to know before its media arrives: the run, whose it is, what the agent does.

import type { Run } from '../model/run.ts';
import type { TelephonyConfiguration } from '../model/telephony.ts';
import type { WorkflowConfigurations, WorkflowVersion } from '../model/workflow.ts';
import { workflowConfigurations } from '../model/workflow.ts';
import type { TelephonyProvider } from '../telephony/provider.ts';
import type { DialoguePolicy } from '../workflow/dialogue.ts';
import { createEngine, type Engine } from '../workflow/engine.ts';
import { parseGraph } from '../workflow/graph.ts';
import type { PreCallFetch } from './pre-call-fetch.ts';

export interface CallPlan {
  run: Run;
  configuration: TelephonyConfiguration;
  provider: TelephonyProvider;
  engine: Engine;
  settings: WorkflowConfigurations;
  /** The configurations as stored, for what is not the call's business. */
  storedSettings: Record<string, unknown>;
  /** Undefined if nothing is asked for before the first word. */
  preCall: PreCallFetch | undefined;
}

/** Throws WORKFLOW_INVALID if the version cannot run. */
export function planCall(input: {
  run: Run;
  configuration: TelephonyConfiguration;
  provider: TelephonyProvider;
  version: WorkflowVersion;
  policy: DialoguePolicy;
}): CallPlan {
  const settings = settingsOf(input.version.configurations);
  const graph = parseGraph(input.version.definition);
  return {
    run: input.run,
    configuration: input.configuration,
    provider: input.provider,
    engine: createEngine({ graph, policy: input.policy, settings }),
    settings,
    storedSettings: input.version.configurations,
    preCall: undefined,
  };
}

/** Stored settings with defaults; a value out of range counts as not set. */
function settingsOf(stored: Record<string, unknown>): WorkflowConfigurations {
  const whole = workflowConfigurations.safeParse(stored);
  if (whole.success) return whole.data;
  const bad = new Set(whole.error.issues.map((issue) => issue.path[0]));
  const kept = Object.entries(stored).filter(([key, value]) => !bad.has(key) && value !== null);
  return workflowConfigurations.parse(Object.fromEntries(kept));
}
