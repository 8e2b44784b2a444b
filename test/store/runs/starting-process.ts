// A process that starts calls of one organization at a fixed rate, and ends each after a moment: for
// limit-over-processes.test.ts. Arguments: database, data folder, node, organization, agent, version, starts a second.
// Messages: how many were accepted and refused.

import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openStore } from '../../../src/store/open.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const [databaseUrl = '', dataFolder = '', node = '', ...more] = process.argv.slice(2);
const [organizationId = '', workflowId = '', definitionId = '', perSecond = ''] = more;
/** Length of a call: a limit of 50 is reached at 200 starts a second. */
const CALL_MS = { shortest: 200, longer: 400 };

const store = await openStore({
  databaseUrl,
  dataFolder,
  node,
  callLimit: 10,
  secrets: { keys: undefined },
  clock: systemClock,
  random: systemRandom,
  log: quietLog().log,
});
const counts = { accepted: 0, refused: 0 };

async function call(): Promise<void> {
  const facts = { initialContext: {}, gatheredContext: {}, logs: {} };
  const kind = { mode: 'twilio', callType: 'outbound', providerCallId: null } as const;
  const of = { organizationId, workflowId, definitionId, configurationId: null };
  try {
    const { run } = await store.starts.start({ ...of, ...kind, ...facts, name: 'n' }, undefined);
    counts.accepted += 1;
    const ms = CALL_MS.shortest + systemRandom.integer(CALL_MS.longer);
    await new Promise<void>((resolve) => systemClock.after(ms, resolve));
    await store.runs.patch(run.id, { state: 'completed', disposition: 'x', hasAfterwork: false });
  } catch (error) {
    if (codeOf(error) !== 'CALL_LIMIT_REACHED') throw error;
    counts.refused += 1;
  }
}

process.send?.({ ready: true });
for (let nth = 1, fromMs = systemClock.monotonicMs(); ; nth += 1) {
  void call();
  if (nth % 20 === 0) process.send?.(counts);
  const dueMs = fromMs + (nth * 1_000) / Number(perSecond);
  const waitMs = Math.max(0, dueMs - systemClock.monotonicMs());
  await new Promise<void>((resolve) => systemClock.after(waitMs, resolve));
}
