import { beforeEach, describe, expect, it } from 'vitest';
import { PUBLIC_URL, withApi } from '../served.ts';
import { type CampaignHarness, campaignHarness } from './campaign-harness.ts';

const served = withApi();
const { call, ok } = served;
let harness: CampaignHarness;

beforeEach(async () => {
  harness = await campaignHarness(served);
});

const created = async (more: Record<string, unknown> = {}) =>
  harness.refusal('POST', '/campaign/create', await harness.body(more));

describe('a new campaign', () => {
  it('has every field of the contract', async () => {
    const pbx = await harness.telephony('pbx');
    const body = await harness.body({ telephony_configuration_id: Number(pbx) });
    const campaign = await ok('POST', '/campaign/create', body);
    expect(campaign).toEqual({
      id: expect.stringMatching(/^\d+$/),
      name: 'sept',
      workflow_id: harness.workflowId,
      workflow_name: 'agent',
      state: 'created',
      source_type: 'csv',
      source_id: body['source_id'],
      total_rows: null,
      processed_rows: 0,
      failed_rows: 0,
      created_at: new Date(served.test.clock.now()).toISOString(),
      started_at: null,
      completed_at: null,
      retry_config: {
        enabled: true,
        max_retries: 1,
        retry_delay_seconds: 120,
        retry_on_busy: true,
        retry_on_no_answer: true,
        retry_on_voicemail: false,
      },
      max_concurrency: null,
      rate_limit_per_second: 1,
      schedule_config: null,
      circuit_breaker: {
        enabled: false,
        failure_threshold: 0.5,
        window_seconds: 120,
        min_calls_in_window: 5,
      },
      executed_count: 0,
      total_queued_count: 0,
      contact_count: 0,
      in_flight_count: 0,
      failed_count: 0,
      retry_count: 0,
      retries_pending: 0,
      retry_breakdown: { busy: 0, no_answer: 0, voicemail: 0 },
      parent_campaign_id: null,
      redialed_campaign_id: null,
      telephony_configuration_id: pbx,
      telephony_configuration_name: 'pbx',
      waiting_for: null,
      logs: [],
    });
    expect(await ok('GET', `/campaign/${campaign.id}`)).toEqual(campaign);
  });

  it('has other defaults within a setting than without it', async () => {
    const campaign = await harness.create({ retry_config: {}, circuit_breaker: {} });
    expect(campaign.retry_config).toEqual({
      enabled: true,
      max_retries: 2,
      retry_delay_seconds: 120,
      retry_on_busy: true,
      retry_on_no_answer: true,
      retry_on_voicemail: true,
    });
    expect(campaign.circuit_breaker.enabled).toBe(true);
  });

  it('may name its file by other words, which count only without the right one', async () => {
    const { source_id: key, ...rest } = await harness.body();
    for (const alias of ['source_url', 's3_key']) {
      const campaign = await ok('POST', '/campaign/create', { ...rest, [alias]: key });
      expect(campaign.source_id).toBe(key);
    }
    const { body } = await call('POST', '/api/v1/campaign/create', { body: rest });
    expect(body.detail).toEqual([
      expect.objectContaining({ type: 'missing', loc: ['body', 'source_id'] }),
    ]);
  });

  it('is made from a file that was sent under its upload link', async () => {
    const text = 'phone_number,name\n+14155550100,Ana\n';
    const upload = await ok('POST', '/s3/presigned-upload-url', {
      file_name: 'my list.csv',
      file_size: text.length,
      content_type: 'text/csv',
    });
    const path = upload.upload_url.slice(PUBLIC_URL.length);
    const headers = { 'content-type': 'text/csv' };
    const sent = await call('PUT', path, { body: text, headers, key: null });
    expect(sent.status).toBe(200);
    const campaign = await harness.create({ source_id: upload.file_key });
    expect(campaign).toMatchObject({ state: 'created', source_id: upload.file_key });
  });

  it('may be made before there is any telephony, and takes a schedule over midnight', async () => {
    const scheduleConfig = {
      timezone: 'America/New_York',
      slots: [
        { day_of_week: 0, start_time: '22:00', end_time: '02:00' },
        { day_of_week: 6, start_time: '00:00', end_time: '24:00' },
      ],
    };
    const campaign = await harness.create({
      schedule_config: scheduleConfig,
      rate_limit_per_second: 50,
    });
    expect(campaign.schedule_config).toEqual({ enabled: true, ...scheduleConfig });
    expect(campaign.rate_limit_per_second).toBe(50);
  });
});

