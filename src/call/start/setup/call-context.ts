// The gateway's own keys in a run's contexts. Source: contract §5.6 (system keys), §8.9.

import type { ProviderName } from '../../../model/provider.ts';
import type { Run } from '../../../model/run.ts';
import { isObject } from '../../../std/json.ts';

/** Keys that a client's `initial_context` cannot set. */
const RESERVED = new Set([
  'provider',
  'runtime_configuration',
  'mps_correlation_id',
  'workflow_run_id',
  'call_id',
]);

export function withoutReserved(context: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(context).filter(([key]) => !RESERVED.has(key)));
}

export function outboundContext(facts: {
  client: Record<string, unknown>;
  provider: ProviderName;
  configurationId: string;
  from: string | null;
  to: string;
}): Record<string, unknown> {
  return {
    ...withoutReserved(facts.client),
    phone_number: facts.to,
    called_number: facts.to,
    caller_number: facts.from,
    direction: 'outbound',
    provider: facts.provider,
    telephony_configuration_id: facts.configurationId,
  };
}

export function inboundContext(facts: {
  provider: ProviderName;
  configurationId: string;
  from: string;
  to: string;
  callId: string;
}): Record<string, unknown> {
  return {
    caller_number: facts.from,
    called_number: facts.to,
    direction: 'inbound',
    provider: facts.provider,
    telephony_configuration_id: facts.configurationId,
    call_id: facts.callId,
  };
}

/** Initial context of a call without numbers. */
export function webContext(facts: {
  client: Record<string, unknown>;
  provider: ProviderName;
}): Record<string, unknown> {
  return { ...withoutReserved(facts.client), direction: 'inbound', provider: facts.provider };
}

/** Initial context of a call's next leg: that of the leg before, with the values that its agent has gathered. */
export function knownBefore({ initialContext, gatheredContext }: Run): Record<string, unknown> {
  const values = gatheredContext['extracted_variables'];
  return { ...withoutReserved(initialContext), ...(isObject(values) ? values : {}) };
}

/** Facts of a call's next leg, in its gathered context: its number, and the run of the leg before. */
export function legFacts({ id, gatheredContext }: Run): Record<string, unknown> {
  return { call_leg: legNumberOf(gatheredContext) + 1, previous_run_id: id };
}

/** Number of the run's leg of its call, from 1. */
export function legNumberOf(gatheredContext: Record<string, unknown>): number {
  const leg = gatheredContext['call_leg'];
  return typeof leg === 'number' ? leg : 1;
}

/** The run with its own ids in its initial context, for use in prompts. */
export function withRunIds(run: Run): Run {
  return {
    ...run,
    initialContext: {
      ...run.initialContext,
      workflow_run_id: run.id,
      ...(run.providerCallId === null ? {} : { call_id: run.providerCallId }),
    },
  };
}
