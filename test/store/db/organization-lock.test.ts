// Changes of one organization that wait for its lock. Each that waited held a connection: more than the pool has kept the
// other organizations from theirs.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { type Ground, ground, newRun, otherOrganization } from '../runs/completed-runs.ts';

/** More than the pool has connections. */
const CHANGES = 15;

describe.runIf(engines().includes('server'))('changes that wait for their organization', () => {
  const at = withStore('server');
  afterEach(() => at.sql('commit'));

  const folder = ({ organizationId }: Ground, nth: number) =>
    at.store.folders.create(organizationId, `folder ${nth}`);

  const services = ({ organizationId }: Ground, nth: number) =>
    at.store.modelConfigurations.save({ organizationId, userId: null }, { nth });

  const defaultOutbound = ({ organizationId, configurationId }: Ground) =>
    at.store.telephony.setDefaultOutbound(organizationId, configurationId);

  const newDefault = ({ organizationId }: Ground, nth: number) =>
    at.store.telephony.createConfiguration(organizationId, {
      name: `line ${nth}`,
      provider: 'twilio',
      isDefaultOutbound: true,

      credentials: {},
      accountId: null,
      secretFields: [],
    });

  const idleStart = async (on: Ground) => {
    const { id: runId } = await at.store.starts.createIdle(newRun(on));
    const { workflowId, organizationId, configurationId } = on;
    const call = { organizationId, workflowId, configurationId, runId, mode: 'twilio' };
    return at.store.starts.startIdle(
      { ...call, initialContext: {}, gatheredContext: {} },
      undefined,
    );
  };

  it.each([
    { of: 'folders', change: folder },
    { of: 'speech services', change: services },
    { of: 'the default configuration', change: defaultOutbound },
    { of: 'new default configurations', change: newDefault },
    { of: 'starts of runs without a call', change: idleStart },
  ])(
    'hold one connection and no other organization up: $of',
    async ({ change }) => {
      const [own, other] = [await ground(at), await ground(at, await otherOrganization(at))];
      await at.sql('update organizations set concurrent_call_limit = 100');
      await at.sql('begin');
      await at.sql('select from organizations where id = $1 for no key update', [
        own.organizationId,
      ]);
      const changes = Array.from({ length: CHANGES }, (_, nth) => change(own, nth));
      const waiting = () => at.sql('select from pg_locks where not granted');
      await vi.waitFor(async () => expect((await waiting()).length).toBeGreaterThan(0));
      const theirs = change(other, 0).then(() => 'changed');
      const late = new Promise((resolve) => setTimeout(resolve, 3_000, 'held up'));
      expect(await Promise.race([theirs, late])).toBe('changed');
      expect(await waiting()).toHaveLength(1);
      await at.sql('commit');
      expect(await Promise.all(changes)).toHaveLength(CHANGES);
    },
    30_000,
  );
});
