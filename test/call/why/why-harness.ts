// What a call's explanation is judged by: what a test has injected, and when. Never by a name of a verdict.

import { expect } from 'vitest';
import { explainRun, type RunExplanation } from '../../../src/call/why/explain-run.ts';
import type { Explained } from '../../../src/call/why/explanation.ts';
import type { Party } from '../../../src/model/call-explanation.ts';
import type { CallHarness } from '../call-harness.ts';

/** What was injected, as the explanation has to name it. */
export interface Injected {
  party: Party;
  /** Name of the node of the graph. */
  node?: string;
  /** Name of the service. */
  service?: string;
  tool?: string;
  /** Name of the telephony provider. */
  provider?: string;
  /** Wall clock before and after, milliseconds since 1970. */
  between?: readonly [number, number];
  /** What the advice names. */
  advice: RegExp;
  /** What the summary names. Default: what the advice does. */
  summary?: RegExp;
}

/** The explanation of a run that has ended. */
export async function whyOf(harness: CallHarness, run: { id: string }): Promise<RunExplanation> {
  const ended = await harness.completed(run);
  return explainRun(harness.at.store, ended);
}

/** Holds the explanation, or one of its findings, against what was injected. */
export async function expectInjected(
  harness: CallHarness,
  run: { id: string },
  injected: Injected,
): Promise<RunExplanation> {
  const why = await whyOf(harness, run);
  expect(why.isFinal).toBe(true);
  await expectFinding(harness, run, why, injected);
  return why;
}

/** The same for a fault that did not end the call: the first of the further findings. */
export async function expectInjectedBeside(
  harness: CallHarness,
  run: { id: string },
  injected: Injected,
): Promise<RunExplanation> {
  const why = await whyOf(harness, run);
  const [first] = why.also;
  if (first === undefined) throw new Error(`nothing beside: ${JSON.stringify(why)}`);
  await expectFinding(harness, run, first, injected);
  return why;
}

async function expectFinding(
  harness: CallHarness,
  run: { id: string },
  finding: Explained,
  injected: Injected,
): Promise<void> {
  const { party, node, service, tool, provider, between, advice, summary } = injected;
  const { where } = finding;
  expect({ party: finding.party, summary: finding.summary }).toEqual({
    party,
    summary: expect.stringMatching(summary ?? /./),
  });
  expect(finding.advice.join('\n')).toMatch(advice);
  if (node !== undefined) expect(where.nodeName).toBe(node);
  if (service !== undefined) expect(where.service?.name).toBe(service);
  if (tool !== undefined) expect(where.tool).toBe(tool);
  if (provider !== undefined) expect(where.provider).toBe(provider);
  expect(finding.evidence.length).toBeGreaterThan(0);
  if (between === undefined) return;
  const started = (await harness.events(run)).find(({ body }) => body.type === 'media.started');
  const at = (started?.at ?? 0) + (where.atMs ?? 0);
  expect(at).toBeGreaterThanOrEqual(between[0] - 50);
  expect(at).toBeLessThanOrEqual(between[1] + 50);
}

/** Nobody is at fault, and nothing went wrong on the way. */
export async function expectNoFault(harness: CallHarness, run: { id: string }): Promise<void> {
  const why = await whyOf(harness, run);
  expect(why).toMatchObject({ party: 'nobody', also: [], isFinal: true });
  expect(why.summary).not.toMatch(/[{}]|undefined/);
}
