// Runs one case: its time is limited, what it has started is ended whatever happens, and what it throws is a finding.

import { GatewayCluster } from './cluster.ts';
import type { ClusterCase, Stage } from './cluster-case.ts';
import { type Finding, Findings } from './findings.ts';

export interface CaseResult {
  name: string;
  title: string;
  outcome: 'held' | 'broken' | 'skipped';
  /** Why it was skipped, or what it has thrown. */
  reason?: string;
  findings: Finding[];
  seconds: number;
}

export interface CaseOptions
  extends Pick<Stage, 'awaySeconds' | 'build' | 'contacts' | 'next' | 'say'> {
  limitMs: number;
  /** Ends the case from outside. */
  signal: AbortSignal;
}

export async function runCase(of: ClusterCase, options: CaseOptions): Promise<CaseResult> {
  const { name, title } = of;
  const findings = new Findings();
  const ends: (() => Promise<void>)[] = [];
  const sinceMs = performance.now();
  let reason: string | undefined;
  const stage: Stage = {
    ...options,
    findings,
    atEnd: (end) => ends.push(end),
    start: (wishes) => {
      const { build: checkout } = options;
      const starting = GatewayCluster.start({
        ...(checkout !== undefined && { checkout }),
        ...wishes,
      });
      // One that the case does not wait for any more is ended as well.
      ends.push(async () => (await starting.catch(() => undefined))?.end());
      return starting;
    },
  };
  try {
    await within(options, of.run(stage));
  } catch (error) {
    reason = error instanceof Error ? error.message : String(error);
  }
  for (const end of ends.toReversed()) {
    await end().catch((error: unknown) => {
      reason ??= `not ended: ${error instanceof Error ? error.message : String(error)}`;
    });
  }
  const isHeld = reason === undefined && findings.broken.length === 0;
  return {
    name,
    title,
    outcome: isHeld ? 'held' : 'broken',
    ...(reason !== undefined && { reason }),
    findings: findings.all,
    seconds: Math.round((performance.now() - sinceMs) / 1_000),
  };
}

async function within({ limitMs, signal }: CaseOptions, work: Promise<void>): Promise<void> {
  work.catch(() => undefined); // What it throws after its time does not matter.
  let timer: NodeJS.Timeout | undefined;
  const over = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`takes longer than ${limitMs} ms`)), limitMs);
    signal.addEventListener('abort', () => reject(new Error('ended by a signal')), { once: true });
  });
  try {
    await Promise.race([work, over]);
  } finally {
    clearTimeout(timer);
  }
}
