import { describe, expect, it } from 'vitest';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);
const pathOf = (runId: string) => `/workflow/${stored.workflowId}/runs/${runId}/events.json`;

describe('GET .../events.json', () => {
  it('gives the log page by page, in order', async () => {
    const run = await stored.aRun({ state: 'running' });
    await served.test.store.runs.appendEvents(
      [1, 2, 3].map((seq) => ({
        runId: run.id,
        seq,
        at: Date.UTC(2026, 0, 15, 9, 0, seq),
        mediaMs: seq * 20.5,
        body: { type: 'dtmf' as const, digit: String(seq) },
      })),
    );
    const first = await served.ok('GET', `${pathOf(run.id)}?limit=2`);
    expect(first.events[0]).toEqual({
      seq: 1,
      at: '2026-01-15T09:00:01.000Z',
      at_ms: 20.5,
      type: 'dtmf',
      data: { digit: '1' },
    });
    const second = await served.ok('GET', `${pathOf(run.id)}?limit=2&after=${first.next}`);
    expect([second.events.map(({ seq }: { seq: number }) => seq), second.next]).toEqual([
      [3],
      null,
    ]);
  });

  it('is refused to another organization, and beyond its limits', async () => {
    const run = await stored.aRun();
    const { apiKey } = await served.stranger();
    const { body } = await served.call('GET', `/api/v1${pathOf(run.id)}`, { key: apiKey });
    expect(body.code).toBe('RUN_NOT_FOUND');
    for (const query of ['limit=501', 'after=-1', 'after=x']) {
      expect((await served.call('GET', `/api/v1${pathOf(run.id)}?${query}`)).status).toBe(422);
    }
  });
});
