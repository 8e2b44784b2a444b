// The embedded database on a disk that runs full and is freed again: nothing that was acknowledged is lost,
// and it works again by itself. Needs a tmpfs, and so root; elsewhere it is skipped and says so.

import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { CallEvent } from '../../../src/model/call-event.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openStore, type StoreHandle } from '../../../src/store/open.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { TEST_CACHE } from '../databases.ts';

/** A new database takes about 50 MB. */
const DISK = 'size=160m';
const FILL_BYTES = 1 << 20;
const RECOVERY_MS = 60_000;
const folder = mkdtempSync(join(tmpdir(), 'patchbay-full-'));

function mount(): void {
  execFileSync('/bin/mount', ['-t', 'tmpfs', '-o', DISK, 'tmpfs', folder], { stdio: 'ignore' });
}

function mayMount(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false;
  try {
    mount();
    execFileSync('/bin/umount', [folder]);
    return true;
  } catch {
    return false;
  }
}

const isPossible = mayMount();
if (!isPossible) process.stderr.write('No tmpfs can be mounted: the full disk is not tested.\n');

describe.runIf(isPossible)('the embedded database on a full disk', () => {
  let store: StoreHandle;
  let runId: string;

  beforeAll(async () => {
    mount();
    store = await openStore({
      dataFolder: folder,
      databaseUrl: undefined,
      secrets: { keys: undefined },
      callLimit: 10,
      clock: systemClock,
      random: systemRandom,
      log: quietLog().log,
      cacheFolder: TEST_CACHE,
    });
    runId = await newRun(store);
  }, 60_000);

  afterAll(async () => {
    await store?.close();
    execFileSync('/bin/umount', ['-l', folder]);
    rmSync(folder, { recursive: true, force: true });
  }, 30_000);

  it(
    'refuses with a code, keeps what it acknowledged, and goes on when there is room again',
    async () => {
      await store.runs.appendEvents([event(runId, 1)]);
      const filler = join(folder, 'filler');
      writeFileSync(filler, Buffer.alloc(Math.max(0, freeBytes() - FILL_BYTES)));
      let stored = 1;
      let refusal: unknown;
      while (refusal === undefined) {
        const batch = Array.from({ length: 200 }, (_, i) => event(runId, stored + i + 1));
        await store.runs.appendEvents(batch).then(
          () => {
            stored += batch.length;
          },
          (error: unknown) => {
            refusal = error;
          },
        );
      }
      expect(['STORE_FULL', 'STORE_UNAVAILABLE']).toContain(codeOf(refusal));

      rmSync(filler);
      const deadline = performance.now() + RECOVERY_MS;
      let works = false;
      while (!works && performance.now() < deadline) {
        works = await store.runs.appendEvents([event(runId, stored + 1)]).then(
          () => true,
          () => false,
        );
      }
      expect(works).toBe(true);
      const events = await store.runs.events(runId);
      expect(events.slice(0, stored).map(({ seq }) => seq)).toEqual(
        Array.from({ length: stored }, (_, i) => i + 1),
      );
    },
    RECOVERY_MS + 60_000,
  );
});

function freeBytes(): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}

async function newRun(at: StoreHandle): Promise<string> {
  const first = await at.accounts.ensureFirst();
  const owner = await at.accounts.authenticate(first?.apiKey ?? '');
  if (owner === undefined) throw new Error('the store is not empty');
  const { workflow, version } = await at.workflows.create(owner, {
    name: 'Desk',
    triggerPaths: [],
    definition: { nodes: [], edges: [] },
    configurations: {},
    templateContextVariables: {},
  });
  const configuration = await at.telephony.createConfiguration(owner.organizationId, {
    name: 'Main',
    provider: 'twilio',
    isDefaultOutbound: true,
    credentials: {},
    accountId: 'AC1',
    secretFields: [],
  });
  const { run } = await at.runs.create(
    {
      organizationId: owner.organizationId,
      workflowId: workflow.id,
      definitionId: version.id,
      configurationId: configuration.id,
      name: 'WR-API-0001',
      mode: 'twilio',
      callType: 'outbound',
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    },
    10,
  );
  return run.id;
}

function event(runId: string, seq: number): CallEvent {
  const text = 'a word and another '.repeat(50);
  return { runId, seq, at: 0, mediaMs: 0, body: { type: 'user.backchannel', text } };
}
