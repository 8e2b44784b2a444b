import { beforeEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../src/model/run.ts';
import type { RunPatch } from '../../../src/store/runs/runs.ts';
import { PUBLIC_URL, smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
let workflowId = '';
let definitionId = '';
let configurationId = '';

beforeEach(async () => {
  const workflow = await ok('POST', '/workflow/create/definition', {
    name: 'agent',
    workflow_definition: smallWorkflow,
  });
  workflowId = workflow.id;
  definitionId = workflow.current_definition_id;
  const config = { provider: 'plivo', auth_id: 'a', auth_token: 'b' };
  configurationId = (await ok('POST', '/organizations/telephony-configs', { name: 'c', config }))
    .id;
});

async function aRun(patch: RunPatch = {}): Promise<Run> {
  const { runs } = served.test.store;
  const { run } = await runs.create(
    {
      organizationId: served.test.owner.organizationId,
      workflowId,
      definitionId,
      name: 'WR-API-0001',
      mode: 'twilio',
      callType: 'outbound',
      configurationId,
      providerCallId: null,
      initialContext: { phone_number: '+15550100' },
      gatheredContext: { provider: 'twilio' },
      logs: {},
    },
    100,
  );
  await runs.patch(run.id, patch);
  served.test.clock.advance(1_000);
  return run;
}
const completed = (patch: RunPatch = {}): RunPatch => ({
  state: 'completed',
  disposition: 'user_qualified',
  durationS: 12.5,
  endedAt: new Date(served.test.clock.now()),
  ...patch,
});
const detail = (run: Run) => ok('GET', `/workflow/${workflowId}/runs/${run.id}`);
const listed = async (query = '') => ok('GET', `/workflow/${workflowId}/runs${query}`);
const filters = (...items: unknown[]) => `?filters=${encodeURIComponent(JSON.stringify(items))}`;
const refusal = async (path: string, key?: string) => {
  const { status, body } = await call('GET', `/api/v1${path}`, key === undefined ? {} : { key });
  return [status, body.detail];
};

describe('a run', () => {
  it('that has just begun has every field of the contract', async () => {
    const run = await aRun();
    expect(await detail(run)).toEqual({
      id: run.id,
      workflow_id: workflowId,
      name: 'WR-API-0001',
      mode: 'twilio',
      created_at: run.createdAt.toISOString(),
      is_completed: false,
      transcript_url: null,
      recording_url: null,
      user_recording_url: null,
      bot_recording_url: null,
      transcript_public_url: null,
      recording_public_url: null,
      user_recording_public_url: null,
      bot_recording_public_url: null,
      public_access_token: null,
      cost_info: null,
      usage_info: null,
      definition_id: definitionId,
      initial_context: { phone_number: '+15550100' },
      gathered_context: { provider: 'twilio' },
      call_type: 'outbound',
      logs: {},
      annotations: {},
      state: 'initialized',
      status: 'initiated',
      duration: null,
      started_at: null,
      ended_at: null,
      disposition: null,
    });
  });

  it('that is completed says how and how long', async () => {
    const usage = { llm: {}, tts: {}, stt: {}, call_duration_seconds: 13 };
    const run = await aRun(completed({ usageInfo: usage, costInfo: { dograh_token_usage: 0 } }));
    expect(await detail(run)).toMatchObject({
      is_completed: true,
      state: 'completed',
      status: 'completed',
      duration: 12.5,
      ended_at: expect.stringMatching(/Z$/),
      disposition: 'user_qualified',
      usage_info: usage,
      cost_info: { dograh_token_usage: 0 },
    });
  });

  it.each(['busy', 'no-answer', 'failed', 'canceled', 'error'])(
    'whose callee was not reached has the status %s',
    async (reason) => {
      const run = await aRun(completed({ disposition: reason, durationS: 0 }));
      expect((await detail(run)).status).toBe(reason);
    },
  );

  it('that rings has the provider’s last status', async () => {
    const run = await aRun();
    for (const status of ['initiated', 'ringing']) {
      await served.test.store.runs.appendCallback(run.id, status, { status });
    }
    expect(await detail(run)).toMatchObject({ state: 'initialized', status: 'ringing' });
    await served.test.store.runs.patch(run.id, { state: 'running' });
    expect((await detail(run)).status).toBe('in-progress');
  });

  it('with files has links that work as they are, and public ones', async () => {
    const run = await aRun();
    const recordingKey = `recordings/${run.id}.wav`;
    const transcriptKey = `transcripts/${run.id}.txt`;
    await served.test.store.files.write(transcriptKey, Buffer.from('Hello'));
    await served.test.store.runs.patch(run.id, completed({ recordingKey, transcriptKey }));
    const shown = await detail(run);
    const base = `${PUBLIC_URL}/api/v1/files`;
    expect(shown).toMatchObject({
      transcript_url: expect.stringContaining(`${base}/transcripts/${run.id}.txt?`),
      recording_url: expect.stringContaining(`${base}/recordings/${run.id}.wav?`),
      user_recording_url: expect.stringContaining(`${base}/recordings/${run.id}/user.wav?`),
      bot_recording_url: expect.stringContaining(`${base}/recordings/${run.id}/bot.wav?`),
    });
    const token = shown.public_access_token;
    expect(token).toMatch(/^[0-9a-f-]{36}$/);
    expect(shown.bot_recording_public_url).toBe(
      `${PUBLIC_URL}/api/v1/public/download/workflow/${token}/bot_recording`,
    );
    const file = await call('GET', shown.transcript_url.slice(PUBLIC_URL.length), { key: null });
    expect([file.status, file.text]).toEqual([200, 'Hello']);
    expect((await detail(run)).public_access_token).toBe(token);
  });

  it('of another organization or another workflow is not found', async () => {
    const run = await aRun();
    const { apiKey } = await served.stranger();
    const missing = [404, 'Workflow run not found'];
    expect(await refusal(`/workflow/${workflowId}/runs/${run.id}`, apiKey)).toEqual(missing);
    expect(await refusal(`/workflow/999/runs/${run.id}`)).toEqual(missing);
    expect(await refusal(`/workflow/${workflowId}/runs/999999`)).toEqual(missing);
  });
});

describe('the runs of a workflow', () => {
  it('come in pages, newest first, without their heavy parts', async () => {
    const runs = [await aRun(), await aRun(), await aRun()];
    const page = await listed('?page=1&limit=2');
    expect(page).toMatchObject({
      total_count: 3,
      page: 1,
      limit: 2,
      total_pages: 2,
      applied_filters: null,
    });
    const ids = page.runs.map((run: { id: string }) => run.id);
    expect(ids).toEqual([runs[2]?.id, runs[1]?.id]);
    expect(page.runs[0]).toMatchObject({ usage_info: null, logs: null, annotations: null });
    expect((await listed('?page=2&limit=2')).runs).toHaveLength(1);
    expect(await listed('?page=9')).toMatchObject({ runs: [], total_count: 3, limit: 50 });
  });

  it('are sorted by length or age', async () => {
    const short = await aRun(completed({ durationS: 1 }));
    const long = await aRun(completed({ durationS: 100 }));
    const middle = await aRun(completed({ durationS: 10 }));
    const order = async (query: string) =>
      (await listed(query)).runs.map((run: { id: string }) => run.id);
    expect(await order('?sort_by=duration')).toEqual([long.id, middle.id, short.id]);
    expect(await order('?sort_by=duration&sort_order=asc')).toEqual([short.id, middle.id, long.id]);
    expect(await order('?sort_by=anything&sort_order=asc')).toEqual([short.id, long.id, middle.id]);
    expect((await listed('?sort_by=duration&limit=100&page=100')).runs).toEqual([]);
    expect((await listed('?limit=100&page=101')).runs).toEqual([]);
    expect(
      await refusal(`/workflow/${workflowId}/runs?sort_by=duration&limit=100&page=101`),
    ).toEqual([400, 'A list by duration ends at row 10000: filter it, or sort it by age']);
  });

  it('are filtered', async () => {
    const first = await aRun(completed({ durationS: 5, disposition: 'busy' }));
    const second = await aRun(completed({ durationS: 50 }));
    const open = await aRun();
    const found = async (...items: unknown[]) =>
      (await listed(filters(...items))).runs.map((run: { id: string }) => run.id);
    const codes = { attribute: 'dispositionCode', type: 'multiSelect', value: { codes: ['busy'] } };
    expect(await found(codes)).toEqual([first.id]);
    expect((await listed(filters(codes))).applied_filters).toEqual([codes]);
    const seconds = (value: object) => ({ attribute: 'duration', type: 'numberRange', value });
    expect(await found(seconds({ min: 10 }))).toEqual([second.id]);
    expect(await found(seconds({ min: 1, max: 10 }))).toEqual([first.id]);
    const state = (status: string) => ({ attribute: 'status', type: 'radio', value: { status } });
    expect(await found(state('in_progress'))).toEqual([open.id]);
    expect(await found(state('completed'))).toEqual([second.id, first.id]);
    const dates = (value: object) => ({ attribute: 'dateRange', type: 'dateRange', value });
    expect(await found(dates({ from: second.createdAt.toISOString() }))).toEqual([
      open.id,
      second.id,
    ]);
    expect(await found(dates({ to: first.createdAt.toISOString() }))).toEqual([first.id]);
    const tokens = (value: object) => ({ attribute: 'tokenUsage', type: 'numberRange', value });
    expect(await found(tokens({ min: 0.1 }))).toEqual([]);
    expect(await found({ attribute: 'duration', value: { min: 10 } })).toHaveLength(3);
  });

  it('refuse filters that are no filters, and attributes of other lists', async () => {
    const path = `/workflow/${workflowId}/runs`;
    for (const text of [
      'x',
      '{}',
      '[1]',
      '[{"attribute":"duration","type":"t","value":{"min":"x"}}]',
    ]) {
      const query = `?filters=${encodeURIComponent(text)}`;
      expect(await refusal(path + query)).toEqual([400, 'Invalid filter format']);
    }
    for (const attribute of ['runId', 'callTags', 'toString']) {
      expect(await refusal(path + filters({ attribute, type: 't', value: {} }))).toEqual([
        403,
        `Invalid attribute '${attribute}'. Must be one of: dateRange, dispositionCode, duration, status, tokenUsage`,
      ]);
    }
  });
});
