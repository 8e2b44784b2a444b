// The limit of an organization's calls over several processes that start them, of which some are killed: it is never
// exceeded, and the places of a killed process are free when it is declared dead.

import { type ChildProcess, fork } from 'node:child_process';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { entryPoint } from '../../../src/runtime/entry-point.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { databaseTime } from '../../../src/store/db/database-time.ts';
import { DeathWatch } from '../../../src/store/db/death-watch.ts';
import { SERVER_PACE } from '../../../src/store/db/presence-pace.ts';
import { machine } from '../../demo/machine-pace.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { ground } from './completed-runs.ts';

const LIMIT = 50;
const PROCESSES = 3;
const STARTS_PER_SECOND = 200;
const KILLS = 3;
const BETWEEN_KILLS_MS = 6_000;
/** From the kill to the last of its places. */
const FREE_MS_MAX = 12_000;
const CALM_MS = 16_000;

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe.runIf(engines().includes('server'))('the limit of calls over several processes', () => {
  const at = withStore('server');
  const folder = mkdtempSync(join(tmpdir(), 'patchbay-limit-'));
  const children: ChildProcess[] = [];
  afterAll(() => {
    for (const child of children) child.kill('SIGKILL');
    rmSync(folder, { recursive: true, force: true });
  });

  it('is never exceeded, and loses no place for longer than a death takes', async () => {
    const target = at.target();
    if (target.kind !== 'server') throw new Error('not on a server');
    at.clock.advance(Date.now() - at.clock.now());
    const on = await ground(at);
    await at.sql('update organizations set concurrent_call_limit = $1', [LIMIT]);
    const counts = new Map<string, { accepted: number; refused: number }>();

    const start = async (node: string): Promise<ChildProcess> => {
      const dataFolder = join(folder, node);
      mkdirSync(dataFolder);
      copyFileSync(join(at.dataFolder, 'secret.key'), join(dataFolder, 'secret.key'));
      const { path, execArgv } = entryPoint('./starting-process.ts', import.meta.url);
      const facts = [on.organizationId, on.workflowId, on.definitionId];
      const rate = String(STARTS_PER_SECOND / PROCESSES);
      const child = fork(path, [target.url, dataFolder, node, ...facts, rate], { execArgv });
      children.push(child);
      await new Promise<void>((resolve) => {
        child.on('message', (message: { ready?: true; accepted: number; refused: number }) => {
          if (message.ready === true) resolve();
          else counts.set(node, message);
        });
      });
      return child;
    };

    const { log } = quietLog();
    const db = openDatabase(target, { ready: () => Promise.resolve(), clock: systemClock, log });
    const means = { db, pace: SERVER_PACE, clock: systemClock, random: systemRandom, log };
    const own = { node: at.store.node, epoch: at.store.epoch };
    const watch = new DeathWatch({ ...means, ...own, time: databaseTime });
    let isOver = false;
    /** What another gateway does. */
    const recovering = (async () => {
      while (!isOver) {
        const { nextMs, hasDied } = await watch.look();
        const taken = hasDied ? await at.store.runs.takeOrphaned() : [];
        await Promise.all(taken.map(({ id }) => at.store.runs.patch(id, { state: 'completed' })));
        await pause(nextMs);
      }
    })();
    let most = 0;
    const counting = (async () => {
      const one = await import('pg').then(({ Client }) => new Client(target.url));
      await one.connect();
      while (!isOver) {
        const { rows } = await one.query<{ open: number }>(
          "select count(*)::int as open from runs where state <> 'completed' and not is_idle",
        );
        most = Math.max(most, rows[0]?.open ?? 0);
        await pause(5);
      }
      await one.end();
    })();

    for (let nth = 1; nth <= PROCESSES; nth += 1) await start(`p${nth}`);
    await pause(CALM_MS);
    const freeMs: Promise<number>[] = [];
    for (let kills = 0; kills < KILLS; kills += 1) {
      const victim = children[kills];
      victim?.kill('SIGKILL');
      freeMs.push(untilFree(`p${kills + 1}`));
      await start(`p${PROCESSES + kills + 1}`);
      await pause(BETWEEN_KILLS_MS);
    }
    const waits = await Promise.all(freeMs);
    isOver = true;
    await Promise.all([recovering, counting]);
    await db.destroy();
    process.stderr.write(`places free after ${waits.map(Math.round).join(', ')} ms\n`);
    expect(most).toBe(LIMIT);
    for (const ms of waits) expect(ms).toBeLessThanOrEqual(machine.scaled(FREE_MS_MAX));
    const all = [...counts.values()];
    expect(all.every(({ accepted, refused }) => accepted > 0 && refused > 0)).toBe(true);
  }, 240_000);

  async function untilFree(node: string): Promise<number> {
    const from = performance.now();
    const left = async () =>
      (await at.sql("select from runs where owner_node = $1 and state <> 'completed'", [node]))
        .length;
    while ((await left()) > 0) await pause(50);
    return performance.now() - from;
  }
});
