// Webhooks after calls, as clients see them. Source: contract §8.10, §13.1 item 11.

import { describe, expect, it } from 'vitest';
import { completedRun, ground, webhook } from '../../store/runs/completed-runs.ts';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok, test } = served;
const ROOT = '/organizations/webhook-deliveries';
const SECRET = '/organizations/webhook-signing-secret';
const moment = expect.stringMatching(/Z$/);
const CLAIM = { limit: 1, except: [], leaseMs: 60_000, attemptsMax: 5 };

async function made(...nodeIds: string[]): Promise<string> {
  const run = await completedRun(test, await ground(test));
  await test.store.afterworks.finish(
    run.id,
    nodeIds.map((nodeId) => webhook({ nodeId, credentialUuid: 'c1' })),
  );
  return run.id;
}

describe('webhook deliveries', () => {
  it('are listed with what became of them', async () => {
    const runId = await made('hook');
    const [delivery] = await test.store.deliveries.claim(CLAIM);
    const refused = { responseStatus: 400, responseExcerpt: 'no', error: 'It answered 400.' };
    const outcome = { state: 'dead_letter', ...refused } as const;
    await test.store.deliveries.report(delivery?.id ?? '', 1, outcome);
    expect(await ok('GET', `${ROOT}?status=dead_letter`)).toEqual({
      deliveries: [
        {
          id: delivery?.id,
          workflow_run_id: runId,
          workflow_id: delivery?.workflowId,
          node_id: 'hook',
          node_name: 'Hook',
          status: 'dead_letter',
          http_method: 'POST',
          endpoint_url: 'https://receiver.example/hook',
          attempts: 1,
          next_attempt_at: null,
          last_attempt_at: moment,
          finished_at: moment,
          created_at: moment,
          response_status: 400,
          response_excerpt: 'no',
          error: 'It answered 400.',
        },
      ],
      total_count: 1,
      page: 1,
      limit: 50,
      total_pages: 1,
    });
    expect((await ok('GET', `${ROOT}?status=pending`)).deliveries).toEqual([]);
  });

  it('are paged and found by run', async () => {
    const runId = await made('a', 'b', 'c');
    await made('a');
    const page = await ok('GET', `${ROOT}?run_id=${runId}&page=2&limit=2`);
    expect(page).toMatchObject({ total_count: 3, page: 2, limit: 2, total_pages: 2 });
    expect(page.deliveries).toHaveLength(1);
  });

  it('show what they say one by one', async () => {
    await made('hook');
    const [{ id }] = (await ok('GET', ROOT)).deliveries;
    expect(await ok('GET', `${ROOT}/${id}`)).toMatchObject({
      id,
      status: 'pending',
      next_attempt_at: moment,
      headers: [{ name: 'X-Mine', value: 'yes' }],
      credential_uuid: 'c1',
      payload: { run: '42' },
    });
  });

  it('are sent once more when asked for', async () => {
    await made('hook');
    const [delivery] = await test.store.deliveries.claim(CLAIM);
    const id = delivery?.id ?? '';
    const delivered = { state: 'delivered', responseStatus: 200, responseExcerpt: '' } as const;
    await test.store.deliveries.report(id, 1, delivered);
    const again = await ok('POST', `${ROOT}/${id}/redeliver`);
    expect(again).toMatchObject({ status: 'pending', attempts: 0, finished_at: null });
  });

  it('of others are not there', async () => {
    await made('hook');
    const [{ id }] = (await ok('GET', ROOT)).deliveries;
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', `/api/v1${ROOT}`, { key })).body.total_count).toBe(0);
    const missing = {
      status: 404,
      body: { detail: 'Webhook delivery not found', code: 'DELIVERY_NOT_FOUND' },
    };
    expect(await call('GET', `/api/v1${ROOT}/${id}`, { key })).toMatchObject(missing);
    const again = await call('POST', `/api/v1${ROOT}/${id}/redeliver`, { key });
    expect(again).toMatchObject(missing);
  });
});

describe('the signing secret', () => {
  it('is shown in full once, when it is made', async () => {
    const none = { secret_prefix: null, created_at: null, former_valid_until: null };
    expect(await ok('GET', SECRET)).toEqual(none);
    const first = await ok('POST', SECRET);
    expect(first).toEqual({
      secret: expect.stringMatching(/^whsec_[\w-]{43}$/),
      secret_prefix: first.secret.slice(0, 10),
      created_at: moment,
      former_valid_until: null,
    });
    const { secret: _, ...shown } = first;
    expect(await ok('GET', SECRET)).toEqual(shown);
    expect((await ok('POST', SECRET)).former_valid_until).toEqual(moment);
  });

  it('is another for every organization', async () => {
    const { apiKey: key } = await served.stranger();
    await ok('POST', SECRET);
    expect((await call('GET', `/api/v1${SECRET}`, { key })).body.secret_prefix).toBeNull();
  });
});
