// The order in which a new campaign is refused, and what its state allows. Source: contract §9.1 to §9.3, §9.8. What its
// schema refuses is in request-rules/refusals.test.ts, other faults of a new campaign in campaign-routes.test.ts.

import { beforeEach, describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';
import { type CampaignHarness, campaignHarness } from './campaign-harness.ts';

const served = withApi();
const { ok } = served;
let harness: CampaignHarness;
let id = '';

beforeEach(async () => {
  harness = await campaignHarness(served);
  await harness.telephony('pbx');
  id = (await harness.create()).id;
});

const become = (state: string) => served.test.sql('update campaigns set state = $1', [state]);
const create = async (more: Record<string, unknown> = {}) =>
  harness.refusal('POST', '/campaign/create', await harness.body(more));
const change = (body: unknown) => harness.refusal('PATCH', `/campaign/${id}`, body);

describe('a new campaign of an agent that cannot lead a call', () => {
  it('is refused with what /validate says of it, and nothing is made', async () => {
    await served.test.sql(
      `update workflow_versions set definition = jsonb_set(definition::jsonb, '{edges}',
        '[{"id":"x","source":"nowhere","target":"1","data":{"label":"a","condition":"b"}}]')::json`,
    );
    const [, told] = await harness.refusal('POST', `/workflow/${harness.workflowId}/validate`);
    expect(told).toMatchObject({ errors: expect.arrayContaining([expect.anything()]) });
    expect(await create()).toEqual([422, told]);
    expect((await ok('GET', '/campaign')).campaigns.map((each: { id: string }) => each.id)).toEqual(
      [id],
    );
  });
});

describe('a new campaign with everything wrong', () => {
  it('is refused with the first reason in the order of the contract', async () => {
    const own = served.test.owner.organizationId;
    const wish: Record<string, unknown> = {
      workflow_id: '999999',
      source_id: 'a.csv',
      telephony_configuration_id: '999999',
      max_concurrency: 11,
    };
    const next = async (change: Record<string, unknown> = {}) =>
      create(Object.assign(wish, change));
    expect((await next({ name: '' }))[0]).toBe(422);
    expect(await next({ name: 'x' })).toEqual([404, 'Workflow not found']);
    expect(await next({ workflow_id: harness.workflowId })).toEqual([
      400,
      expect.stringMatching(/^Invalid key format: source_id /),
    ]);
    expect((await next({ source_id: `campaigns/${own}/none.csv` }))[1]).toMatch(
      /^Failed to access/,
    );
    expect((await next({ source_id: await harness.upload('phone_number\n+1415\n') }))[1]).toMatch(
      /^Workflow uses template variables/,
    );
    const good = await harness.upload('phone_number,name\n+14155550100,Ana\n');
    expect(await next({ source_id: good })).toEqual([400, 'telephony_configuration_not_found']);
    const [status, detail] = await next({ telephony_configuration_id: null });
    expect([status, detail]).toEqual([400, expect.stringMatching(/^max_concurrency \(11\)/)]);
    expect((await next({ max_concurrency: 10 }))[0]).toBe(200);
  });
});

describe('what is done to a campaign', () => {
  const states = ['created', 'syncing', 'running', 'paused', 'completed', 'failed'];
  const moves: [string, string, string[]][] = [
    ['start', "'created'", ['created']],
    ['pause', "'running' or 'syncing'", ['running', 'syncing']],
    ['resume', "'paused'", ['paused']],
    ['redial', "'completed'", []],
  ];

  it.each(moves)('%s needs the state %s, whichever it has', async (move, wanted, allowed) => {
    for (const state of states.filter((each) => !allowed.includes(each))) {
      if (move === 'redial' && state === 'completed') continue;
      await become(state);
      const body = move === 'redial' ? {} : undefined;
      expect(await harness.refusal('POST', `/campaign/${id}/${move}`, body)).toEqual([
        400,
        `Campaign must be in ${wanted} state to ${move}, current state: ${state}`,
      ]);
      expect((await ok('GET', `/campaign/${id}`)).state).toBe(state);
    }
    for (const state of allowed) {
      await become(state);
      expect((await ok('POST', `/campaign/${id}/${move}`)).id).toBe(id);
    }
  });

  it('is a change: in every state but those that end it', async () => {
    for (const state of states) {
      await become(state);
      const isOver = state === 'completed' || state === 'failed';
      const [status, detail] = await change({ name: state });
      expect([status, detail]).toEqual(
        isOver ? [400, `Cannot update a ${state} campaign`] : [200, undefined],
      );
    }
    // The end of it comes before what is wrong with the wish.
    expect((await change({ max_concurrency: 11 }))[1]).toBe('Cannot update a failed campaign');
  });

  it('wants telephony before it is looked up to be started: 401 without any', async () => {
    await served.test.sql('delete from phone_numbers');
    await served.test.sql('delete from telephony_configurations');
    const [status, detail] = await harness.refusal('POST', '/campaign/999999/start');
    expect([status, detail]).toEqual([401, expect.stringMatching(/^You must configure telephony/)]);
    for (const move of ['resume', 'pause', 'redial']) {
      const body = move === 'redial' ? {} : undefined;
      expect(await harness.refusal('POST', `/campaign/999999/${move}`, body)).toEqual([
        404,
        'Campaign not found',
      ]);
    }
  });
});
