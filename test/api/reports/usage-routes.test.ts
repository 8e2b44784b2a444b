import { describe, expect, it } from 'vitest';
import { withStoredRuns } from '../runs/stored-runs.ts';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const stored = withStoredRuns(served);
const { completed } = stored;
const usage = '/organizations/usage';
const filters = (...items: unknown[]) => `filters=${encodeURIComponent(JSON.stringify(items))}`;

describe("the organization's runs", () => {
  it('come with every field of the contract, and the sums of all that match', async () => {
    const costInfo = { dograh_token_usage: 30 };
    const run = await stored.aRun(completed({ durationS: 10.4, costInfo }));
    await stored.aRun(completed({ durationS: 20, costInfo }));
    await stored.aRun();
    const page = await ok('GET', `${usage}/runs?limit=1&sort_order=asc`);
    expect(page).toMatchObject({
      total_dograh_tokens: 60,
      total_duration_seconds: 30,
      total_count: 3,
      page: 1,
      limit: 1,
      total_pages: 3,
    });
    expect(page.runs).toEqual([
      {
        id: run.id,
        workflow_id: stored.workflowId,
        workflow_name: 'agent',
        name: 'WR-API-0001',
        created_at: run.createdAt.toISOString(),
        dograh_token_usage: 30,
        call_duration_seconds: 10,
        recording_url: null,
        transcript_url: null,
        user_recording_url: null,
        bot_recording_url: null,
        recording_public_url: null,
        transcript_public_url: null,
        user_recording_public_url: null,
        bot_recording_public_url: null,
        public_access_token: null,
        phone_number: '+15550100',
        caller_number: null,
        called_number: '+15550100',
        call_type: 'outbound',
        mode: 'twilio',
        disposition: 'user_qualified',
        initial_context: { phone_number: '+15550100', called_number: '+15550100' },
        gathered_context: { provider: 'twilio' },
        charge_usd: null,
      },
    ]);
  });

  it('are found by time and by what only the organization may filter by', async () => {
    const first = await stored.aRun();
    const second = await stored.aRun({ gatheredContext: { call_tags: ['retry'] } });
    const found = async (query: string) =>
      (await ok('GET', `${usage}/runs?${query}`)).runs.map((run: { id: string }) => run.id);
    const from = encodeURIComponent(second.createdAt.toISOString());
    expect(await found(`start_date=${from}`)).toEqual([second.id]);
    expect(await found(`end_date=${encodeURIComponent(first.createdAt.toISOString())}`)).toEqual([
      first.id,
    ]);
    const one = (attribute: string, value: unknown) => filters({ attribute, type: 't', value });
    expect(await found(one('runId', { value: Number(first.id) }))).toEqual([first.id]);
    expect(await found(one('callTags', { codes: ['retry'] }))).toEqual([second.id]);
    expect(await found(one('calledNumber', { value: '5501' }))).toHaveLength(2);
    expect(await found(one('callChannel', { status: 'chat' }))).toEqual([]);
  });

  it('refuse filters that are none, attributes that no list has, and times that are none', async () => {
    const refusal = async (query: string) => {
      const { status, body } = await call('GET', `/api/v1${usage}/runs?${query}`);
      return [status, body.detail];
    };
    expect(await refusal('filters=x')).toEqual([400, 'Invalid filter format']);
    expect(await refusal(filters({ attribute: 'secret', type: 't', value: {} }))).toEqual([
      403,
      `Invalid attribute 'secret'. Must be one of: dateRange, dispositionCode, duration, status, tokenUsage, runId, workflowId, campaignId, callTags, callerNumber, calledNumber, callDirection, callChannel`,
    ]);
  });

  it('can be had as CSV, by the same filters', async () => {
    const run = await stored.aRun(completed());
    await stored.aRun(completed({ durationS: 100 }));
    const long = { attribute: 'duration', type: 'numberRange', value: { max: 50 } };
    const { text, headers } = await call('GET', `/api/v1${usage}/runs/report?${filters(long)}`);
    expect(headers['content-type']).toBe('text/csv; charset=utf-8');
    expect(text.split('\r\n').slice(1)).toEqual([expect.stringMatching(`^${run.id},`), '']);
  });

  it('of another organization are not there', async () => {
    await stored.aRun(completed());
    const { apiKey: key } = await served.stranger();
    const { body } = await call('GET', `/api/v1${usage}/runs`, { key });
    expect(body).toMatchObject({ runs: [], total_count: 0, total_duration_seconds: 0 });
    const { text } = await call('GET', `/api/v1${usage}/runs/report`, { key });
    expect(text.trim().split('\r\n')).toHaveLength(1);
  });
});

describe('what was used', () => {
  it('in this month begins and ends with it, in the zone of the organization', async () => {
    served.test.clock.advance(Date.parse('2026-03-10T12:00:00Z') - served.test.clock.now());
    await stored.aRun(completed({ durationS: 90, costInfo: { dograh_token_usage: 7 } }));
    expect(await ok('GET', `${usage}/current-period`)).toEqual({
      period_start: '2026-03-01T00:00:00.000Z',
      period_end: '2026-04-01T00:00:00.000Z',
      used_dograh_tokens: 7,
      total_duration_seconds: 90,
      used_amount_usd: null,
      currency: null,
      price_per_second_usd: null,
    });
    const { organizationId } = served.test.owner;
    const timezone = 'Europe/Oslo';
    await served.test.store.organizations.setPreferences(organizationId, { timezone });
    expect(await ok('GET', `${usage}/current-period`)).toMatchObject({
      period_start: '2026-02-28T23:00:00.000Z',
      period_end: '2026-03-31T22:00:00.000Z',
    });
    served.test.clock.advance(31 * 86_400_000);
    expect(await ok('GET', `${usage}/current-period`)).toMatchObject({ used_dograh_tokens: 0 });
  });

  it('has a row for each of the last days, today the last', async () => {
    served.test.clock.advance(Date.parse('2026-03-10T12:00:00Z') - served.test.clock.now());
    await stored.aRun(completed({ durationS: 90, costInfo: { dograh_token_usage: 7 } }));
    served.test.clock.advance(2 * 86_400_000);
    await stored.aRun(completed({ durationS: 30 }));
    const day = { cost_usd: null, dograh_tokens: 0 };
    expect(await ok('GET', `${usage}/daily-breakdown?days=4`)).toEqual({
      breakdown: [
        { ...day, date: '2026-03-09', minutes: 0, call_count: 0 },
        { ...day, date: '2026-03-10', minutes: 1.5, call_count: 1, dograh_tokens: 7 },
        { ...day, date: '2026-03-11', minutes: 0, call_count: 0 },
        { ...day, date: '2026-03-12', minutes: 0.5, call_count: 1 },
      ],
      total_minutes: 2,
      total_cost_usd: null,
      total_dograh_tokens: 7,
      currency: null,
    });
    expect((await ok('GET', `${usage}/daily-breakdown`)).breakdown).toHaveLength(7);
  });
});
