import { beforeEach, describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { smallWorkflow, withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
let workflowId = '';

beforeEach(async () => {
  const made = await ok('POST', '/workflow/create/definition', {
    name: 'agent',
    workflow_definition: smallWorkflow,
  });
  workflowId = made.id;
});

describe('a test call', () => {
  it('is answered in the words of the contract, with the run besides', async () => {
    const body = { workflow_id: Number(workflowId), phone_number: '+15550100' };
    expect(await ok('POST', '/telephony/initiate-call', body)).toEqual({
      message: 'Call initiated successfully with run name WR-API-4821',
      workflow_run_id: '42',
      workflow_run_name: 'WR-API-4821',
    });
    const { organizationId, userId } = served.test.owner;
    expect(served.callService.started).toEqual([
      {
        organizationId,
        apiKeyId: expect.stringMatching(/^\d+$/),
        apiKeyCreatedBy: userId,
        workflowId,
        runId: null,
        phoneNumber: '+15550100',
        configurationId: null,
        fromPhoneNumberId: null,
        idempotencyKey: null,
      },
    ]);
  });

  it('needs only an agent', async () => {
    await ok('POST', '/telephony/initiate-call', {
      workflow_id: workflowId,
      workflow_run_id: 7,
      phone_number: '',
    });
    expect(served.callService.started[0]).toMatchObject({ runId: '7', phoneNumber: null });
  });

  it.each<[ErrorCode, number, string]>([
    ['TEST_NOT_CONFIGURED', 400, 'telephony_not_configured'],
    ['TEST_CONFIGURATION_NOT_FOUND', 400, 'telephony_configuration_not_found'],
    ['AGENT_NOT_FOUND', 404, 'Workflow not found'],
    ['CALLER_ID_NOT_FOUND', 400, 'from_phone_number_not_found'],
    [
      'PHONE_NUMBER_MISSING',
      400,
      "Phone number must be provided in the request, or as the organization's test_phone_number",
    ],
    ['RUN_NOT_FOUND', 404, 'Workflow run not found'],
    ['RUN_HAS_CALL', 409, 'Workflow run already has an active call'],
    ['RUN_OF_OTHER_WORKFLOW', 400, 'workflow_run_workflow_mismatch'],
    ['CALL_LIMIT_REACHED', 429, 'Concurrent call limit reached'],
    [
      'START_KEY_REUSED',
      409,
      'This Idempotency-Key was used for another request within the last day. Use a new one.',
    ],
  ])('refused as %s is answered %i', async (code, status, detail) => {
    served.callService.refusal = new GatewayError(code);
    const body = { workflow_id: workflowId };
    const answer = await call('POST', '/api/v1/telephony/initiate-call', { body });
    const retryAfter = status === 429 ? 5 : undefined;
    expect([answer.status, answer.body]).toEqual([
      status,
      { detail, code, retry_after: retryAfter },
    ]);
  });
});

describe('a run without a call', () => {
  const create = (body: unknown, id = workflowId) =>
    call('POST', `/api/v1/workflow/${id}/runs`, { body });

  it('is made of the draft and its variables', async () => {
    await ok('PUT', `/workflow/${workflowId}`, { template_context_variables: { who: 'Ada' } });
    const draft = await served.test.store.workflows.draft(workflowId);
    const { body } = await create({ mode: 'twilio', name: 'mine' });
    expect(body).toEqual({
      id: expect.stringMatching(/^\d+$/),
      workflow_id: workflowId,
      name: 'mine',
      mode: 'twilio',
      created_at: expect.stringMatching(/Z$/),
      definition_id: draft?.id,
      initial_context: { who: 'Ada' },
    });
    const run = await ok('GET', `/workflow/${workflowId}/runs/${body.id}`);
    expect(run).toMatchObject({ state: 'initialized', is_completed: false, call_type: 'outbound' });
  });

  it('of a browser is inbound, unless the agent says that it calls', async () => {
    const made = async () => {
      const { body } = await create({ mode: 'smallwebrtc', name: 'b' });
      return (await ok('GET', `/workflow/${workflowId}/runs/${body.id}`)).call_type;
    };
    expect(await made()).toBe('inbound');
    await ok('PUT', `/workflow/${workflowId}`, {
      template_context_variables: { direction: 'outbound' },
    });
    expect(await made()).toBe('outbound');
  });

  it('needs an agent of the organization', async () => {
    expect((await create({ mode: 'ari', name: 'x' }, '999999')).body).toEqual({
      detail: 'Workflow not found',
      code: 'AGENT_NOT_FOUND',
    });
  });
});
