import { beforeEach, describe, expect, it } from 'vitest';
import { syncNext } from '../../../src/campaign/contact-sync.ts';
import { noteTelephonyAway } from '../../../src/campaign/telephony-wait.ts';
import { withApi } from '../served.ts';
import { type CampaignHarness, campaignHarness } from './campaign-harness.ts';

let woken = 0;
const served = withApi(() => ({
  onCampaignDue: () => {
    woken += 1;
  },
}));
const { call, ok } = served;
let harness: CampaignHarness;
let id = '';

beforeEach(async () => {
  harness = await campaignHarness(served);
  await harness.telephony('pbx');
  id = (await harness.create()).id;
});

const sync = () => syncNext({ ...served.deps }, new AbortController().signal);
const become = (state: string) => served.test.sql('update campaigns set state = $1', [state]);
const move = (name: string, body?: unknown) =>
  harness.refusal('POST', `/campaign/${id}/${name}`, body);

describe('a campaign', () => {
  it('is started, read, paused and resumed, and says so in its log', async () => {
    const started = await ok('POST', `/campaign/${id}/start`);
    expect(started).toMatchObject({ state: 'syncing', total_rows: null });
    expect(started.started_at).toBe(new Date(served.test.clock.now()).toISOString());
    await sync();
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({
      state: 'running',
      total_rows: 2,
      contact_count: 2,
      total_queued_count: 2,
    });
    expect((await ok('POST', `/campaign/${id}/pause`)).state).toBe('paused');
    const resumed = await ok('POST', `/campaign/${id}/resume`);
    expect(resumed.state).toBe('running');
    expect(resumed.logs).toEqual(
      [
        ['started', 'The campaign was started'],
        ['paused', 'The campaign was paused'],
        ['resumed', 'The campaign was resumed'],
      ].map(([event, message]) => ({
        ts: expect.stringMatching(/^2026-01-15T\d\d:\d\d:\d\d\.\d{3}\+00:00$/),
        level: 'info',
        event,
        message,
        details: null,
      })),
    );
  });

  it('wakes the dispatcher at once when it is started or resumed', async () => {
    woken = 0;
    await ok('POST', `/campaign/${id}/start`);
    expect(woken).toBe(1);
    await ok('POST', `/campaign/${id}/pause`);
    await ok('POST', `/campaign/${id}/resume`);
    expect(woken).toBe(2);
    await move('start');
    expect(woken).toBe(2);
  });

  it('cannot be replaced, archived or stopped', async () => {
    for (const method of ['PUT', 'POST'] as const) {
      const { status, body } = await call(method, `/api/v1/campaign/${id}`);
      expect([status, body]).toEqual([
        405,
        { detail: 'Method Not Allowed', code: 'METHOD_NOT_ALLOWED' },
      ]);
    }
    for (const name of ['archive', 'stop']) {
      const { status, body } = await call('POST', `/api/v1/campaign/${id}/${name}`);
      expect([status, body]).toEqual([404, { detail: 'Not Found', code: 'PATH_NOT_FOUND' }]);
    }
    expect((await ok('GET', `/campaign/${id}`)).state).toBe('created');
  });

  it('that is not there is 404, whatever is done to it', async () => {
    id = '999999';
    for (const name of ['start', 'pause', 'resume', 'redial']) {
      expect(await move(name, name === 'redial' ? {} : undefined), name).toEqual([
        404,
        'Campaign not found',
      ]);
    }
  });

  it('needs telephony to be started or resumed: 401 without any', async () => {
    await served.test.sql('delete from telephony_configurations');
    for (const [name, state] of [
      ['start', 'created'],
      ['resume', 'paused'],
    ] as const) {
      await become(state);
      const [status, detail] = await move(name);
      expect([status, detail]).toEqual([
        401,
        expect.stringMatching(/^You must configure telephony first/),
      ]);
      expect((await ok('GET', `/campaign/${id}`)).state).toBe(state);
    }
  });

  it('that runs must be paused first, which is checked before its telephony', async () => {
    await served.test.sql('delete from telephony_configurations');
    await become('running');
    expect(await move('resume')).toEqual([
      400,
      "Campaign must be in 'paused' state to resume, current state: running",
    ]);
  });

  it('is neither started nor resumed with an agent that is not valid any more', async () => {
    await served.test.sql(`update workflow_versions set definition = '{"nodes":[],"edges":[]}'`);
    for (const [name, state] of [
      ['start', 'created'],
      ['resume', 'paused'],
    ] as const) {
      await become(state);
      expect(await move(name)).toEqual([
        422,
        { is_valid: false, errors: expect.arrayContaining([expect.anything()]) },
      ]);
      expect((await ok('GET', `/campaign/${id}`)).state).toBe(state);
    }
  });

  it('is given back its defaults by null', async () => {
    const path = `/campaign/${id}`;
    const before = await ok('GET', path);
    await ok('PATCH', path, {
      retry_config: { max_retries: 5 },
      max_concurrency: 2,
      rate_limit_per_second: 3,
      schedule_config: { slots: [{ day_of_week: 0, start_time: '09:00', end_time: '17:00' }] },
      circuit_breaker: { failure_threshold: 0.1 },
    });
    const cleared = await ok('PATCH', path, {
      name: null,
      retry_config: null,
      max_concurrency: null,
      rate_limit_per_second: null,
      schedule_config: null,
      circuit_breaker: null,
    });
    expect(cleared).toEqual(before);
  });

  it('needs telephony that is ready: 400 with what is missing', async () => {
    await served.test.sql('delete from phone_numbers');
    expect(await move('start')).toEqual([
      400,
      "'pbx' is not ready for outbound calls. Add at least one active phone number.",
    ]);
  });
});

