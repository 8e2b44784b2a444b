import { beforeEach, describe, expect, it } from 'vitest';
import { syncNext } from '../../../src/campaign/contact-sync.ts';
import type { RunPatch } from '../../../src/store/runs/runs.ts';
import { PUBLIC_URL, withApi } from '../served.ts';
import { type CampaignHarness, campaignHarness } from './campaign-harness.ts';

const served = withApi();
const { call, ok } = served;
let harness: CampaignHarness;
let id = '';
let pbx = '';

beforeEach(async () => {
  harness = await campaignHarness(served);
  pbx = await harness.telephony('pbx');
  const numbers = Array.from({ length: 8 }, (_, i) => `+1415555010${i},N${i}`);
  const sourceId = await harness.upload(['phone_number,name', ...numbers].join('\n'));
  id = (await harness.create({ source_id: sourceId })).id;
});

async function started(): Promise<void> {
  await ok('POST', `/campaign/${id}/start`);
  await syncNext(served.deps, new AbortController().signal);
}

async function aRun(campaignId: string | undefined, patch: RunPatch = {}): Promise<string> {
  const { runs, workflows } = served.test.store;
  const version = await workflows.published(harness.workflowId);
  const { run } = await runs.create(
    {
      organizationId: served.test.owner.organizationId,
      workflowId: harness.workflowId,
      definitionId: version?.id ?? '',
      name: 'WR-CAMPAIGN-1-1',
      mode: 'plivo',
      callType: 'outbound',
      configurationId: pbx,
      ...(campaignId === undefined ? {} : { campaignId }),
      providerCallId: null,
      initialContext: { phone_number: '+14155550100' },
      gatheredContext: {},
      logs: {},
    },
    100,
  );
  await runs.patch(run.id, patch);
  served.test.clock.advance(1_000);
  return run.id;
}

describe('the progress of a campaign', () => {
  const progress = () => ok('GET', `/campaign/${id}/progress`);

  it('has both sets of fields, and nothing in them before its start', async () => {
    expect(await progress()).toEqual({
      campaign_id: id,
      state: 'created',
      total_rows: 0,
      processed_rows: 0,
      failed_calls: 0,
      progress_percentage: 0,
      source_sync: { status: 'pending', last_synced_at: null, error: null },
      rate_limit: 1,
      started_at: null,
      completed_at: null,
      total: 0,
      processed: 0,
      completed: 0,
      failed: 0,
      pending: 0,
      completion_percentage: 0,
      waiting_for: null,
    });
  });

  it('counts contacts, however often each was called', async () => {
    await started();
    const at = new Date(served.test.clock.now()).toISOString();
    const states = ['reached', 'reached', 'failed', 'waiting', 'calling'];
    for (const [i, state] of states.entries()) {
      await served.test.sql(
        'update campaign_contacts set state = $1, attempts = $2 where row_number = $3',
        [state, i + 1, i + 2],
      );
    }
    expect(await progress()).toMatchObject({
      state: 'running',
      total_rows: 8,
      processed_rows: 5,
      failed_calls: 1,
      progress_percentage: 62.5,
      source_sync: { status: 'completed', last_synced_at: at, error: null },
      started_at: at,
      total: 8,
      processed: 5,
      completed: 2,
      failed: 1,
      pending: 3,
      completion_percentage: 62.5,
    });
    expect(await ok('GET', `/campaign/${id}`)).toMatchObject({
      contact_count: 8,
      processed_rows: 5,
      failed_rows: 1,
      failed_count: 1,
      in_flight_count: 1,
      executed_count: 14,
      total_queued_count: 19,
      retry_count: 11,
      retries_pending: 1,
    });
  });

  it('says why the file could not be read', async () => {
    await ok('POST', `/campaign/${id}/start`);
    await served.deps.files.remove((await ok('GET', `/campaign/${id}`)).source_id);
    await syncNext(served.deps, new AbortController().signal);
    const body = await progress();
    expect(body).toMatchObject({ state: 'failed', completed_at: null });
    expect((await ok('GET', `/campaign/${id}`)).logs.at(-1)).toEqual({
      ts: expect.stringMatching(/\+00:00$/),
      level: 'error',
      event: 'source_sync_failed',
      message: expect.any(String),
      details: { error: body.source_sync.error },
    });
    expect(body.source_sync).toEqual({
      status: 'failed',
      last_synced_at: null,
      error: 'Failed to access CSV file: it has not been uploaded, or is gone',
    });
  });

  it('is not readable by another organization', async () => {
    expect(await harness.refusal('GET', '/campaign/999999/progress')).toEqual([
      404,
      'Campaign not found',
    ]);
  });
});

