// Reports and public tokens on both engines. Source: contract §9.11, specification §2.5.

import { describe, expect, it } from 'vitest';
import type { ReportRow } from '../../../src/store/runs/reports.ts';
import { engines } from '../databases.ts';
import { withStore } from '../engines.ts';
import { runMaker } from './run-rows.ts';

const DAY_MS = 86_400_000;
const done = (durationS: number, more = {}) => ({
  state: 'completed' as const,
  disposition: 'sold',
  durationS,
  ...more,
});

describe.each(engines())('reports on %s', (engine) => {
  const at = withStore(engine);
  const scope = () => ({ organizationId: at.owner.organizationId });

  it('give what a table shows of a call', async () => {
    const { make, ...ids } = await runMaker(at);
    const gatheredContext = { extracted_variables: { drink: 'tea' }, call_tags: ['a', 'b'] };
    const run = await make(done(3, { gatheredContext, recordingKey: 'recordings/1.wav' }));
    const contexts = { initialContext: { caller_number: '+47' } };
    const inbound = await make(done(4, { gatheredContext: { call_tags: 'x' } }), {
      ...contexts,
      callType: 'inbound',
    });
    const [second, first] = await at.store.reports.rows(scope(), {}, undefined);
    expect(first).toEqual({
      id: run.id,
      campaignId: null,
      workflowId: ids.workflowId,
      definitionId: ids.definitionId,
      createdAt: run.createdAt,
      phoneNumber: '+1',
      disposition: 'sold',
      durationS: 3,
      extracted: { drink: 'tea' },
      tags: ['a', 'b'],
      hasTranscript: false,
      hasRecording: true,
    });
    expect(second).toMatchObject({ id: inbound.id, phoneNumber: '+47', tags: [], extracted: {} });
    expect(await at.store.reports.rows(scope(), {}, second)).toEqual([first]);
    expect(await at.store.reports.rows(scope(), {}, first)).toEqual([]);
    expect(await at.store.reports.rows({ organizationId: '999999' }, {}, undefined)).toEqual([]);
  });

  it('read on behind a cursor, also among calls of the same moment', async () => {
    const { workflowId, definitionId } = await runMaker(at);
    await at.sql(
      `insert into runs (organization_id, workflow_id, definition_id, name, mode, call_type, state,
        owner_node, initial_context, gathered_context, logs, annotations, duration_s, created_at)
       select $1, $2, $3, 'r', 'ari', 'inbound', 'completed', 'n', '{}',
        jsonb_build_object('extracted_variables', jsonb_build_object('v' || i % 300, i)),
        '{}', '{}', i, timestamptz '2026-01-01' + (i / 700) * interval '1 second'
       from generate_series(1, 12000) i`,
      [at.owner.organizationId, workflowId, definitionId],
    );
    const lengths: number[] = [];
    let last: ReportRow | undefined;
    for (;;) {
      const rows = await at.store.reports.rows(scope(), { durationMaxS: 2_000 }, last);
      if (rows.length === 0) break;
      expect(rows.length).toBeLessThanOrEqual(500);
      lengths.push(...rows.map(({ durationS }) => durationS));
      last = rows.at(-1);
    }
    expect(lengths).toEqual(Array.from({ length: 2_000 }, (_, i) => 2_000 - i));
    const names = await at.store.reports.variables(scope(), {});
    expect(names).toHaveLength(200);
    expect(names).toEqual([...names].sort());
    const few = await at.store.reports.variables(scope(), { durationMaxS: 2 });
    expect(few).toEqual(['v1', 'v2']);
    expect(await at.store.reports.variables(scope(), { durationMinS: 99_999 })).toEqual([]);
  });

  it('add usage up, over all that match and day by day', async () => {
    const { make } = await runMaker(at);
    const begin = at.clock.now();
    await make(done(10, { costInfo: { dograh_token_usage: 5 } }));
    await make();
    at.clock.advance(DAY_MS);
    await make(done(1.5, { costInfo: { dograh_token_usage: 1 } }));
    const { reports } = at.store;
    expect(await reports.sums(scope(), {})).toEqual({ calls: 3, durationS: 11.5, tokens: 6 });
    expect(await reports.sums(scope(), { durationMinS: 2 })).toMatchObject({ calls: 1, tokens: 5 });
    const span = (day: number) => ({
      from: new Date(begin + day * DAY_MS),
      to: new Date(begin + (day + 1) * DAY_MS),
    });
    expect(await reports.sumsBySpan(scope(), [span(-1), span(0), span(1)])).toEqual([
      { calls: 0, durationS: 0, tokens: 0 },
      { calls: 2, durationS: 10, tokens: 5 },
      { calls: 1, durationS: 1.5, tokens: 1 },
    ]);
    expect(await reports.sumsBySpan(scope(), [])).toEqual([]);
    expect(await reports.sumsBySpan({ organizationId: 'x' }, [span(0)])).toMatchObject([
      { calls: 0 },
    ]);
  });

  it('count the ends and lengths of a day', async () => {
    const { make, workflowId } = await runMaker(at);
    const from = new Date(at.clock.now());
    for (const durationS of [0, 9.99, 10, 29, 60, 179, 180]) await make(done(durationS));
    await make({ state: 'completed', disposition: 'busy' });
    await make();
    const to = new Date(at.clock.now());
    await make(done(5));
    const day = await at.store.reports.day({ ...scope(), workflowId }, { from, to });
    expect(day).toEqual({
      calls: 8,
      dispositions: [
        { disposition: 'sold', calls: 7 },
        { disposition: 'busy', calls: 1 },
      ],
      lengths: [3, 2, 0, 1, 1, 1],
    });
    const foreign = await at.store.reports.day({ organizationId: '999999' }, { from, to });
    expect(foreign.calls).toBe(0);
  });

  it('name the agents of their organization alone', async () => {
    const { workflowId } = await runMaker(at);
    const { reports } = at.store;
    const named = await reports.workflowNames(at.owner.organizationId, [workflowId, '9', 'x']);
    expect([...named]).toEqual([[workflowId, 'Desk']]);
    expect((await reports.workflowNames('999999', [workflowId])).size).toBe(0);
  });
});

