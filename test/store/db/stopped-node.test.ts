// A node that is suspended for so long that another declares it dead (a stopped virtual machine, SIGSTOP), and resumes:
// it has lost the calls that the other took meanwhile, and no more than these.

import { type ChildProcess, fork } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { entryPoint } from '../../../src/runtime/entry-point.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { type DatabaseTarget, openDatabase } from '../../../src/store/db/connections.ts';
import { databaseTime } from '../../../src/store/db/database-time.ts';
import { DeathWatch } from '../../../src/store/db/death-watch.ts';
import { SERVER_PACE } from '../../../src/store/db/presence-pace.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { ground } from '../runs/completed-runs.ts';

const POLL = { timeout: 20_000, interval: 50 };

/** Looks for dead processes for as long as it takes to be sure. */
async function declareDead(target: DatabaseTarget): Promise<void> {
  const [clock, { log }] = [new FakeClock(), quietLog()];
  const db = openDatabase(target, { ready: () => Promise.resolve(), clock: systemClock, log });
  const identity = { node: 'watch', epoch: '1', random: systemRandom };
  const watch = new DeathWatch({
    ...identity,
    db,
    clock,
    log,
    pace: SERVER_PACE,
    time: databaseTime,
  });
  for (let looks = 0; looks < 9; looks += 1) {
    await watch.look();
    clock.advance(2_000);
  }
  await db.destroy();
}

describe.runIf(engines().includes('server'))('a node that was suspended', () => {
  const at = withStore('server');
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-stopped-'));
  let child: ChildProcess | undefined;
  afterAll(() => {
    child?.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('ends the calls that another has taken, and goes on with the others under a new epoch', async () => {
    const target = at.target();
    if (target.kind !== 'server') throw new Error('not on a server');
    const on = await ground(at);
    const messages: Record<string, unknown>[] = [];
    const said = (kind: string) => messages.find((message) => message['kind'] === kind);
    const { path, execArgv } = entryPoint('./stopped-node-process.ts', import.meta.url);
    // Nodes that share a database have the same keys.
    copyFileSync(join(at.dataFolder, 'secret.key'), join(folder, 'secret.key'));
    const facts = [target.url, folder, on.organizationId, on.workflowId, on.definitionId];
    child = fork(path, facts, { execArgv });
    child.on('message', (message: Record<string, unknown>) => void messages.push(message));
    await expect.poll(() => said('talking'), POLL).toBeDefined();
    const [lost = '', kept = ''] = (said('talking')?.['runIds'] ?? []) as string[];
    const seqs = async (runId: string): Promise<number> =>
      Number(
        (await at.sql('select max(seq) from run_events where run_id = $1', [runId]))[0]?.['max'],
      );
    await expect.poll(() => seqs(kept), POLL).toBeGreaterThan(2);

    child.kill('SIGSTOP');
    // As if a minute had passed; the second run is in other hands at that moment.
    await at.sql(
      `update nodes set seen_at = seen_at - interval '61 seconds' where name = 'stopped'`,
    );
    await at.sql('begin');
    await at.sql('select from runs where id = $1 for update', [kept]);
    await declareDead(target);
    expect((await at.store.runs.takeOrphaned()).map(({ id }) => id)).toEqual([lost]);
    await at.sql('commit');
    const [stopped] = await at.sql(
      `select count(*)::int as nodes from nodes where name = 'stopped'`,
    );
    expect(stopped).toEqual({ nodes: 0 });
    const ended = await at.store.runs.patch(lost, { state: 'completed', disposition: 'error' });
    expect(ended?.state).toBe('completed');
    const lostSeq = await seqs(lost);
    const keptSeq = await seqs(kept);

    child.kill('SIGCONT');
    await expect.poll(() => said('reentered'), POLL).toBeDefined();
    await expect
      .poll(() => said('refused'), POLL)
      .toMatchObject({
        refused: [lost],
        patched: [null, kept],
        taken: [lost],
      });
    await expect.poll(() => seqs(kept), POLL).toBeGreaterThan(keptSeq + 2);
    // Of the other nothing is stored but what this node alone has.
    expect(await seqs(lost)).toBe(lostSeq);
    expect(await at.store.runs.find(lost)).toMatchObject({
      annotations: {},
      recordingKey: `r${lost}`,
      disposition: 'error',
    });
    // It lives: nobody takes the call that it has kept.
    expect(await at.store.runs.takeOrphaned()).toEqual([]);
    expect(child.exitCode).toBeNull();
  }, 60_000);
});
