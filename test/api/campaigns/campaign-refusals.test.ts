// What campaigns are refused for, row by row. Source: contract §9.1 to §9.3, §9.8; those of one field of a
// new campaign are in campaigns.test.ts too.

import { beforeEach, describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';
import { type CampaignHarness, campaignHarness } from './campaign-harness.ts';

const served = withApi();
const { call, ok } = served;
let harness: CampaignHarness;
let id = '';

beforeEach(async () => {
  harness = await campaignHarness(served);
  await harness.telephony('pbx');
  id = (await harness.create()).id;
});

type Loc = (string | number)[];
const become = (state: string) => served.test.sql('update campaigns set state = $1', [state]);
const create = async (more: Record<string, unknown> = {}) =>
  harness.refusal('POST', '/campaign/create', await harness.body(more));
const change = (body: unknown) => harness.refusal('PATCH', `/campaign/${id}`, body);
/** The only fault of a 422. */
const fault = (type: string, ...loc: Loc) => [
  422,
  [expect.objectContaining({ type, loc: ['body', ...loc] })],
];
const slot = { day_of_week: 0, start_time: '09:00', end_time: '17:00' };
const schedule = (...slots: object[]) => ({ schedule_config: { slots } });

describe('a new campaign is 422', () => {
  it.each(['name', 'workflow_id', 'source_type', 'source_id'])('without its %s', async (field) => {
    expect(await create({ [field]: undefined })).toEqual(fault('missing', field));
  });

  it('without a body, and with one that is a list', async () => {
    expect(await harness.refusal('POST', '/campaign/create')).toEqual(fault('missing'));
    expect(await harness.refusal('POST', '/campaign/create', [])).toEqual(
      fault('model_attributes_type'),
    );
  });

  it.each<[string, Record<string, unknown>, string, Loc]>([
    ['a name that is a number', { name: 7 }, 'string_type', ['name']],
    ['a name that is null', { name: null }, 'string_type', ['name']],
    ['a fraction of an agent', { workflow_id: 1.5 }, 'int_from_float', ['workflow_id']],
    [
      'a source of another case',
      { source_type: 'CSV' },
      'string_pattern_mismatch',
      ['source_type'],
    ],
    ['an empty key', { source_id: '' }, 'string_too_short', ['source_id']],
    [
      'telephony by name',
      { telephony_configuration_id: 'pbx' },
      'int_parsing',
      ['telephony_configuration_id'],
    ],
    ['half a call at a time', { max_concurrency: 1.5 }, 'int_from_float', ['max_concurrency']],
    ['calls at a time in words', { max_concurrency: 'ten' }, 'int_parsing', ['max_concurrency']],
    ['settings that are a list', { retry_config: [] }, 'model_attributes_type', ['retry_config']],
  ])('for %s', async (_what, more, type, loc) => {
    expect(await create(more)).toEqual(fault(type, ...loc));
  });
});

/** Settings that can be sent for a new campaign and for one that is there. */
const settings: [string, Record<string, unknown>, string, Loc][] = [
  [
    'fewer than no retries',
    { retry_config: { max_retries: -1 } },
    'greater_than_equal',
    ['retry_config', 'max_retries'],
  ],
  [
    'a retry and a half',
    { retry_config: { max_retries: 1.5 } },
    'int_from_float',
    ['retry_config', 'max_retries'],
  ],
  [
    'retries in words',
    { retry_config: { retry_on_busy: 'maybe' } },
    'bool_type',
    ['retry_config', 'retry_on_busy'],
  ],
  [
    'a breaker below 0',
    { circuit_breaker: { failure_threshold: -0.1 } },
    'greater_than_equal',
    ['circuit_breaker', 'failure_threshold'],
  ],
  [
    'a breaker of 601 s',
    { circuit_breaker: { window_seconds: 601 } },
    'less_than_equal',
    ['circuit_breaker', 'window_seconds'],
  ],
  [
    'a breaker of 101 calls',
    { circuit_breaker: { min_calls_in_window: 101 } },
    'less_than_equal',
    ['circuit_breaker', 'min_calls_in_window'],
  ],
  [
    'a schedule that names no slots',
    { schedule_config: {} },
    'missing',
    ['schedule_config', 'slots'],
  ],
  ['51 slots', schedule(...Array(51).fill(slot)), 'too_long', ['schedule_config', 'slots']],
  [
    'a day before Monday',
    schedule({ ...slot, day_of_week: -1 }),
    'greater_than_equal',
    ['schedule_config', 'slots', 0, 'day_of_week'],
  ],
  [
    'a slot of no day',
    schedule({ ...slot, day_of_week: undefined }),
    'missing',
    ['schedule_config', 'slots', 0, 'day_of_week'],
  ],
  [
    'a slot without a start',
    schedule({ ...slot, start_time: undefined }),
    'missing',
    ['schedule_config', 'slots', 0, 'start_time'],
  ],
  [
    'a second slot without an end',
    schedule(slot, { ...slot, end_time: undefined }),
    'missing',
    ['schedule_config', 'slots', 1, 'end_time'],
  ],
  [
    'seconds in a time of day',
    schedule({ ...slot, end_time: '17:00:00' }),
    'string_pattern_mismatch',
    ['schedule_config', 'slots', 0, 'end_time'],
  ],
];

describe('settings of a campaign are 422', () => {
  it.each(settings)(
    'for %s, when it is made and when it is changed',
    async (_what, more, type, loc) => {
      expect(await create(more)).toEqual(fault(type, ...loc));
      expect(await change(more)).toEqual(fault(type, ...loc));
    },
  );

  it.each<[string, Record<string, unknown>, string, Loc]>([
    ['an empty name', { name: '' }, 'string_too_short', ['name']],
    ['a name too long', { name: 'x'.repeat(256) }, 'string_too_long', ['name']],
    ['no call at a time', { max_concurrency: 0 }, 'greater_than_equal', ['max_concurrency']],
    ['101 calls at a time', { max_concurrency: 101 }, 'less_than_equal', ['max_concurrency']],
    [
      'no call a second',
      { rate_limit_per_second: 0 },
      'greater_than_equal',
      ['rate_limit_per_second'],
    ],
    [
      '11 retries',
      { retry_config: { max_retries: 11 } },
      'less_than_equal',
      ['retry_config', 'max_retries'],
    ],
    [
      'an unknown zone',
      { schedule_config: { timezone: 'Mars/Base', slots: [slot] } },
      'value_error',
      ['schedule_config', 'timezone'],
    ],
  ])('for %s, of one that is there', async (_what, body, type, loc) => {
    expect(await change(body)).toEqual(fault(type, ...loc));
  });

  it('nowhere within the bounds that the contract names', async () => {
    for (const more of [
      { max_concurrency: 1, name: 'x'.repeat(255) },
      { retry_config: { max_retries: 0, retry_delay_seconds: 30 } },
      { retry_config: { max_retries: 10, retry_delay_seconds: 3_600 } },
      { circuit_breaker: { failure_threshold: 0, window_seconds: 30, min_calls_in_window: 1 } },
      { circuit_breaker: { failure_threshold: 1, window_seconds: 600, min_calls_in_window: 100 } },
      schedule(...Array(50).fill({ ...slot, day_of_week: 6, end_time: '24:00' })),
    ]) {
      expect((await create(more))[0], JSON.stringify(more)).toBe(200);
      expect((await change(more))[0], JSON.stringify(more)).toBe(200);
    }
  });
});

describe('a contact file is 400', () => {
  const withCode = "All phone numbers must include country code (start with '+')";

  it.each([
    [
      'without a row',
      'phone_number,name\n',
      'CSV file must have a header row and at least one data row',
    ],
    ['that is empty', '', 'CSV file must have a header row and at least one data row'],
    ['without numbers', 'name\nAna\n', "Source must contain a 'phone_number' column"],
    [
      'with a number that begins otherwise',
      'phone_number,name\n4155550100,Ana\n',
      `Invalid phone numbers in rows: 2. ${withCode}`,
    ],
    [
      'with many of them',
      `phone_number,name\n${'123,Ana\n'.repeat(7)}`,
      `Invalid phone numbers in rows: 2, 3, 4, 5, 6 and 2 more. ${withCode}`,
    ],
    [
      'with a number twice',
      'phone_number,name\n+14155550100,A\n+14155550100,B\n',
      'Duplicate phone numbers found in rows: 3',
    ],
    [
      'with an empty variable',
      'phone_number,name\n+14155550100,\n',
      "Template variable 'name' is empty in rows: 2",
    ],
  ])('%s', async (_what, text, detail) => {
    expect(await create({ source_id: await harness.upload(text) })).toEqual([400, detail]);
  });

  it('of another organization before it is looked at, and nothing is made', async () => {
    const { total_count: before } = await ok('GET', '/campaign/');
    const own = served.test.owner.organizationId;
    expect(await create({ source_id: `campaigns/${own}/../${own}/a.csv` })).toEqual([
      400,
      'Invalid key format',
    ]);
    expect(await create({ source_id: 'campaigns/999999/none.csv' })).toEqual([
      403,
      'Access denied',
    ]);
    expect((await ok('GET', '/campaign/')).total_count).toBe(before);
  });
});

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
    expect(await next({ name: '' })).toEqual(fault('string_too_short', 'name'));
    expect(await next({ name: 'x' })).toEqual([404, 'Workflow not found']);
    expect(await next({ workflow_id: harness.workflowId })).toEqual([400, 'Invalid key format']);
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

  it('is a redial: 422 where nothing is chosen or a setting is out of bounds', async () => {
    await become('completed');
    const redial = (body?: unknown) => harness.refusal('POST', `/campaign/${id}/redial`, body);
    const none = { retry_on_voicemail: false, retry_on_no_answer: false, retry_on_busy: false };
    expect(await redial(none)).toEqual(fault('value_error'));
    expect(await redial({ name: '' })).toEqual(fault('string_too_short', 'name'));
    expect(await redial({ retry_on_busy: 'never' })).toEqual(fault('bool_type', 'retry_on_busy'));
    expect(await redial({ retry_config: { max_retries: 11 } })).toEqual(
      fault('less_than_equal', 'retry_config', 'max_retries'),
    );
    expect(await redial()).toEqual(fault('missing'));
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

describe('a campaign of another organization', () => {
  it.each<['GET' | 'POST' | 'PATCH', string, unknown?]>([
    ['GET', ''],
    ['PATCH', '', { name: 'mine' }],
    ['POST', '/start'],
    ['POST', '/pause'],
    ['POST', '/resume'],
    ['POST', '/redial', {}],
    ['GET', '/progress'],
    ['GET', '/source-download-url'],
    ['GET', '/report'],
  ])('is 404: %s %s', async (method, path, body) => {
    const { apiKey: key } = await served.stranger();
    const config = { provider: 'plivo', auth_id: 'z', auth_token: 'b' };
    await call('POST', '/api/v1/organizations/telephony-configs', {
      key,
      body: { name: 'x', config },
    });
    const answer = await call(method, `/api/v1/campaign/${id}${path}`, { key, body });
    expect([answer.status, answer.body]).toEqual([404, { detail: 'Campaign not found' }]);
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({ name: 'sept', state: 'created' });
  });
});
