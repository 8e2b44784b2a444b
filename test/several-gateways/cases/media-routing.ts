// Webhooks and media of calls over a balancer that does not keep them together.

import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import type { Routing } from '../engines/balancer.ts';
import { Ledger, pause } from '../ledger.ts';
import { LoadedCalls } from '../loaded-calls.ts';
import { metricOf } from '../metric.ts';

const CALLS = 40;
const TALK_MS = 8_000;

export const mediaRouting: readonly ClusterCase[] = [
  {
    name: 'round-robin',
    title: 'a media socket that lands at another gateway is passed on or adopted',
    needs: ALWAYS,
    run: (stage) => hold(stage, 'round-robin'),
  },
  {
    name: 'by-token',
    title: 'a media socket goes to the gateway that its token names',
    needs: ALWAYS,
    run: (stage) => hold(stage, 'token'),
  },
];

async function hold({ start, atEnd, findings }: Stage, routing: Routing): Promise<void> {
  const cluster = await start({ gateways: 2, routing });
  const ledger = new Ledger(cluster.database);
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  atEnd(() => calls.end());
  await pause(TALK_MS);
  const byOwner = await ledger.openByOwner();
  const elsewhere = await Promise.all(
    cluster.gateways.map(async (gateway) => metricOf(await gateway.metrics(), LANDED_ELSEWHERE)),
  );
  const summary = await calls.finish();
  findings.exactly('calls that talk', summary.calls - summary.dropped, CALLS);
  findings.exactly('lost frames', summary.lostFrames, 0);
  for (const { name } of cluster.gateways) {
    findings.note(`calls of ${name}`, byOwner.get(name)?.length ?? 0);
  }
  const landed = elsewhere.reduce((sum, each) => sum + each, 0);
  if (routing === 'token') findings.exactly('sockets that landed elsewhere', landed, 0);
  else findings.note('sockets that landed elsewhere', landed);
  findings.note('lateness p99 (ms)', summary.latenessP99Ms ?? 0);
}

/** Sockets that were adopted, or passed on. */
const LANDED_ELSEWHERE = /^patchbay_media_(adopted_total|spliced)\b/;
