// PgBouncer with transaction pooling between the gateways and the database.

import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, pause } from '../ledger.ts';
import { LoadedCalls } from '../loaded-calls.ts';

const CALLS = 20;
const TALK_MS = 5_000;
const CLOSED_MS_MAX = 15_000;

export const pooled: readonly ClusterCase[] = [
  {
    name: 'pgbouncer',
    title: 'gateways work over PgBouncer with transaction pooling',
    needs: [...ALWAYS, 'pgbouncer'],
    run: hold,
  },
];

async function hold({ start, atEnd, findings }: Stage): Promise<void> {
  const cluster = await start({ gateways: 2, isPooled: true });
  const ledger = new Ledger(cluster.database);
  const calls = await LoadedCalls.up(cluster, ledger, { calls: CALLS, callsPerSecond: 10 });
  atEnd(() => calls.end());
  await pause(TALK_MS);
  const open = (await ledger.open()).map(({ id }) => id);
  const { refused, dropped, lostFrames } = await calls.finish();
  findings.exactly('calls refused or broken off', refused + dropped, 0);
  findings.exactly('lost frames', lostFrames, 0);
  findings.atMost(
    'hang-up to closed runs (ms)',
    await ledger.msUntilClosed(open, CLOSED_MS_MAX),
    CLOSED_MS_MAX,
  );
  const sessions = await cluster.database.query<{ count: string }>(
    `select count(*) from pg_stat_activity where backend_type = 'client backend'`,
  );
  findings.atMost('sessions at the database', Number(sessions[0]?.count), 21);
}
