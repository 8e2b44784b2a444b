// Gateways that are stopped and started again one after the other while calls come in: for maintenance, for the next
// version and back, and for other keys.

import type { GatewayOptions } from '../../demo/gateway.ts';
import type { GatewayCluster } from '../cluster.ts';
import { SECRET_KEY } from '../cluster.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger } from '../ledger.ts';
import { LoadedCalls } from '../loaded-calls.ts';

/** More than the balancer needs to notice. */
const DRAINS = { PATCHBAY_DRAIN_GRACE_SECONDS: '3', PATCHBAY_DRAIN_SECONDS: '60' };
const LINES = 12;
const CALL_SECONDS = 4;
const NEW_KEY = '7e'.repeat(32);

export const rolling: readonly ClusterCase[] = [
  {
    name: 'stop',
    title: 'a gateway that is stopped under load refuses no call and cuts none off',
    needs: ALWAYS,
    run: (stage) => roll(stage, { rounds: [{}], seconds: 45 }),
  },
  {
    name: 'roll',
    title: 'all gateways go to the next version and back without a lost call',
    needs: ALWAYS,
    run: (stage) => roll(stage, { rounds: [nextOf(stage), backOf(stage)], seconds: 110 }),
  },
  {
    name: 'keys',
    title: 'keys are rotated in three phases without a lost call',
    needs: ALWAYS,
    run: (stage) => roll(stage, { rounds: KEY_PHASES, seconds: 150 }),
  },
];

type Round = Pick<GatewayOptions, 'env' | 'checkout'>;

function nextOf({ next }: Stage): Round {
  return next === undefined ? {} : { checkout: next };
}

function backOf({ build, next }: Stage): Round {
  return next === undefined ? {} : { checkout: build ?? process.cwd() };
}

/** Both keys are read in the first two phases; the first of them seals. */
const KEY_PHASES: readonly Round[] = [
  `${SECRET_KEY},${NEW_KEY}`,
  `${NEW_KEY},${SECRET_KEY}`,
  NEW_KEY,
].map((keys) => ({ env: { PATCHBAY_SECRET_KEYS: keys } }));

/** In each round every gateway is drained and started with the round's changes, one after the other. */
async function roll(
  stage: Stage,
  { rounds, seconds }: { rounds: readonly Round[]; seconds: number },
): Promise<void> {
  const { findings } = stage;
  const cluster = await stage.start({ gateways: 2, env: DRAINS });
  const ledger = new Ledger(cluster.database);
  const total = Math.ceil((seconds / CALL_SECONDS) * LINES);
  const calls = await LoadedCalls.series(cluster, {
    total,
    lines: LINES,
    callSeconds: CALL_SECONDS,
  });
  stage.atEnd(() => calls.end());
  const sinceMs = performance.now();
  for (const [index, round] of rounds.entries())
    await change(cluster, round, (name) => stage.say(`round ${index + 1}: ${name}`));
  findings.note('rounds took (s)', (performance.now() - sinceMs) / 1_000);
  await calls.placed();
  const { calls: taken, refused, dropped, lostFrames } = await calls.finish();
  findings.note('calls', taken);
  findings.exactly('calls refused', refused, 0);
  findings.exactly('calls cut off', dropped, 0);
  findings.exactly('lost frames', lostFrames, 0);
  await ledger.msUntilClosed(
    (await ledger.open()).map(({ id }) => id),
    15_000,
  );
  findings.exactly('runs left open', (await ledger.open()).length, 0);
}

async function change(
  cluster: GatewayCluster,
  round: Round,
  say: (name: string) => void,
): Promise<void> {
  for (const gateway of cluster.gateways) {
    say(gateway.name);
    if ((await gateway.stop()) !== 0) throw new Error(`${gateway.name} did not stop by itself`);
    await gateway.start(round);
    await cluster.untilBalanced();
  }
}