describe('the redial of a campaign', () => {
  const completed = async (outcomes: string[]): Promise<void> => {
    await ok('POST', `/campaign/${id}/start`);
    await sync();
    for (const [i, outcome] of outcomes.entries()) {
      await served.test.sql(
        "update campaign_contacts set state = 'failed', last_outcome = $1 where row_number = $2",
        [outcome, i + 2],
      );
    }
    await become('completed');
  };

  it('is a campaign of its own that runs as soon as it is started', async () => {
    await completed(['busy', 'failed']);
    const child = await ok('POST', `/campaign/${id}/redial`);
    expect(child).toMatchObject({
      name: 'sept (Redial)',
      state: 'created',
      parent_campaign_id: id,
      redialed_campaign_id: null,
      total_rows: 1,
      contact_count: 1,
    });
    expect((await ok('GET', `/campaign/${id}`)).redialed_campaign_id).toBe(child.id);
    const started = await ok('POST', `/campaign/${child.id}/start`);
    expect(started.state).toBe('running');
    expect(await move('redial', {})).toEqual([
      400,
      `Campaign has already been redialed (by campaign ${child.id})`,
    ]);
  });

  it('may have a name and retries of its own, and chooses by outcome', async () => {
    await completed(['busy', 'voicemail']);
    const child = await ok('POST', `/campaign/${id}/redial`, {
      name: 'oct',
      retry_on_busy: false,
      retry_on_no_answer: false,
      retry_config: { max_retries: 7 },
    });
    expect(child).toMatchObject({ name: 'oct', total_rows: 1, retry_config: { max_retries: 7 } });
  });

  it('is refused with 400 if no contact matches, with 422 if nothing is chosen', async () => {
    await completed(['failed', 'voicemail']);
    expect(await move('redial', { retry_on_voicemail: false })).toEqual([
      400,
      "No subscribers match: no contact's last call ended as chosen (busy, no_answer)",
    ]);
    const none = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false };
    const [status, detail] = await move('redial', none);
    expect([status, detail]).toEqual([
      422,
      [expect.objectContaining({ type: 'value_error', loc: ['body'] })],
    ]);
  });
});

