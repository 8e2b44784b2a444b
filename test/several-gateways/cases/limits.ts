// The limit of calls, held by several gateways together, as the provider counts them.

import { OpenLoopStarts } from '../../load/outbound/open-loop-starts.ts';
import type { Lot } from '../../trial/fate.ts';
import { mostAtOnce } from '../../trial/judge.ts';
import { SimulatedCallees } from '../../trial/simulated-callees.ts';
import { ALWAYS, type ClusterCase, type Stage } from '../cluster-case.ts';
import { Ledger, pause } from '../ledger.ts';

const LIMIT = 50;
const GATEWAYS = 4;
const STARTS_PER_SECOND = 200;
const SECONDS = 12;
const CLOSED_MS_MAX = 120_000;
/** Every call is answered and talks: the provider's calls are the gateways' then. */
const LOT: Lot = {
  fate: 'answered',
  reply: 'created',
  news: 'in-order',
  ringMs: 1_000,
  talkMs: 4_000,
  listedAfterMs: 0,
};
const REFUSAL_CHARACTERS_MAX = 160;
const CALLER = '+14155550100';
const ACCOUNT = { accountSid: `AC${'7'.repeat(32)}`, authToken: 'limit-token' };

export const limits: readonly ClusterCase[] = [
  {
    name: 'limit',
    title: '4 gateways never have 51 calls of 50, also while Redis is killed',
    needs: ALWAYS,
    run: overrun,
  },
];

async function overrun({ start, atEnd, findings }: Stage): Promise<void> {
  const cluster = await start({
    gateways: GATEWAYS,
    env: { PATCHBAY_CALL_LIMIT: String(LIMIT) },
  });
  const callees = new SimulatedCallees({
    ...ACCOUNT,
    numbers: [CALLER],
    seed: 'limit',
    lotOf: () => LOT,
  });
  const providerUrl = await callees.listen();
  atEnd(() => callees.close());
  const api = cluster.api(1);
  const configurationId = await api.createConfiguration('limit', {
    provider: 'twilio',
    ['account_sid']: ACCOUNT.accountSid,
    ['auth_token']: ACCOUNT.authToken,
    ['api_base_url']: providerUrl,
  });
  await api.addNumber(configurationId, { address: CALLER, is_default_caller_id: true });
  const { uuid: agentUuid } = await api.createWorkflow('limit', AGENT);
  const starts = cluster.gateways.map(
    ({ url }) =>
      new OpenLoopStarts({
        url,
        apiKey: cluster.apiKey,
        agentUuid,
        configurationId,
        perSecond: STARTS_PER_SECOND / GATEWAYS,
      }),
  );
  for (const each of starts) each.measure();
  await pause((SECONDS / 2) * 1_000);
  await cluster.redis.kill();
  await pause((SECONDS / 2) * 1_000);
  const figures = await Promise.all(starts.map((each) => each.finish()));
  const most = mostAtOnce(callees.calls.values());
  findings.note('calls that were placed', callees.calls.size);
  findings.note(
    'starts',
    figures.reduce((sum, { starts: count }) => sum + count, 0),
  );
  findings.atLeast('most at once', most, LIMIT / 2);
  findings.exactly('calls above the limit', Math.max(0, most - LIMIT), 0);
  const refusals = new Set(figures.flatMap(({ startFailures }) => startFailures));
  for (const refusal of refusals)
    findings.note('refused by', refusal.slice(0, REFUSAL_CHARACTERS_MAX));
  const ledger = new Ledger(cluster.database);
  const open = (await ledger.open()).map(({ id }) => id);
  findings.note('runs open at the end', open.length);
  const closedMs = await ledger.msUntilClosed(open, CLOSED_MS_MAX);
  findings.note('then all are closed after (ms)', closedMs);
  findings.note('runs still open', (await ledger.open()).length);
}

const position = { x: 0, y: 0 };
const AGENT = {
  nodes: [
    { id: '1', type: 'startCall', position, data: { name: 'A', prompt: 'Hi', greeting: 'Hello.' } },
    { id: '2', type: 'endCall', position, data: { name: 'B', prompt: 'Bye' } },
  ],
  edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
};
