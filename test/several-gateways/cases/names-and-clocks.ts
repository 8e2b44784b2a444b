// Gateways whose names or clocks are wrong.

import { pathToFileURL } from 'node:url';
import { Bystanders } from '../bystanders.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, pause } from '../ledger.ts';
import { LoadedCalls } from '../loaded-calls.ts';

const CALLS = 20;
const SKEW_MS = 120_000;
/** Longer than two looks for dead gateways. */
const WATCH_MS = 35_000;

export const namesAndClocks: readonly ClusterCase[] = [
  {
    name: 'clock-ahead',
    title: "nothing happens because a gateway's clock is 120 s ahead",
    needs: ALWAYS,
    run: skew,
  },
  {
    name: 'equal-names',
    title: 'a second gateway of the same name refuses to start',
    needs: ALWAYS,
    run: equalNames,
  },
];

async function skew(stage: Stage): Promise<void> {
  const { findings } = stage;
  const preload = pathToFileURL('test/e2e/skewed-clock.mjs').href;
  const skewed = { NODE_OPTIONS: `--import ${preload}`, SKEW_MS: String(SKEW_MS) };
  const cluster = await stage.start({
    gateways: 2,
    envOf: (number) => (number === 2 ? skewed : {}),
  });
  const ledger = new Ledger(cluster.database);
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  stage.atEnd(() => calls.end());
  const bystanders = await Bystanders.of(ledger);
  findings.exactly('calls that are up', bystanders.count, CALLS);
  await pause(WATCH_MS);
  await bystanders.check(findings);
  findings.exactly('calls broken off', (await calls.finish()).dropped, 0);
  cluster.balancer.configure(cluster.gateways, 'round-robin');
  const former = await cluster.balancer.reload();
  await former?.end('SIGKILL');
  await cluster.untilBalanced();
  const crossed = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  stage.atEnd(() => crossed.end());
  const { refused, dropped } = await crossed.finish();
  findings.exactly('calls lost whose media land at the other clock', refused + dropped, 0);
}

async function equalNames(stage: Stage): Promise<void> {
  const { findings } = stage;
  const cluster = await stage.start({ gateways: 1 });
  const ledger = new Ledger(cluster.database);
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  stage.atEnd(() => calls.end());
  const bystanders = await Bystanders.of(ledger);
  const second = await cluster.addGateway();
  const hasStarted = await second.start({ env: { PATCHBAY_NODE: 'gw1' } }).then(
    () => true,
    () => false,
  );
  findings.works('it refuses to start', !hasStarted);
  findings.works('and says why', second.log.includes('NODE_NAME_TAKEN'));
  await bystanders.check(findings);
  findings.exactly('calls broken off', (await calls.finish()).dropped, 0);
}
