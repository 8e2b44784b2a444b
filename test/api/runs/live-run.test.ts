import { describe, expect, it } from 'vitest';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { ok } = served;

describe('a run that is under way', () => {
  it('shows what has been said so far', async () => {
    const { id: workflowId } = await ok('POST', '/workflow/create/definition', {
      name: 'Agent',
      workflow_definition: smallWorkflow,
    });
    const fetched = await ok('GET', `/workflow/fetch/${workflowId}`);
    const config = { provider: 'twilio', account_sid: 'AC1', auth_token: 'x' };
    const { id: configurationId } = await ok('POST', '/organizations/telephony-configs', {
      name: 'Twilio',
      config,
    });
    const { runs } = served.deps.store;
    const { organizationId } = served.test.owner;
    const { run } = await runs.create(
      {
        organizationId,
        workflowId,
        definitionId: fetched.current_definition_id,
        name: 'WR-TEL-IN-1',
        mode: 'twilio',
        callType: 'inbound',
        configurationId,
        providerCallId: null,
        initialContext: {},
        gatheredContext: {},
        logs: { inbound_webhook: { account_id: 'AC1' } },
      },
      10,
    );
    await runs.patch(run.id, { state: 'running' });
    const heard = { text: 'Hello?', source: 'speech' as const, confidence: 0.9 };
    await runs.appendEvents([
      {
        runId: run.id,
        seq: 1,
        at: 1_700_000_001_000,
        mediaMs: 1_000,
        body: {
          type: 'user.turn',
          ...heard,
          nodeId: null,
          nodeName: null,
          startMs: 200,
          endMs: 900,
        },
      },
    ]);
    const { logs } = await ok('GET', `/workflow/${workflowId}/runs/${run.id}`);
    expect(logs.inbound_webhook).toEqual({ account_id: 'AC1' });
    expect(logs.realtime_feedback_events).toMatchObject([
      { type: 'rtf-user-transcription', payload: { text: 'Hello?' } },
    ]);
  });
});
