// The load tool's calls over each hosted provider's protocol, at the built gateway: nothing of what the agents say is
// lost, and the gateway sends no message that the provider would not take.

import { afterAll, beforeAll, expect, it } from 'vitest';
import { LoadClient } from '../load/caller/load-client.ts';
import type { LoadSummary } from '../load/figures/load-summary.ts';
import { loadOptionsOf, pause } from '../load/figures/measure.ts';
import { type LoadTarget, startOwnGateway, useGateway } from '../load/load-target.ts';
import { HOSTED } from '../load/wires/wire.ts';

const CALLS = 3;
/** Two seconds of every call. */
const FRAMES_MIN = CALLS * 100;
const POLL_MS = 200;
/** On a busy machine too. */
const HEARD_MS_MAX = 45_000;

let gateway: LoadTarget;

beforeAll(async () => {
  const options = { workers: 0, cores: undefined, isSignUpOpen: false };
  gateway = await startOwnGateway({ scenario: 'talk', ...options });
}, 90_000);

afterAll(async () => {
  await gateway?.stop();
}, 60_000);

it.each(HOSTED)(
  'holds calls of %s, to which every frame comes in order',
  async (provider) => {
    const target = await useGateway({
      url: new URL(gateway.webhookUrl).origin,
      apiKey: gateway.agent?.apiKey ?? '',

      pid: gateway.pid,
      provider,
      scenario: 'talk',
      providerHost: '127.0.0.1',
    });
    try {
      const lost = { lostFrames: 0, reorderedFrames: 0, unsentFrames: 0, faults: 0 };
      const summary = await held(target);
      expect(summary).toMatchObject({
        calls: CALLS,
        refused: 0,
        dropped: 0,
        failures: [],
        ...lost,
      });
      expect(summary?.markedFrames).toBeGreaterThanOrEqual(FRAMES_MIN);
    } finally {
      await target.stop();
    }
  },
  90_000,
);

/** What was heard of a few calls, once that is enough. */
async function held(target: LoadTarget): Promise<LoadSummary | undefined> {
  const client = new LoadClient();
  try {
    const options = loadOptionsOf(target, {
      scenario: 'talk',
      calls: CALLS,
      callsPerSecond: 20,
      interruptionsPerSecond: 1,

      leadMs: 80,
      cores: undefined,
      hostilePerSecond: 0,
    });
    let { markedFrames } = await client.ask({ order: 'place', options });
    for (let ms = 0; ms < HEARD_MS_MAX && markedFrames < FRAMES_MIN; ms += POLL_MS) {
      await pause(POLL_MS);
      markedFrames = (await client.ask({ order: 'measure' })).markedFrames;
    }
    return (await client.ask({ order: 'finish' })).summary;
  } finally {
    client.stop();
  }
}