describe('the times of a schedule', () => {
  it.each([
    ['9:00', '17:00', '09:00', '17:00'],
    ['00:00', '00:00', '00:00', '24:00'],
    ['0:00', '24:00', '00:00', '24:00'],
    ['18:00', '0:00', '18:00', '00:00'],
  ])('%s to %s is %s to %s', async (start, end, from, to) => {
    const campaign = await harness.create(slots({ start_time: start, end_time: end }));
    expect(campaign.schedule_config.slots).toEqual([
      { day_of_week: 0, start_time: from, end_time: to },
    ]);
  });

  it.each(['9', '9am', '0900', '09:00:00', '-1:00', ''])(
    'are not %j: the form is named',
    async (time) => {
      const [status, detail] = await created(slots({ start_time: time }));
      expect([status, detail]).toEqual([
        422,
        [
          expect.objectContaining({
            loc: ['body', ...slot('start_time')],
            msg: 'Value error, start_time must be a time as HH:MM, from 00:00 to 23:59',
          }),
        ],
      ]);
    },
  );
});

describe('a campaign is refused with', () => {
  it('404 for an agent that does not exist, is not active or belongs to another organization', async () => {
    expect(await created({ workflow_id: 999_999 })).toEqual([404, 'Workflow not found']);
    const { apiKey } = await served.stranger();
    const answer = await call('POST', '/api/v1/campaign/create', {
      key: apiKey,
      body: await harness.body(),
    });
    expect([answer.status, answer.body.detail]).toEqual([404, 'Workflow not found']);
    await ok('PUT', `/workflow/${harness.workflowId}/status`, { status: 'archived' });
    expect(await created()).toEqual([404, 'Workflow is not active']);
  });

  it('400 for what is no key of a contact file, 403 for a file of another organization', async () => {
    const own = served.test.owner.organizationId;
    for (const sourceId of [
      'a.csv',
      'recordings/1.wav',
      'campaigns/x/a.csv',
      'campaigns/../a.csv',
      `campaigns/${own}/../${own}/a.csv`,
    ]) {
      expect(await created({ source_id: sourceId }), sourceId).toEqual([
        400,
        expect.stringMatching(/^Invalid key format: source_id must be the file_key of /),
      ]);
    }
    const foreign = `campaigns/${Number(own) + 1}/a.csv`;
    await served.deps.files.write(foreign, Buffer.from('phone_number,name\n+14155550100,A\n'));
    expect(await created({ source_id: foreign })).toEqual([403, 'Access denied']);
    expect((await ok('GET', '/campaign/')).total_count).toBe(0);
  });

  it('400 for a file that is not there or cannot be called, with all that is wrong', async () => {
    const missing = `campaigns/${served.test.owner.organizationId}/none.csv`;
    expect(await created({ source_id: missing })).toEqual([
      400,
      'Failed to access CSV file: it has not been uploaded, or is gone',
    ]);
    const sourceId = await harness.upload('phone_number,name\n4155550100,Ana\n+14155550101,\n');
    expect(await created({ source_id: sourceId })).toEqual([
      400,
      "Invalid phone numbers in rows: 2. All phone numbers must include country code (start with '+'); " +
        "Template variable 'name' is empty in rows: 3",
    ]);
  });

  it('400 if a column is missing that the agent speaks of', async () => {
    const sourceId = await harness.upload('phone_number\n+14155550100\n');
    const [status, detail] = await created({ source_id: sourceId });
    expect(status).toBe(400);
    expect(detail).toMatch(
      /^Workflow uses template variables that are missing from the source data: 'name'\./,
    );
  });

  it('400 for telephony that does not exist, belongs to another organization or is not ready', async () => {
    const refused = [400, 'telephony_configuration_not_found'];
    expect(await created({ telephony_configuration_id: '999999' })).toEqual(refused);
    const id = await harness.telephony('empty', 0);
    const notReady =
      "'empty' is not ready for outbound calls. Add at least one active phone number.";
    expect(await created({ telephony_configuration_id: id })).toEqual([400, notReady]);
    expect(await created()).toEqual([400, notReady]);
    const { apiKey } = await served.stranger();
    const config = { provider: 'plivo', auth_id: 'z', auth_token: 'b' };
    const foreign = await call('POST', '/api/v1/organizations/telephony-configs', {
      key: apiKey,
      body: { name: 'x', config },
    });
    expect(await created({ telephony_configuration_id: foreign.body.id })).toEqual(refused);
  });

  it('400 for more calls at a time than the organization may have', async () => {
    await harness.telephony('pbx', 1);
    expect(await created({ max_concurrency: 11 })).toEqual([
      400,
      'max_concurrency (11) cannot exceed 10, the calls that your organization may have at a time',
    ]);
  });

  it('nothing but a warning in the log for more calls at a time than numbers', async () => {
    await harness.telephony('pbx', 1);
    expect((await harness.create({ max_concurrency: 10 })).max_concurrency).toBe(10);
    const warned = served.test.lines().filter(({ maxConcurrency }) => maxConcurrency === 10);
    expect(warned).toEqual([expect.objectContaining({ level: 'warn', numbers: 1 })]);
  });

  it.each<[string, Record<string, unknown>, (string | number)[], string]>([
    [
      'an unknown zone',
      slots({}, { timezone: 'Mars/Base' }),
      ['schedule_config', 'timezone'],
      'value_error',
    ],
    [
      'an offset as zone',
      slots({}, { timezone: '+02:00' }),
      ['schedule_config', 'timezone'],
      'value_error',
    ],
    ['minute 60', slots({ start_time: '08:60' }), slot('start_time'), 'value_error'],
    ['a start at 24:00', slots({ start_time: '24:00' }), slot('start_time'), 'value_error'],
    ['an end after 24:00', slots({ end_time: '24:01' }), slot('end_time'), 'value_error'],
    ['a slot of no time', slots({ end_time: '09:00' }), slot('end_time'), 'value_error'],
  ])('422 for %s', async (_what, more, loc, type) => {
    const [status, detail] = await created(more);
    expect([status, detail]).toEqual([
      422,
      [expect.objectContaining({ type, loc: ['body', ...loc] })],
    ]);
  });
});

