import { beforeEach, describe, expect, it } from 'vitest';
import type { RunSummary } from '../../../src/model/run-summary.ts';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);

const found = (query = '') => served.ok('GET', `/runs${query}`);
const ids = async (query: string): Promise<string[]> =>
  (await found(query)).runs.map(({ id }: { id: string }) => id);
const summary = (more: Partial<RunSummary> = {}): RunSummary => ({
  attention: [],
  faults: 0,
  answers: null,
  endedBy: 'caller',
  words: [],
  ...more,
});

describe('GET /runs', () => {
  it('shows a run with its agent, its numbers, its end and its waits', async () => {
    const run = await stored.aRun(
      stored.completed({
        gatheredContext: { call_status: 'user_hangup' },
        summary: summary({
          attention: ['faults', 'slow_answers'],
          faults: 2,
          answers: { p50Ms: 2_100, p95Ms: 3_000, maxMs: 3_100 },
        }),
      }),
    );
    const { runs, next } = await found();
    expect(next).toBeNull();
    expect(runs).toEqual([
      {
        id: run.id,
        workflow_id: stored.workflowId,
        workflow_name: 'agent',
        name: 'WR-API-0001',
        provider: 'twilio',
        direction: 'outbound',
        state: 'completed',
        caller_number: null,
        called_number: '+15550100',
        campaign_id: null,
        created_at: run.createdAt.toISOString(),
        started_at: null,
        ended_at: expect.any(String),
        duration_seconds: 12.5,
        disposition: 'user_qualified',
        end_reason: 'user_hangup',
        ended_by: 'caller',
        answers: { p50_ms: 2_100, p95_ms: 3_000, max_ms: 3_100 },
        faults: 2,
        attention: ['faults', 'slow_answers'],
        has_recording: false,
        node: expect.any(String),
      },
    ]);
  });

  it('gives each run once over all pages, newest first, also those of one moment', async () => {
    const made: string[] = [];
    for (let i = 0; i < 7; i++) made.unshift((await stored.aRun()).id);
    await served.test.sql(`update runs set created_at = '2026-03-01T00:00:00.123456Z'`);
    const seen: string[] = [];
    let query = '?limit=3';
    for (let pages = 0; pages < 4; pages++) {
      const { runs, next } = await found(query);
      seen.push(...runs.map(({ id }: { id: string }) => id));
      if (next === null) break;
      query = `?limit=3&after=${next}`;
    }
    expect(seen).toEqual(made);
  });

  it('shows nothing of other organizations', async () => {
    await stored.aRun();
    const { apiKey } = await served.stranger();
    for (const query of ['', `?workflow_id=${stored.workflowId}`, '?text=hello']) {
      const { body } = await served.call('GET', `/api/v1/runs${query}`, { key: apiKey });
      expect(body).toEqual({ runs: [], next: null });
    }
  });

  it.each(['after=x', 'after=MTIz'])('refuses a cursor that it did not give: %s', async (query) => {
    const { status, body } = await served.call('GET', `/api/v1/runs?${query}`);
    expect([status, body.code]).toEqual([400, 'CURSOR_INVALID']);
  });

  it.each(['limit=101', 'from=yesterday', 'number=1', 'direction=up', 'min_duration=-1'])(
    'refuses %s',
    async (query) => {
      expect((await served.call('GET', `/api/v1/runs?${query}`)).status).toBe(422);
    },
  );
});

describe('filters of GET /runs', () => {
  let calls: Record<'in' | 'out' | 'chat' | 'open', string>;
  beforeEach(async () => {
    const inbound = await stored.aRun(
      stored.completed({
        disposition: 'booked',
        durationS: 60,
        summary: summary({ attention: ['faults'], words: ['zürich', 'wednesday', '5'] }),
      }),
      {
        callType: 'inbound',
        initialContext: { caller_number: '+14155550123', called_number: '1001' },
      },
    );
    const outbound = await stored.aRun(
      stored.completed({ summary: summary({ words: ['wednesday', 'morning'] }) }),
    );
    const chat = await stored.aRun({}, { mode: 'textchat' });
    const open = await stored.aRun({ state: 'running' }, { mode: 'ari' });
    calls = { in: inbound.id, out: outbound.id, chat: chat.id, open: open.id };
  });

  it.each([
    ['direction=inbound', ['in']],
    ['state=running', ['open']],
    ['state=completed', ['out', 'in']],
    ['disposition=booked', ['in']],
    ['provider=textchat', ['chat']],
    ['number=%2B1%20(415)%20555-0123', ['in']],
    ['number=0123', ['in']],
    ['number=1001', ['in']],
    ['number=415', []],
    ['min_duration=13', ['in']],
    ['max_duration=13', ['out']],
    ['attention=true', ['in']],
    ['text=Wednesday', ['out', 'in']],
    ['text=wednes%20MORN', ['out']],
    ['text=Z%C3%BCRICH', ['in']],
    ['text=5', ['in']],
    ["text='%20%7C%20!", []],
    ['text=wednesday&direction=inbound', ['in']],
    ['text=morning&attention=true', []],
    ['campaign_id=1', []],
  ] as const)('%s', async (query, names) => {
    expect(await ids(`?${query}`)).toEqual(names.map((name) => calls[name]));
  });

  it('finds runs of an agent and of a span of time', async () => {
    expect(await ids(`?workflow_id=${stored.workflowId}`)).toHaveLength(4);
    expect(await ids('?workflow_id=999999')).toEqual([]);
    const [run] = (await found(`?state=running`)).runs;
    const { created_at: at } = run;
    expect(await ids(`?from=${at}`)).toEqual([calls.open]);
    expect(await ids(`?to=${at}&from=${at}`)).toEqual([calls.open]);
    expect(await ids(`?to=${at}&limit=2`)).toEqual([calls.open, calls.chat]);
  });
});