describe('a campaign that is cancelled', () => {
  it.each(['created', 'syncing', 'running', 'paused'])('may have been %s', async (state) => {
    await become(state);
    const cancelled = await ok('POST', `/campaign/${id}/cancel`);
    expect(cancelled).toMatchObject({ state: 'cancelled', waiting_for: null });
    expect(cancelled.completed_at).toBe(new Date(served.test.clock.now()).toISOString());
    expect(cancelled.logs.at(-1)).toMatchObject({ level: 'info', event: 'cancelled' });
    expect(await ok('POST', `/campaign/${id}/cancel`)).toEqual(cancelled);
  });

  it('is not read any further, started, resumed, changed or redialed', async () => {
    await ok('POST', `/campaign/${id}/start`);
    await ok('POST', `/campaign/${id}/cancel`);
    await sync();
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({
      state: 'cancelled',
      contact_count: 0,
    });
    for (const name of ['start', 'resume', 'pause', 'redial']) {
      expect(await move(name, name === 'redial' ? {} : undefined)).toEqual([
        400,
        expect.stringContaining('current state: cancelled'),
      ]);
    }
    expect(await harness.refusal('PATCH', `/campaign/${id}`, { name: 'x' })).toEqual([
      400,
      'Cannot update a cancelled campaign',
    ]);
  });

  it('keeps the contacts that were not called', async () => {
    await ok('POST', `/campaign/${id}/start`);
    await sync();
    await ok('POST', `/campaign/${id}/cancel`);
    expect(await ok('GET', `/campaign/${id}/progress`)).toMatchObject({
      state: 'cancelled',
      total: 2,
      pending: 2,
      processed: 0,
    });
  });

  it('counts who was called and waited to be called again as failed, and no retry to come', async () => {
    await ok('POST', `/campaign/${id}/start`);
    await sync();
    await served.test.sql(`
      update campaign_contacts
      set state = 'waiting', attempts = 1, last_outcome = 'busy', retry_reason = 'busy'
      where row_number = 2`);
    const { retries_pending: before } = await ok('GET', `/campaign/${id}`);
    await ok('POST', `/campaign/${id}/cancel`);
    expect(before).toBe(1);
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({
      failed_rows: 1,
      retries_pending: 0,
      retry_count: 0,
      retry_breakdown: { busy: 0 },
      total_queued_count: 2,
    });
    expect(await ok('GET', `/campaign/${id}/progress`)).toMatchObject({
      total: 2,
      processed: 1,
      completed: 0,
      failed: 1,
      pending: 1,
    });
  });

  it.each(['completed', 'failed'])('was not %s before', async (state) => {
    await become(state);
    expect(await move('cancel')).toEqual([
      400,
      `Campaign must be in 'created', 'syncing', 'running' or 'paused' state to cancel, current state: ${state}`,
    ]);
  });
});

describe('a campaign that is deleted', () => {
  it.each(['completed', 'failed', 'cancelled'])('was %s, and is shown no more', async (state) => {
    await become(state);
    await ok('DELETE', `/campaign/${id}`);
    expect((await call('GET', `/api/v1/campaign/${id}`)).status).toBe(404);
    expect((await call('GET', `/api/v1/campaign/${id}/runs`)).status).toBe(404);
    expect((await call('DELETE', `/api/v1/campaign/${id}`)).status).toBe(404);
    expect(await ok('GET', '/campaign/')).toMatchObject({ campaigns: [], total_count: 0 });
  });

  it('has ended before', async () => {
    const answer = await call('DELETE', `/api/v1/campaign/${id}`);
    expect([answer.status, answer.body.detail]).toEqual([
      400,
      "Campaign must be in 'completed', 'failed' or 'cancelled' state to delete, current state: created",
    ]);
  });

  it('keeps its telephony configuration from being deleted no more', async () => {
    const telephony = await harness.telephony('own');
    const { id: own } = await harness.create({ telephony_configuration_id: telephony });
    const path = `/organizations/telephony-configs/${telephony}`;
    expect(await harness.refusal('DELETE', path)).toEqual([
      409,
      `Telephony configuration ${telephony} is referenced by one or more campaigns`,
    ]);
    await ok('POST', `/campaign/${own}/cancel`);
    await ok('DELETE', `/campaign/${own}`);
    await ok('DELETE', path);
  });
});

