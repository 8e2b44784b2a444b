// How a campaign's call is placed, and what becomes of it where the provider, the store or we ourselves
// give no clear word. What the dispatcher makes of it is its own test's business.

import { beforeEach, describe, expect, it } from 'vitest';
import type { CampaignLine } from '../../src/call/campaign-call.ts';
import { outcomeOf } from '../../src/campaign/outcome.ts';
import { GatewayError } from '../../src/errors.ts';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import type { Run } from '../../src/model/run.ts';
import type { Claim } from '../../src/store/contact-store.ts';
import { rows } from '../store/dial-queue.ts';
import type { Answer } from '../telephony/rest-server.ts';
import { CALL, twilioAnswers, withCallRoom } from './call-room.ts';

const held = withCallRoom();
let line: CampaignLine;
let claims: Claim[];

const calls = () => held.room.switchboard.campaignCalls;
const store = () => held.room.at.store;

beforeEach(async () => {
  const { at, workflow } = await held.room.prepare();
  await held.room.addNumber('+14155550102');
  const { organizationId } = at.owner;
  const campaign = await store().campaigns.create(organizationId, {
    name: 'c',
    workflowId: workflow.id,
    sourceId: `campaigns/${organizationId}/a.csv`,
    configurationId: null,
    retry: RETRY_DEFAULT,
    maxConcurrency: null,
    schedule: null,
    breaker: null,
    ratePerSecond: 1_000,
  });
  await store().contacts.add(campaign.id, rows(4));
  await at.sql("update campaigns set state = 'running'");
  line = await calls().line(campaign);
  claims = await store().contacts.claim(campaign.id, {
    count: 4,
    openMax: 4,
    ratePerSecond: 1_000,
    configuration: line.configuration,
    horizonMs: 1_000,
    leaseMs: 30_000,
  });
});

async function begun(claim = claims[0]): Promise<{ claim: Claim; run: Run }> {
  if (claim === undefined) throw new Error('nobody is due');
  const run = await store().contacts.begin(
    claim.attemptId,
    calls().runOf(line, claim, 'csv_0'),
    10,
  );
  if (run === undefined) throw new Error('not begun');
  return { claim, run };
}

/** Dials once; looks at the provider pass at once. */
async function place(answer: Answer, listed: string[] = []) {
  held.room.rest.answer = (asked) => {
    if (asked.method === 'POST' && asked.path.endsWith('/Calls.json')) return answer;
    if (!asked.path.includes('/Calls.json?')) return twilioAnswers(asked);
    const dateCreated = 'Thu, 15 Jan 2026 09:00:00 +0000';
    return {
      status: 200,
      body: { calls: listed.map((sid) => ({ sid, status: 'ringing', date_created: dateCreated })) },
    };
  };
  const { claim, run } = await begun();
  let placed: string | undefined;
  void calls()
    .place(line, claim, run)
    .then((result) => {
      placed = result;
    });
  await held.room.passThrough(() => placed !== undefined);
  return { placed, claim, run: await held.room.run(run.id) };
}

/** As the dispatcher sees it. */
async function outcome(): Promise<string | undefined> {
  const [open] = await store().contacts.settleable();
  return open && outcomeOf(open);
}

const taken = { status: 201, body: { sid: CALL, status: 'queued' } };
const sentDials = () => held.room.dials.filter(({ method }) => method === 'POST');

describe('a call of a campaign', () => {
  it('is placed with caller ids in turn, and its run says whose it is', async () => {
    const made: Run[] = [];
    for (const claim of claims) made.push((await begun(claim)).run);
    const callers = made.map(({ initialContext }) => initialContext['caller_number']);
    expect(callers[1]).not.toBe(callers[0]);
    expect(callers.slice(2)).toEqual(callers.slice(0, 2));
    expect(made[0]?.initialContext).toMatchObject({
      name: 'n0',
      campaign_id: line.campaign.id,
      source_uuid: 'csv_0_row_2',
      called_number: '+14152000000',
      direction: 'outbound',
    });
  });

  it('is put off where the provider has no room', async () => {
    const { placed, run } = await place({ status: 429, body: { code: 20_429 } });
    expect(placed).toBe('put-off');
    expect(run.state).toBe('initialized');
  });

  it('is closed with an outcome where the provider refuses it', async () => {
    const { placed, run } = await place({ status: 400, body: { code: 21_211 } });
    expect([placed, run.state]).toEqual(['closed', 'completed']);
    expect(sentDials()).toHaveLength(1);
  });

  it('is found at the provider where its answer was lost, and not dialled again', async () => {
    const { placed, run } = await place('reset', [CALL]);
    expect([placed, run.providerCallId]).toEqual(['placed', CALL]);
    expect(sentDials()).toHaveLength(1);
  });

  it('counts as failed where nobody knows of it, and is not dialled again', async () => {
    const { placed } = await place('reset');
    expect(placed).toBe('closed');
    expect(await outcome()).toBe('unknown');
    expect(sentDials()).toHaveLength(1);
  });

  it('is placed although the store is away when the provider takes it', async () => {
    const { runs } = held.room.deps.store;
    const away = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    Object.assign(runs, { patch: away, events: away, find: away });
    const { placed } = await place(taken);
    expect(placed).toBe('placed');
    expect(sentDials()).toHaveLength(1);
  });

  it('that still rings when the gateway stops is looked up by the next one, and hung up', async () => {
    const { run } = await place(taken);
    await held.room.switchboard.drain(0);
    expect(await outcome()).toBe('look-up');
    expect(await calls().fateOf(run)).toBe('completed');
    expect(held.room.hangUps).toHaveLength(1);
  });

  it('that a client hangs up while it rings is not made again', async () => {
    const { run } = await place(taken);
    await held.room.switchboard.hangUp({ organizationId: run.organizationId, runId: run.id });
    await held.room.completed(run);
    expect(await outcome()).toBe('canceled');
  });
});
