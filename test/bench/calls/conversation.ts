// How fast a whole gateway answers and yields: the demo's two calls, held several times with real speech
// over the simulated provider, measured by the runs' own event logs.

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { ApiClient, type RunItem } from '../../demo/api-client.ts';
import { Gateway } from '../../demo/gateway.ts';
import { ProviderLink } from '../../demo/provider-link.ts';
import { holdInbound, holdOutbound, setUp } from '../../demo/two-calls.ts';
import { faultsOf } from '../../demo/verdict.ts';
import { freePort } from '../../fakes/free-port.ts';

const latencyItem = z.object({
  latency_seconds: z.number(),
  parts_ms: z.object({ endpointing: z.number(), gateway: z.number(), speech: z.number() }),
});
const interruptionItem = z.object({ silence_seconds: z.number() });

/** `rounds` of one call in and one call out at the same time. The machine needs the recogniser. */
export async function benchConversation(rounds: number): Promise<Record<string, number>> {
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-bench-'));
  const env = { OPENAI_BASE_URL: '', OPENAI_API_KEY: '' };
  const gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env,
  });
  const link = await ProviderLink.start(gateway.url, true);
  const items: RunItem[] = [];
  let faults = 0;
  try {
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    const agents = await setUp(api, link.apiUrl);
    const onLine = () => undefined;
    const means = { api, provider: link.provider, agents, recogniser: true, model: false, onLine };
    for (let round = 0; round < rounds; round++) {
      for (const call of await Promise.all([holdInbound(means), holdOutbound(means)])) {
        faults += faultsOf(call).length;
        items.push(...(call.run.logs?.realtime_feedback_events ?? []));
      }
    }
  } finally {
    link.provider.stop();
    await gateway.stop();
    rmSync(folder, { recursive: true, force: true });
  }
  return { faults, ...figuresOf(items) };
}

function figuresOf(items: readonly RunItem[]): Record<string, number> {
  const ofType = (wanted: string) =>
    items.filter(({ type }) => type === wanted).map(({ payload }) => payload);
  const answers = ofType('rtf-latency-measured').map((payload) => latencyItem.parse(payload));
  // Keys have no endpointing: spoken answers alone tell how fast the gateway is to talk to.
  const spoken = answers.filter(({ parts_ms: parts }) => parts.endpointing > 0);
  const silences = ofType('rtf-interruption').map((payload) => interruptionItem.parse(payload));
  return {
    answers: spoken.length,
    ...spread(
      'response (ms)',
      spoken.map(({ latency_seconds: seconds }) => seconds * 1_000),
    ),
    ...spread(
      'gateway alone (ms)',
      answers.map(({ parts_ms: { gateway } }) => gateway),
    ),
    ...spread(
      'endpointing (ms)',
      spoken.map(({ parts_ms: { endpointing } }) => endpointing),
    ),
    ...spread(
      'synthesis (ms)',
      answers.map(({ parts_ms: { speech } }) => speech),
    ),
    interruptions: silences.length,
    ...spread(
      'onset to silence (ms)',
      silences.map((each) => each.silence_seconds * 1_000),
    ),
  };
}

function spread(name: string, values: readonly number[]): Record<string, number> {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) =>
    sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { [`${name} p50`]: at(0.5), [`${name} p95`]: at(0.95) };
}