describe.each(engines())('public tokens on %s', (engine) => {
  const at = withStore(engine);

  it('work for a month from their first issue, however often the run is read', async () => {
    const { make } = await runMaker(at);
    const { runs } = at.store;
    const run = await make();
    const token = await runs.publicToken(run.id);
    at.clock.advance(29 * DAY_MS);
    expect(await runs.publicToken(run.id)).toBe(token);
    at.clock.advance(DAY_MS - 1);
    expect((await runs.findByToken(token))?.id).toBe(run.id);
    at.clock.advance(1);
    expect(await runs.findByToken(token)).toBeUndefined();
  });

  it('that have lapsed are never given out again', async () => {
    const { make } = await runMaker(at);
    const { runs } = at.store;
    const run = await make();
    const token = await runs.publicToken(run.id);
    at.clock.advance(31 * DAY_MS);
    const next = await runs.publicToken(run.id);
    expect(next).not.toBe(token);
    expect(await runs.findByToken(token)).toBeUndefined();
    expect((await runs.findByToken(next))?.id).toBe(run.id);
  });

  it('are minted for many runs at once, one each', async () => {
    const { make } = await runMaker(at);
    const { runs } = at.store;
    const made = [await make(), await make()];
    const ids = made.map(({ id }) => id);
    const tokens = await runs.publicTokens([...ids, '999999', 'x']);
    expect([...tokens.keys()].sort()).toEqual([...ids].sort());
    expect(new Set(tokens.values()).size).toBe(2);
    expect(await runs.publicTokens(ids)).toEqual(tokens);
    expect((await runs.publicTokens([])).size).toBe(0);
  });
});
