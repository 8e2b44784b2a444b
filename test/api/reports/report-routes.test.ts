import { parse } from 'csv-parse/sync';
import { describe, expect, it } from 'vitest';
import { withStoredRuns } from '../runs/stored-runs.ts';
import { PUBLIC_URL, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const stored = withStoredRuns(served);
const { completed } = stored;
const DAY_MS = 86_400_000;

async function report(query = ''): Promise<Record<string, string>[]> {
  const path = `/api/v1/workflow/${stored.workflowId}/report${query}`;
  return parse((await call('GET', path)).text, { columns: true });
}

describe("an agent's report", () => {
  it('has the columns of the contract, one for each variable among them', async () => {
    const run = await stored.aRun();
    await served.test.store.runs.patch(
      run.id,
      completed({
        recordingKey: `recordings/${run.id}.wav`,
        gatheredContext: {
          extracted_variables: { drink: 'tea', cups: 2 },
          call_tags: ['user_qualified', 'user_speech'],
        },
      }),
    );
    const extracted = { extracted_variables: { note: '=1+1', drink: null } };
    await stored.aRun(completed({ gatheredContext: extracted }));
    const path = `/api/v1/workflow/${stored.workflowId}/report`;
    const { text, headers, status } = await call('GET', path);
    expect([status, headers['content-type']]).toEqual([200, 'text/csv; charset=utf-8']);
    expect(headers['content-disposition']).toBe(
      `attachment; filename="workflow_${stored.workflowId}_report.csv"`,
    );
    const [columns = [], second = [], first = []] = parse(text);
    expect(columns).toEqual([
      'Run ID',
      'Campaign ID',
      'Agent ID',
      'Agent Definition ID',
      'Created At',
      'Phone Number',
      'Call Disposition',
      'Call Duration (s)',
      'cups',
      'drink',
      'note',
      'Call Tags',
      'Transcript URL',
      'Recording URL',
    ]);
    const token = await served.test.store.runs.publicToken(run.id);
    expect(first).toEqual([
      run.id,
      '',
      stored.workflowId,
      stored.definitionId,
      run.createdAt.toISOString(),
      '+15550100',
      'user_qualified',
      '12.5',
      '2',
      'tea',
      '',
      'user_qualified, user_speech',
      '',
      `${PUBLIC_URL}/api/v1/public/download/workflow/${token}/recording`,
    ]);
    expect(second.slice(8, 11)).toEqual(['', '', "'=1+1"]);
  });

  it('has only completed calls with a length, newest first, between the dates', async () => {
    const [one, two, three] = [
      await stored.aRun(completed()),
      await stored.aRun(completed()),
      await stored.aRun(completed()),
    ];
    await stored.aRun();
    await stored.aRun({ state: 'completed' });
    const ids = async (query = '') => (await report(query)).map((row) => row['Run ID']);
    expect(await ids()).toEqual([three.id, two.id, one.id]);
    const at = encodeURIComponent(two.createdAt.toISOString());
    expect(await ids(`?start_date=${at}`)).toEqual([three.id, two.id]);
    expect(await ids(`?end_date=${at}`)).toEqual([two.id, one.id]);
    expect(await ids(`?start_date=${at}&end_date=${at}`)).toEqual([two.id]);
  });

  it('goes on over as many pages as there are', async () => {
    await served.test.sql(
      `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
        owner_node, initial_context, gathered_context, logs, annotations, duration_s, created_at)
       select $1, $2, $3, 'r', 'ari', 'inbound', 'completed', 'n', '{"caller_number":"7"}',
        jsonb_build_object('extracted_variables', jsonb_build_object('v' || i % 3, i)),
        '{}', '{}', i, timestamptz '2026-01-01' + (i / 3) * interval '1 second'
       from generate_series(1, 1234) i`,
      [served.test.owner.organizationId, stored.workflowId, stored.definitionId],
    );
    const rows = await report();
    expect(new Set(rows.map((row) => row['Run ID'])).size).toBe(1_234);
    expect(rows[0]).toMatchObject({ 'Phone Number': '7', v0: '', v1: '1234', v2: '' });
  });

  it('of another organization or of none is not found', async () => {
    const { apiKey: key } = await served.stranger();
    const path = `/api/v1/workflow/${stored.workflowId}/report`;
    expect((await call('GET', path, { key })).status).toBe(404);
    expect((await call('GET', '/api/v1/workflow/999999/report')).status).toBe(404);
  });
});

describe('the report of a day', () => {
  const path = '/organizations/reports/daily';
  const query = '?date=2026-03-10&timezone=Europe/Oslo';

  async function dayOfCalls(): Promise<void> {
    // 23:30 of the 9th in Oslo, then the 10th.
    served.test.clock.advance(Date.parse('2026-03-09T22:30:00Z') - served.test.clock.now());
    await stored.aRun(completed({ disposition: 'early' }));
    served.test.clock.advance(3_600_000);
    const ends: [string, number][] = [
      ['busy', 0],
      ['busy', 9.9],
      ['sold', 10],
      ['transfer_call', 100],
      ['a', 500],
      ['b', 60],
      ['c', 130],
      ['d', 20],
    ];
    for (const [disposition, durationS] of ends) {
      await stored.aRun(completed({ disposition, durationS }));
    }
    await stored.aRun();
    served.test.clock.advance(DAY_MS);
    await stored.aRun(completed({ disposition: 'late' }));
  }

  it('counts ends and lengths of its completed calls, in its zone', async () => {
    await dayOfCalls();
    expect(await ok('GET', path + query)).toEqual({
      date: '2026-03-10',
      timezone: 'Europe/Oslo',
      workflow_id: null,
      metrics: { total_runs: 8, xfer_count: 1 },
      disposition_distribution: [
        { disposition: 'busy', count: 2, percentage: 25 },
        { disposition: 'a', count: 1, percentage: 12.5 },
        { disposition: 'b', count: 1, percentage: 12.5 },
        { disposition: 'c', count: 1, percentage: 12.5 },
        { disposition: 'd', count: 1, percentage: 12.5 },
        { disposition: 'Other', count: 2, percentage: 25 },
      ],
      call_duration_distribution: [
        { bucket: '0-10', range_start: 0, range_end: 10, count: 2, percentage: 25 },
        { bucket: '10-30', range_start: 10, range_end: 30, count: 2, percentage: 25 },
        { bucket: '30-60', range_start: 30, range_end: 60, count: 0, percentage: 0 },
        { bucket: '60-120', range_start: 60, range_end: 120, count: 2, percentage: 25 },
        { bucket: '120-180', range_start: 120, range_end: 180, count: 1, percentage: 12.5 },
        { bucket: '>180', range_start: 180, range_end: null, count: 1, percentage: 12.5 },
      ],
    });
  });

  it('can be about one agent', async () => {
    await stored.aRun(completed());
    const today = new Date(served.test.clock.now()).toISOString().slice(0, 10);
    const at = `${path}?date=${today}&timezone=UTC&workflow_id=`;
    expect(await ok('GET', at + stored.workflowId)).toMatchObject({
      workflow_id: stored.workflowId,
      metrics: { total_runs: 1, xfer_count: 0 },
    });
    expect((await call('GET', `/api/v1${at}999999`)).status).toBe(404);
  });

  it('lists its calls', async () => {
    await dayOfCalls();
    const rows = await ok('GET', `${path}/runs${query}`);
    expect(rows).toHaveLength(8);
    expect(rows[0]).toEqual({
      phone_number: '+15550100',
      disposition: 'd',
      duration_seconds: 20,
      workflow_id: stored.workflowId,
      run_id: expect.stringMatching(/^\d+$/),
      workflow_name: 'agent',
      created_at: '2026-03-09T23:30:08.000Z',
    });
  });

  it('wants a date and a zone', async () => {
    for (const [bad, where] of [
      ['', 'date'],
      ['?date=2026-02-30&timezone=UTC', 'date'],
      ['?date=0000-01-01&timezone=UTC', 'date'],
      ['?date=1969-12-31&timezone=UTC', 'date'],
      ['?date=3000-01-01&timezone=UTC', 'date'],
      ['?date=9999-12-31&timezone=Pacific/Kiritimati', 'date'],
      ['?date=2026-02-03', 'timezone'],
      ['?date=2026-02-03&timezone=Mars', 'timezone'],
    ]) {
      const { status, body } = await call('GET', `/api/v1${path}${bad}`);
      expect([status, body.detail[0].loc]).toEqual([422, ['query', where]]);
    }
  });

  it('can be of any day from 1970 to 2999, in any zone', async () => {
    for (const date of ['1970-01-01', '2999-12-31']) {
      for (const timezone of ['UTC', 'Pacific/Kiritimati', 'America/Adak']) {
        for (const more of ['', '/runs']) {
          const answer = await call(
            'GET',
            `/api/v1${path}${more}?date=${date}&timezone=${timezone}`,
          );
          expect(answer.status, `${date} ${timezone}${more}`).toBe(200);
        }
      }
    }
  });

  it('of another organization’s agent, or of none, is 404', async () => {
    const { apiKey: key } = await served.stranger();
    for (const more of ['', '/runs']) {
      const day = `/api/v1${path}${more}?date=2026-03-10&timezone=UTC`;
      const foreign = await call('GET', `${day}&workflow_id=${stored.workflowId}`, { key });
      const missing = await call('GET', `${day}&workflow_id=999999`);
      const wrong = await call('GET', `${day}&workflow_id=x`);
      expect([foreign.status, missing.status, wrong.status]).toEqual([404, 404, 422]);
      expect(missing.body).toEqual({
        detail: 'Workflow with id 999999 not found',
        code: 'WORKFLOW_NOT_FOUND',
      });
    }
  });

  it('names the agents that it can be about', async () => {
    expect(await ok('GET', '/organizations/reports/workflows')).toEqual([
      { id: stored.workflowId, name: 'agent' },
    ]);
  });
});