function slots(change: Record<string, unknown>, more: Record<string, unknown> = {}) {
  const whole = { day_of_week: 0, start_time: '09:00', end_time: '17:00', ...change };
  return { schedule_config: { slots: [whole], ...more } };
}

function slot(field: string): (string | number)[] {
  return ['schedule_config', 'slots', 0, field];
}

describe('the list of campaigns', () => {
  it('has the newest first, by pages of fifty', async () => {
    for (const name of ['a', 'b', 'c']) {
      await harness.create({ name });
      served.test.clock.advance(1_000);
    }
    const all = await ok('GET', '/campaign/');
    expect(all.campaigns.map(({ name }: { name: string }) => name)).toEqual(['c', 'b', 'a']);
    expect(all).toMatchObject({ total_count: 3, page: 1, limit: 50, total_pages: 1 });
    const second = await ok('GET', '/campaign?page=2&limit=2');
    expect(second.campaigns.map(({ name }: { name: string }) => name)).toEqual(['a']);
    expect(second).toMatchObject({ total_count: 3, page: 2, limit: 2, total_pages: 2 });
  });

  it('is the organization’s own', async () => {
    const { id } = await harness.create();
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', '/api/v1/campaign/', { key })).body.campaigns).toEqual([]);
    const foreign = await call('GET', `/api/v1/campaign/${id}`, { key });
    expect([foreign.status, foreign.body.detail]).toEqual([404, 'Campaign not found']);
    expect(await harness.refusal('GET', '/campaign/999999')).toEqual([404, 'Campaign not found']);
  });
});

describe('a change of a campaign', () => {
  it('keeps what was not sent; null takes a setting back', async () => {
    const { id } = await harness.create({ max_concurrency: 3, rate_limit_per_second: 2 });
    const changed = await ok('PATCH', `/campaign/${id}`, {
      name: 'oct',
      max_concurrency: null,
      retry_config: { max_retries: 0 },
    });
    expect(changed).toMatchObject({ name: 'oct', max_concurrency: null, rate_limit_per_second: 2 });
    expect(changed.retry_config).toMatchObject({ max_retries: 0, retry_on_voicemail: true });
    expect(await ok('PATCH', `/campaign/${id}`, {})).toEqual(changed);
  });

  it('is refused for an unknown campaign, too many calls, and one that has ended', async () => {
    const { id } = await harness.create();
    expect(await harness.refusal('PATCH', '/campaign/999999', {})).toEqual([
      404,
      'Campaign not found',
    ]);
    const [status, detail] = await harness.refusal('PATCH', `/campaign/${id}`, {
      max_concurrency: 11,
    });
    expect([status, detail]).toEqual([400, expect.stringMatching(/^max_concurrency \(11\)/)]);
    for (const state of ['completed', 'failed']) {
      await served.test.sql('update campaigns set state = $1', [state]);
      expect(await harness.refusal('PATCH', `/campaign/${id}`, { name: 'x' })).toEqual([
        400,
        `Cannot update a ${state} campaign`,
      ]);
    }
  });
});

describe('the defaults of a new campaign', () => {
  it('are those of the gateway first, then those of the last campaign too', async () => {
    const first = await ok('GET', '/organizations/campaign-defaults');
    expect(first).toEqual({
      concurrent_call_limit: 10,
      from_numbers_count: 0,
      default_retry_config: expect.objectContaining({ max_retries: 1, retry_on_voicemail: false }),
      last_campaign_settings: null,
    });
    const pbx = await harness.telephony('pbx', 2);
    await ok('POST', `/organizations/telephony-configs/${pbx}/set-default-outbound`);
    await harness.create({ max_concurrency: 2, retry_config: { max_retries: 5 } });
    const second = await ok('GET', '/organizations/campaign-defaults');
    expect(second.from_numbers_count).toBe(2);
    expect(second.last_campaign_settings).toEqual({
      retry_config: expect.objectContaining({ max_retries: 5 }),
      max_concurrency: 2,
      rate_limit_per_second: 1,
      schedule_config: null,
      circuit_breaker: null,
    });
  });
});