describe('the runs of a campaign', () => {
  it('are its own, filtered, sorted and by pages', async () => {
    const { id: other } = await harness.create();
    const short = await aRun(id, { state: 'completed', durationS: 3, disposition: 'busy' });
    const long = await aRun(id, {
      state: 'completed',
      durationS: 30,
      disposition: 'user_qualified',
    });
    await aRun(other, { state: 'completed', durationS: 20 });
    await aRun(undefined);
    const idsOf = async (query: string): Promise<string[]> => {
      const page = await ok('GET', `/campaign/${id}/runs${query}`);
      return page.runs.map((run: { id: string }) => run.id);
    };
    expect(await idsOf('')).toEqual([long, short]);
    expect(await idsOf('?sort_by=duration&sort_order=asc')).toEqual([short, long]);
    const busy = [
      { attribute: 'dispositionCode', type: 'multiSelect', value: { codes: ['busy'] } },
    ];
    expect(await idsOf(`?filters=${encodeURIComponent(JSON.stringify(busy))}`)).toEqual([short]);
    const page = await ok('GET', `/campaign/${id}/runs?limit=1&page=2`);
    expect(page).toMatchObject({ total_count: 2, page: 2, limit: 1, total_pages: 2 });
    expect(page.runs).toEqual([
      expect.objectContaining({ id: short, status: 'busy', duration: 3, disposition: 'busy' }),
    ]);
  });

  it('are refused for an unknown campaign, another’s, and filters that are none', async () => {
    expect(await harness.refusal('GET', '/campaign/999999/runs')).toEqual([
      404,
      'Campaign 999999 not found',
    ]);
    const { apiKey: key } = await served.stranger();
    const foreign = await call('GET', `/api/v1/campaign/${id}/runs`, { key });
    expect([foreign.status, foreign.body.detail]).toEqual([404, `Campaign ${id} not found`]);
    expect(await harness.refusal('GET', `/campaign/${id}/runs?filters=x`)).toEqual([
      400,
      'Invalid filter format',
    ]);
    const unknown = encodeURIComponent(
      '[{"attribute":"runId","type":"number","value":{"value":1}}]',
    );
    expect(await harness.refusal('GET', `/campaign/${id}/runs?filters=${unknown}`)).toEqual([
      403,
      "Invalid attribute 'runId'. Must be one of: dateRange, dispositionCode, duration, status, tokenUsage",
    ]);
  });
});

describe('the report of a campaign', () => {
  const csv = async (query = ''): Promise<string[]> => {
    const answer = await call('GET', `/api/v1/campaign/${id}/report${query}`);
    expect(answer.status).toBe(200);
    expect(answer.headers['content-disposition']).toContain(`campaign_${id}_report.csv`);
    return answer.text.trimEnd().split(/\r?\n/);
  };
  const idsIn = (lines: string[]): (string | undefined)[] =>
    lines.slice(1).map((line) => line.split(',')[0]);

  it('is a table of its completed calls, newest first, from one moment to another', async () => {
    const { id: other } = await harness.create();
    const first = await aRun(id, { state: 'completed', durationS: 3, disposition: 'busy' });
    const between = new Date(served.test.clock.now()).toISOString();
    const second = await aRun(id, { state: 'completed', durationS: 30, disposition: 'done' });
    await aRun(id);
    await aRun(other, { state: 'completed', durationS: 20 });
    const lines = await csv();
    expect(lines[0]).toBe(
      'Run ID,Campaign ID,Agent ID,Agent Definition ID,Created At,Phone Number,Call Disposition,' +
        'Call Duration (s),Call Tags,Transcript URL,Recording URL',
    );
    expect(idsIn(lines)).toEqual([second, first]);
    expect(lines[1]?.split(',').slice(1, 3)).toEqual([id, harness.workflowId]);
    expect(idsIn(await csv(`?start_date=${between}`))).toEqual([second]);
    expect(idsIn(await csv(`?end_date=${between}`))).toContain(first);
  });

  it('is refused for a campaign that is not there', async () => {
    expect(await harness.refusal('GET', '/campaign/999999/report')).toEqual([
      404,
      'Campaign not found',
    ]);
  });
});

describe('the contact file of a campaign', () => {
  it('is behind a link that works without a key, for an hour', async () => {
    const link = await ok('GET', `/campaign/${id}/source-download-url`);
    expect(link).toEqual({ download_url: expect.any(String), expires_in: 3_600 });
    expect(link.download_url.startsWith(`${PUBLIC_URL}/api/v1/files/campaigns/`)).toBe(true);
    const path = link.download_url.slice(PUBLIC_URL.length);
    const file = await call('GET', path, { key: null });
    expect([file.status, file.text.split('\n')[0]]).toEqual([200, 'phone_number,name']);
    served.test.clock.advance(3_600_000);
    expect((await call('GET', path, { key: null })).status).toBe(403);
  });

  it('is refused if it is another organization’s, is gone, or the campaign is not there', async () => {
    expect(await harness.refusal('GET', '/campaign/999999/source-download-url')).toEqual([
      404,
      'Campaign not found',
    ]);
    await served.deps.files.remove((await ok('GET', `/campaign/${id}`)).source_id);
    expect(await harness.refusal('GET', `/campaign/${id}/source-download-url`)).toEqual([
      404,
      'File not found',
    ]);
    await served.test.sql("update campaigns set source_id = 'campaigns/999999/a.csv'");
    expect(await harness.refusal('GET', `/campaign/${id}/source-download-url`)).toEqual([
      403,
      'Access denied',
    ]);
  });
});

describe('lists of a campaign', () => {
  it('are 404 for a campaign whose id is no number', async () => {
    for (const path of ['', '/runs', '/progress', '/report', '/source-download-url']) {
      expect((await call('GET', `/api/v1/campaign/x${path}`)).status).toBe(404);
    }
  });
});
