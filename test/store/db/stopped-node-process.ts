// A node with two calls for stopped-node.test.ts to stop: says something in each of them again and again. Arguments:
// database, data folder, organization, agent, version. Messages: what the store refused, and its epochs.

import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openStore } from '../../../src/store/open.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const [databaseUrl = '', dataFolder = '', organizationId = '', workflowId = '', definitionId = ''] =
  process.argv.slice(2);
const store = await openStore({
  databaseUrl,
  dataFolder,
  node: 'stopped',
  callLimit: 10,

  secrets: { keys: undefined },
  clock: systemClock,
  random: systemRandom,
  log: quietLog().log,
});
store.onReentered = () => process.send?.({ kind: 'reentered' });
const runIds: string[] = [];
for (const name of ['one', 'two']) {
  const { run } = await store.runs.create({
    organizationId,
    workflowId,
    definitionId,
    configurationId: null,
    name,

    mode: 'twilio',
    callType: 'inbound',
    providerCallId: null,

    initialContext: {},
    gatheredContext: {},
    logs: {},
  });
  await store.runs.patch(run.id, { state: 'running' });
  runIds.push(run.id);
}
process.send?.({ kind: 'talking', runIds });
for (let seq = 1; ; seq++) {
  const body = { type: 'bot.text', text: 'Hi' } as never; // Nobody reads it.
  const events = runIds.map((runId) => ({ runId, seq, at: systemClock.now(), mediaMs: 0, body }));
  const refused = await store.runs.appendEvents(events);
  if (refused.length > 0) {
    const patched = [];
    for (const id of runIds) {
      const run = await store.runs.patch(id, {
        annotations: { late: true },
        recordingKey: `r${id}`,
      });
      patched.push(run?.id);
    }
    const taken = await store.runs.taken(runIds);
    process.send?.({ kind: 'refused', refused, patched, taken, seq });
  }
  await new Promise((resolve) => systemClock.after(50, () => resolve(undefined)));
}
