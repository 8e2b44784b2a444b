// The route that explains a run: its shape, who gets it, and what it says while the call goes on.

import { expect, it } from 'vitest';
import { callExplanation } from '../../../src/model/call-explanation.ts';
import { withApi } from '../served.ts';
import { withStoredRuns } from './stored-runs.ts';

const served = withApi();
const stored = withStoredRuns(served);

const path = (id: string, workflow = stored.workflowId) => `/workflow/${workflow}/runs/${id}/why`;

async function busyRun(): Promise<string> {
  const run = await stored.aRun();
  const { runs } = served.test.store;
  const event = { runId: run.id, at: served.test.clock.now(), mediaMs: 0 };
  await runs.appendEvents([
    {
      ...event,
      seq: 1,
      body: {
        type: 'call.created',
        direction: 'outbound',
        provider: 'twilio',
        from: '+15550199',
        to: '+15550100',
      },
    },
    {
      ...event,
      seq: 2,
      body: {
        type: 'call.status',
        status: 'busy',
        providerStatus: 'busy',
        callId: 'CA1',
        durationS: null,
        raw: {},
      },
    },
    {
      ...event,
      seq: 3,
      body: { type: 'call.ended', reason: 'busy', by: 'provider', durationS: 0 },
    },
  ]);
  await runs.patch(run.id, stored.completed({ disposition: 'busy' }));
  return run.id;
}

it('says in words why a call ended, whose doing it was and what to do', async () => {
  const body = await served.ok('GET', path(await busyRun()));
  expect(callExplanation.parse(body)).toEqual({
    verdict: 'callee_busy',
    party: 'caller',
    summary: '+15550100 is busy (busy).',
    where: {
      node_id: null,
      node_name: null,
      at_ms: 0,
      turn: 0,
      service: null,
      tool: null,
      provider: 'twilio',
    },
    evidence: [
      { id: 2, at_ms: 0, type: 'call.status', text: 'The provider reported busy (busy).' },
    ],
    advice: ['Call again later. Campaigns do so by their retry settings.'],
    also: [],
    is_final: true,
    events: { read: 3, total: 3 },
  });
});

it('says that a call goes on', async () => {
  const { id } = await stored.aRun();
  expect(await served.ok('GET', path(id))).toMatchObject({
    verdict: 'in_progress',
    party: 'nobody',
    is_final: false,
  });
});

it('is for the owner of the run alone, under its own agent', async () => {
  const id = await busyRun();
  const { apiKey: key } = await served.stranger();
  for (const [url, options] of [
    [path(id), { key }],
    [path(id, '999999'), {}],
    [path('999999'), {}],
  ] as const) {
    expect(await served.call('GET', `/api/v1${url}`, options)).toMatchObject({
      status: 404,
      body: { detail: 'Workflow run not found' },
    });
  }
});
