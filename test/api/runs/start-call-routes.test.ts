import { describe, expect, it } from 'vitest';
import { type ErrorCode, GatewayError } from '../../../src/errors/gateway-error.ts';
import { withApi } from '../served.ts';

const served = withApi();
const { call, ok } = served;
const body = { phone_number: '+15550100', initial_context: { customer_name: 'Ana' } };

describe('starting a call', () => {
  it('answers with the run, its id as a string (A.4)', async () => {
    expect(await ok('POST', '/public/agent/workflow/5f0c', body)).toEqual({
      status: 'initiated',
      workflow_run_id: '42',
      workflow_run_name: 'WR-API-4821',
    });
  });

  it('takes the digits of an integer beyond 2^53 as they are', async () => {
    const text =
      '{"phone_number":"+15550100","initial_context":{"order":12345678901234567890,"ticket":[9007199254740993]}}';
    const headers = { 'content-type': 'application/json' };
    const answer = await call('POST', '/api/v1/public/agent/x', { body: text, headers });
    expect(answer.status).toBe(200);
    expect(served.callService.started[0]).toMatchObject({
      initialContext: { order: '12345678901234567890', ticket: ['9007199254740993'] },
    });
  });

  it.each([
    ['workflow/5f0c', 'workflow_uuid', 'production'],
    ['test/workflow/5f0c', 'workflow_uuid', 'test'],
    ['5f0c', 'trigger_path', 'production'],
    ['test/5f0c', 'trigger_path', 'test'],
  ])('at /public/agent/%s names a %s, for %s', async (path, type, mode) => {
    await ok('POST', `/public/agent/${path}/`, {
      ...body,
      telephony_configuration_id: '7',
      from_phone_number_id: 8,
    });
    const { organizationId, userId } = served.test.owner;
    expect(served.callService.started).toEqual([
      {
        organizationId,
        apiKeyId: expect.stringMatching(/^\d+$/),
        apiKeyCreatedBy: userId,
        agent: { type, identifier: '5f0c' },
        mode,
        phoneNumber: '+15550100',
        initialContext: { customer_name: 'Ana' },
        configurationId: '7',
        fromPhoneNumberId: '8',
        idempotencyKey: null,
      },
    ]);
  });

  it.each(['public/agent/x', 'public/agent/test/workflow/x', 'telephony/initiate-call'])(
    'at /%s forwards the Idempotency-Key, which is short and printable',
    async (path) => {
      const start = (key: string) =>
        call('POST', `/api/v1/${path}`, {
          body: { ...body, workflow_id: 1 },
          headers: { 'idempotency-key': key },
        });
      expect((await start('order-7:a/b')).status).toBe(200);
      expect((await start('x'.repeat(255))).status).toBe(200);
      const keys = served.callService.started.map(({ idempotencyKey }) => idempotencyKey);
      expect(keys).toEqual(['order-7:a/b', 'x'.repeat(255)]);
      for (const key of ['', 'two words', 'x'.repeat(256), 'caf\xe9']) {
        const { status, body: fault } = await start(key);
        expect([status, fault.detail[0].loc]).toEqual([422, ['header', 'idempotency-key']]);
      }
    },
  );

  it('needs only a phone number', async () => {
    await ok('POST', '/public/agent/x', { phone_number: 'sip:1@pbx', initial_context: null });
    expect(served.callService.started[0]).toMatchObject({
      phoneNumber: 'sip:1@pbx',
      initialContext: {},
      configurationId: null,
      fromPhoneNumberId: null,
    });
  });

  it('without the header is not valid, and with a wrong key refused', async () => {
    const without = await call('POST', '/api/v1/public/agent/x', { body, key: null });
    expect(without.status).toBe(422);
    expect(without.body.detail).toEqual([
      { type: 'missing', loc: ['header', 'X-API-Key'], msg: 'Field required', input: null },
    ]);
    const wrong = await call('POST', '/api/v1/public/agent/x', { body, key: 'wrong' });
    expect([wrong.status, wrong.body]).toEqual([
      401,
      { detail: 'Invalid API key', code: 'AGENT_API_KEY_INVALID' },
    ]);
    const bearer = await call('POST', '/api/v1/public/agent/x', {
      body,
      key: null,
      headers: { authorization: `Bearer ${served.test.apiKey}` },
    });
    expect(bearer.status).toBe(422);
    expect(served.callService.started).toEqual([]);
  });

  it.each<[ErrorCode, number, string, Record<string, string>?]>([
    ['TRIGGER_NOT_FOUND', 404, 'Agent trigger not found'],
    ['TRIGGER_FORBIDDEN', 403, 'Access denied'],
    ['TRIGGER_NOT_ACTIVE', 404, 'Agent trigger is not active'],
    ['AGENT_NOT_FOUND', 404, 'Workflow not found'],
    ['AGENT_NOT_ACTIVE', 404, 'Workflow is not active'],
    ['AGENT_NOT_PUBLISHED', 404, 'Workflow has no published definition'],
    ['TRIGGER_NOT_IN_AGENT', 404, 'Trigger not found in the selected Agent'],
    ['TELEPHONY_NOT_CONFIGURED', 400, 'Telephony provider not configured for this organization'],
    ['CONFIGURATION_NOT_FOUND', 404, 'Telephony configuration not found'],
    [
      'CONFIGURATION_NOT_READY',
      400,
      "'x' is not ready for outbound calls. Why.",
      { name: 'x', reason: 'Why.' },
    ],
    [
      'CONFIGURATION_INACTIVE',
      400,
      "'x' is not ready for outbound calls. Why.",
      { name: 'x', reason: 'Why.' },
    ],
    ['CALLER_ID_NOT_FOUND', 400, 'from_phone_number_not_found'],
    ['CALL_LIMIT_REACHED', 429, 'Concurrent call limit reached'],
    ['GATEWAY_DRAINING', 503, 'This gateway is shutting down and accepts no new calls'],
    [
      'GATEWAY_OVERLOADED',
      503,
      'This gateway is at its limit and accepts no new calls now. Try again in a few seconds',
    ],
  ])('is refused with %s as %i', async (code, status, detail, facts) => {
    served.callService.refusal = new GatewayError(code, facts);
    const answer = await call('POST', '/api/v1/public/agent/x', { body });
    const retryAfter = [429, 503].includes(status) ? 5 : undefined;
    const refusal = { detail, code, retry_after: retryAfter };
    expect([answer.status, answer.body]).toEqual([status, refusal]);
    expect(answer.headers['retry-after']).toBe(retryAfter?.toString());
  });

  it('with a context that is larger than calls can use is refused', async () => {
    const large = { ...body, initial_context: { list: Array.from({ length: 2_001 }, () => 1) } };
    const answer = await call('POST', '/api/v1/public/agent/x', { body: large });
    expect([answer.status, answer.body.detail[0].loc, answer.body.detail[0].msg]).toEqual([
      422,
      ['body', 'initial_context'],
      'Value error, is too large: more than 2000 values',
    ]);
    expect(served.callService.started).toEqual([]);
  });

  it.each(['CALL_NOT_PLACED', 'CALL_UNCERTAIN'] as const)(
    'names its stored run as %s',
    async (code) => {
      const facts = { reason: 'no', runId: '7', runName: 'WR-API-0007' };
      served.callService.refusal = new GatewayError(code, facts);
      const answer = await call('POST', '/api/v1/public/agent/x', { body });
      expect([answer.status, answer.body]).toEqual([
        400,
        {
          detail: 'Failed to initiate call: no',
          code,
          workflow_run_id: '7',
          workflow_run_name: 'WR-API-0007',
        },
      ]);
    },
  );
});
