// A node that is suspended for so long that another declares it dead (a stopped virtual machine, SIGSTOP), and resumes:
// it has lost the calls that the other took meanwhile, and no more than these.

import { type ChildProcess, fork } from 'node:child_process';
import { copyFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { entryPoint } from '../../../src/runtime/entry-point.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { ground } from '../runs/completed-runs.ts';

const POLL = { timeout: 20_000, interval: 50 };

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
    at.clock.advance(Date.now() - at.clock.now());
    expect((await at.store.runs.openRuns()).map(({ id }) => id)).toEqual([lost]);
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
    expect(await at.store.runs.openRuns()).toEqual([]);
    expect(child.exitCode).toBeNull();
  }, 60_000);
});