describe('a campaign that waits', () => {
  const waits = async (): Promise<unknown> => {
    const { waiting_for: shown } = await ok('GET', `/campaign/${id}`);
    expect((await ok('GET', `/campaign/${id}/progress`)).waiting_for).toEqual(shown);
    return shown;
  };
  const start = async (): Promise<void> => {
    await ok('POST', `/campaign/${id}/start`);
    await sync();
  };

  it('does not wait before it is started, nor while its calls go out', async () => {
    expect(await waits()).toBeNull();
    await ok('POST', `/campaign/${id}/start`);
    expect(await waits()).toMatchObject({ reason: 'contact_file' });
    await sync();
    expect(await waits()).toBeNull();
    await ok('POST', `/campaign/${id}/pause`);
    expect(await waits()).toBeNull();
  });

  it('says until when its hours keep it', async () => {
    // The clock of the tests begins on Thursday, 2026-01-15 at 09:00 UTC.
    const slots = [{ day_of_week: 0, start_time: '09:00', end_time: '17:00' }];
    const schedule = { timezone: 'America/New_York', slots };
    await ok('PATCH', `/campaign/${id}`, { schedule_config: schedule });
    await start();
    expect(await waits()).toEqual({
      reason: 'schedule',
      message: 'until Monday 09:00 America/New_York',
      until: '2026-01-19T14:00:00.000Z',
    });
  });

  it('says at which limit it is', async () => {
    await start();
    await served.test.sql('update campaigns set max_concurrency = 1');
    await served.test.sql("update campaign_contacts set state = 'calling' where row_number = 2");
    await served.test.sql(`
      insert into campaign_attempts
        (campaign_id, contact_id, number, state, node, lease_until, dial_at)
      select campaign_id, id, 1, 'placed', 'other', now(), now()
      from campaign_contacts where row_number = 2`);
    const atLimit = { reason: 'call_limit', message: 'at the limit of 1 call', until: null };
    expect(await waits()).toEqual(atLimit);
    await served.test.sql("update campaign_contacts set state = 'reached' where row_number = 3");
    expect(await waits()).toMatchObject({ reason: 'calls_under_way' });
  });

  it('says when the next contact is called again', async () => {
    await start();
    await served.test.sql(
      "update campaign_contacts set state = 'waiting', due_at = '2026-01-15T09:40:00Z'",
    );
    expect(await waits()).toEqual({
      reason: 'retry',
      message: 'until Thursday 09:40 UTC, when the next contact is called again',
      until: '2026-01-15T09:40:00.000Z',
    });
  });

  it('says that it waits for its provider, and for how many failed dials', async () => {
    await start();
    const [row] = await served.test.sql('select id from telephony_configurations');
    await served.test.sql('update telephony_configurations set dial_faults = 7');
    await served.test.sql('update campaigns set waits_for_configuration_id = $1', [row?.['id']]);
    expect(await waits()).toEqual({
      reason: 'provider',
      message: 'for the provider, which has failed 7 dials in a row: one is tried every 15 seconds',
      until: null,
    });
  });

  it('says that it waits for its telephony, and why', async () => {
    await start();
    const campaign = await served.deps.store.campaigns.get(served.test.owner.organizationId, id);
    if (campaign === undefined) throw new Error('no campaign');
    await noteTelephonyAway(served.deps.store, campaign, new Error('The PBX is away.'));
    expect(await waits()).toEqual({
      reason: 'telephony',
      message: 'for telephony: The PBX is away.',
      until: null,
    });
  });
});
