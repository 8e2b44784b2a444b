// Faults of speech services that the end of a call clears, on both engines.
//
// Two calls of an organization ended at the same moment, with services that had recovered: each deleted one fault and
// waited for the other's, PostgreSQL ended one of them, and its run was completed ten seconds later.

import { describe, expect, it, vi } from 'vitest';
import type { ServiceName } from '../../../src/store/library/service-faults.ts';
import { engines } from '../databases.ts';
import { type TestStore, withStore } from '../engines.ts';
import { type Ground, ground, openRun, otherOrganization } from '../runs/completed-runs.ts';

const A: ServiceName = { job: 'llm', service: 'a' };
const B: ServiceName = { job: 'llm', service: 'b' };

async function met(at: TestStore, { organizationId }: Ground, services: readonly ServiceName[]) {
  for (const service of services) {
    const fault = { ...service, kind: 'auth', detail: '' };
    await at.store.serviceFaults.note({ organizationId, runId: '1' }, fault);
  }
}

const namesOf = async (at: TestStore, { organizationId }: Ground) =>
  (await at.store.serviceFaults.list(organizationId)).map(
    ({ job, service }) => `${job} ${service}`,
  );

describe.each(engines())('faults of services on the %s engine', (engine) => {
  const at = withStore(engine);

  it('are over for the services that worked in a call of their organization, and no others', async () => {
    const [own, other] = [await ground(at), await ground(at, await otherOrganization(at))];
    const all: ServiceName[] = [A, B, { job: 'tts', service: 'a' }];
    for (const on of [own, other]) await met(at, on, all);
    await openRun(at, other);
    const { id } = await openRun(at, own);
    await at.store.runs.patch(id, { state: 'completed', servicesWorked: [A] });
    expect(await namesOf(at, own)).toEqual(['llm b', 'tts a']);
    expect(await namesOf(at, other)).toEqual(['llm a', 'llm b', 'tts a']);
  });

  it.runIf(engine === 'server')(
    'never make two calls that end together wait for each other',
    async () => {
      const on = await ground(at);
      await met(at, on, [A, B]);
      const runs = [await openRun(at, on), await openRun(at, on)];
      const ends: Promise<unknown>[] = [];
      const end = (nth: number, servicesWorked: ServiceName[]) =>
        ends.push(at.store.runs.patch(runs[nth]?.id ?? '', { state: 'completed', servicesWorked }));
      const waiting = (count: number) =>
        vi.waitFor(async () =>
          expect(await at.sql('select from pg_locks where not granted')).toHaveLength(count),
        );
      await at.sql('begin');
      await at.sql("select from service_faults where service = 'a' for update");
      end(0, [A, B]);
      await waiting(1);
      end(1, [B, A]);
      await waiting(2);
      await at.sql('commit');
      await Promise.all(ends);
      expect(await namesOf(at, on)).toEqual([]);
    },
  );

  // Services that are saved have no faults any more: the same happened where that met the end of a call.
  it.runIf(engine === 'server')(
    'never make the end of a call and a new configuration wait for each other',
    async () => {
      const on = await ground(at);
      await met(at, on, [B, A]);
      const { id } = await openRun(at, on);
      const waiting = (count: number) =>
        vi.waitFor(async () =>
          expect(await at.sql('select from pg_locks where not granted')).toHaveLength(count),
        );
      await at.sql('begin');
      await at.sql("select from service_faults where service = 'a' for update");
      const ended = at.store.runs.patch(id, { state: 'completed', servicesWorked: [A, B] });
      await waiting(1);
      const cleared = at.store.serviceFaults.clear(on.organizationId);
      await waiting(2);
      await at.sql('commit');
      await Promise.all([ended, cleared]);
      expect(await namesOf(at, on)).toEqual([]);
    },
  );
});
