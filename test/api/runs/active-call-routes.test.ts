import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const { call, ok } = served;
const stored = withStoredRuns(served);

describe('active calls', () => {
  it('are those that ring or talk, newest first, with all that is known of them', async () => {
    await stored.aRun(stored.completed());
    const talking = await stored.aRun(
      {
        state: 'running',
        startedAt: new Date(served.test.clock.now() + 500),
        providerCallId: 'CA1',
      },
      { callType: 'inbound', initialContext: { caller_number: '+1', called_number: '+2' } },
    );
    const ringing = await stored.aRun();
    await served.test.sql("update runs set owner_node = 'gw-2:/var/lib/x'");
    const page = await ok('GET', '/calls/active');
    expect(page).toMatchObject({ total_count: 2, page: 1, limit: 50, total_pages: 1 });
    expect(page.calls).toEqual([
      expect.objectContaining({ workflow_run_id: ringing.id, state: 'ringing', call_id: null }),
      {
        workflow_run_id: talking.id,
        workflow_id: stored.workflowId,
        workflow_name: expect.stringMatching(/./),
        campaign_id: null,
        name: 'WR-API-0001',
        provider: 'twilio',
        call_id: 'CA1',
        direction: 'inbound',
        caller_number: '+1',
        called_number: '+2',
        state: 'answered',
        since: new Date(talking.createdAt.getTime() + 500).toISOString(),
        node: 'gw-2',
      },
    ]);
    expect(page.calls[0].since).toBe(ringing.createdAt.toISOString());
    const second = await ok('GET', '/calls/active?page=2&limit=1');
    expect(second.calls).toMatchObject([{ workflow_run_id: talking.id }]);
    const { apiKey: key } = await served.stranger();
    expect((await call('GET', '/api/v1/calls/active', { key })).body.total_count).toBe(0);
  });

  it('do not hold runs without a call', async () => {
    const path = `/workflow/${stored.workflowId}/runs`;
    await ok('POST', path, { mode: 'twilio', name: 'idle' });
    expect((await ok('GET', '/calls/active')).calls).toEqual([]);
  });
});

describe('hanging up', () => {
  const path = (runId: string, workflowId = stored.workflowId) =>
    `/api/v1/workflow/${workflowId}/runs/${runId}/hang-up`;

  it('says how the run is then', async () => {
    const run = await stored.aRun();
    served.callService.run = { ...run, state: 'completed', disposition: 'system_cancelled' };
    const { status, body } = await call('POST', path(run.id));
    expect([status, body]).toEqual([
      200,
      { workflow_run_id: run.id, state: 'completed', disposition: 'system_cancelled' },
    ]);
    expect(served.callService.hungUp).toContain(run.id);
  });

  it.each<[ErrorCode, number]>([
    ['RUN_WITHOUT_CALL', 409],
    ['CALL_OUT_OF_REACH', 409],
    ['PROVIDER_FAILED', 502],
  ])('refused as %s is answered %i', async (code, expected) => {
    const run = await stored.aRun();
    served.callService.refusal = new GatewayError(code);
    expect((await call('POST', path(run.id))).status).toBe(expected);
  });

  it('finds no run of another agent or another organization', async () => {
    const run = await stored.aRun();
    const { apiKey: key } = await served.stranger();
    const before = served.callService.hungUp.length;
    for (const answer of [
      await call('POST', path('999999')),
      await call('POST', path(run.id, '999999')),
      await call('POST', path(run.id), { key }),
    ]) {
      expect([answer.status, answer.body]).toEqual([
        404,
        { detail: 'Workflow run not found', code: 'RUN_NOT_FOUND' },
      ]);
    }
    expect(served.callService.hungUp).toHaveLength(before);
  });
});

describe('pressing keys', () => {
  const path = (runId: string, workflowId = stored.workflowId) =>
    `/api/v1/workflow/${workflowId}/runs/${runId}/digits`;

  it('forwards them', async () => {
    const run = await stored.aRun();
    const { status, body } = await call('POST', path(run.id), { body: { digits: '1w2*#A' } });
    expect([status, body]).toEqual([200, { workflow_run_id: run.id }]);
    expect(served.callService.pressed).toContainEqual({ runId: run.id, digits: '1w2*#A' });
  });

  it.each(['', '1 2', '1'.repeat(65)])('takes no %j', async (digits) => {
    const run = await stored.aRun();
    expect((await call('POST', path(run.id), { body: { digits } })).status).toBe(422);
  });

  it.each<[ErrorCode, number]>([
    ['CALL_NOT_TALKING', 409],
    ['DIGITS_WAITING', 409],
    ['DIGITS_UNSUPPORTED', 400],
    ['CALL_ELSEWHERE', 503],
    ['PROVIDER_FAILED', 502],
  ])('refused as %s is answered %i', async (code, expected) => {
    const run = await stored.aRun();
    served.callService.refusal = new GatewayError(code);
    const answer = await call('POST', path(run.id), { body: { digits: '1' } });
    expect(answer.status).toBe(expected);
  });

  it('finds no run of another agent or another organization', async () => {
    const run = await stored.aRun();
    const { apiKey: key } = await served.stranger();
    const body = { digits: '1' };
    for (const answer of [
      await call('POST', path('999999'), { body }),
      await call('POST', path(run.id, '999999'), { body }),
      await call('POST', path(run.id), { key, body }),
    ]) {
      expect(answer.status).toBe(404);
    }
  });
});
