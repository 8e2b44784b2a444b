// Variables that are fetched while the phone rings. Source: contract §8.1.

import fc from 'fast-check';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { variablesIn } from '../../../../src/call/start/setup/pre-call-fetch.ts';
import { type RestServer, startRestServer } from '../../../telephony/provider/rest-server.ts';
import { type Data, definition, edge, end, start } from '../../../workflow/definitions.ts';
import { CALLER, NUMBER, withCallHarness } from '../../call-harness.ts';
import type { Stream } from '../../stream.ts';

const at = withCallHarness();
let crm: RestServer;

beforeAll(async () => {
  crm = await startRestServer();
});
beforeEach(() => {
  crm.asked.length = 0;
  crm.answer = { status: 200, body: {} };
});
afterAll(() => crm.close());

function prepare(data: Data = {}) {
  const first = start('talk', {
    name: 'Talk',
    greeting: 'Hello {{customer | stranger}}.',
    pre_call_fetch_mode: 'always',
    pre_call_fetch_url: `${crm.url}/lookup`,
    ...data,
  });
  return at.harness.prepare(definition([first, end('bye')], [edge('talk', 'bye')]));
}

const spoken = () => at.harness.tts.asked;

async function greeting(stream: Stream): Promise<string | undefined> {
  await at.harness.heardOut(stream);
  return spoken().at(-1);
}

describe('variables before a call', () => {
  it('are asked for with both numbers, and are in the greeting and the run', async () => {
    await prepare({ pre_call_fetch_credential_uuid: 'c1' });
    crm.answer = {
      status: 200,
      body: { call_inbound: { initial_context: { customer: 'Ana', provider: 'evil' } } },
    };
    const { stream, run } = await at.harness.inboundCall();
    await at.harness.until(() => spoken().length > 0);
    expect(await greeting(stream)).toBe('Hello Ana.');
    const [asked] = crm.asked;
    expect(asked).toMatchObject({ method: 'POST', path: '/lookup' });
    expect(asked?.headers).toMatchObject({
      'x-key': 'of the credential',
      'content-type': 'application/json',
    });
    expect(JSON.parse(asked?.body ?? '')).toEqual({
      event: 'call_inbound',
      call_inbound: {
        agent_id: Number(run.workflowId),
        from_number: CALLER,
        to_number: NUMBER,
      },
    });
    await at.harness.until(async () => {
      return (await at.harness.run(run.id)).initialContext['customer'] === 'Ana';
    });
    expect((await at.harness.run(run.id)).initialContext['provider']).toBe('twilio');
  });

  it('may replace the greeting', async () => {
    await prepare();
    const override = { type: 'text', text: 'Good day, {{customer}}!' };
    const variables = { customer: 'Bo', greeting_override: override };
    crm.answer = { status: 200, body: { dynamic_variables: variables } };
    const { stream } = await at.harness.inboundCall();
    await at.harness.until(() => spoken().length > 0);
    expect(await greeting(stream)).toBe('Good day, Bo!');
  });

  it('are waited for, ten seconds from the ring and no longer', async () => {
    await prepare();
    crm.answer = 'hang';
    const arrived = crm.next();
    const reply = await at.harness.ring();
    await arrived;
    await at.harness.pass(4_000);
    const stream = await at.harness.connect(reply);
    stream.start();
    await at.harness.pass(5_900);
    expect(spoken()).toEqual([]);
    await at.harness.pass(200);
    await at.harness.until(() => spoken().length > 0);
    expect(await greeting(stream)).toBe('Hello stranger.');
    const [run] = await at.harness.runs();
    await at.harness.until(async () => {
      const faults = await at.harness.bodies(run ?? { id: '' }, 'fault');
      return faults.some(({ code, fatal }) => code === 'TIMED_OUT' && !fatal);
    });
  });

  it('are waited for no longer where their credential is not found in time', async () => {
    await prepare({ pre_call_fetch_credential_uuid: 'c1' });
    at.harness.deps.http.credentialHeaders = () => new Promise<never>(() => undefined);
    const { stream } = await at.harness.inboundCall();
    await at.harness.pass(10_000);
    await at.harness.until(() => spoken().length > 0);
    expect(await greeting(stream)).toBe('Hello stranger.');
    expect(crm.asked).toEqual([]);
  });

  it.each([
    ['a refusal', { status: 500, body: {} } as const],
    ['a list', { status: 200, body: [1] } as const],
    [
      'more than a call can use',
      { status: 200, body: { initial_context: { a: 'x'.repeat(65_536) } } } as const,
    ],
    ['a broken connection', 'reset' as const],
  ])('are skipped after %s, which the run records', async (_what, answer) => {
    await prepare();
    crm.answer = answer;
    const { stream, run } = await at.harness.inboundCall();
    await at.harness.until(() => spoken().length > 0);
    expect(await greeting(stream)).toBe('Hello stranger.');
    await at.harness.until(async () => {
      const faults = await at.harness.bodies(run, 'fault');
      return faults.some(({ code }) => code === 'PRE_CALL_FETCH_FAILED');
    });
    expect((await at.harness.run(run.id)).gatheredContext['error']).toBeUndefined();
  });

  it('are not asked for in the other direction', async () => {
    await prepare({ pre_call_fetch_mode: 'outbound' });
    const { stream } = await at.harness.inboundCall();
    expect(await greeting(stream)).toBe('Hello stranger.');
    expect(crm.asked).toEqual([]);
  });

  it('do not keep a caller who hangs up', async () => {
    await prepare();
    crm.answer = 'hang';
    const arrived = crm.next();
    const { stream, run } = await at.harness.inboundCall();
    await arrived;
    await at.harness.pass(1_000);
    stream.lose();
    expect((await at.harness.ended(run)).disposition).toBe('user_hangup');
    at.harness.clock.advance(10_000);
    expect(spoken()).toEqual([]);
  });
});

describe('an answer', () => {
  const [a, b, c, d] = [{ from: 'a' }, { from: 'b' }, { from: 'c' }, { from: 'd' }];

  it.each([
    [{ call_inbound: { initial_context: a, dynamic_variables: b }, initial_context: c }, a],
    [{ call_inbound: { dynamic_variables: b }, initial_context: c }, b],
    [{ call_inbound: {}, initial_context: c, dynamic_variables: d }, c],
    [{ dynamic_variables: d }, d],
    [{ call_inbound: 'x', dynamic_variables: d }, d],
    [{ from: 'top' }, {}],
    [
      { initial_context: { runtime_configuration: 1, mps_correlation_id: 2, kept: 3 } },
      { kept: 3 },
    ],
  ])('%j gives %j', (answer, expected) => {
    expect(variablesIn(answer)).toEqual(expected);
  });

  const names = fc.constantFrom('initial_context', 'dynamic_variables', 'call_inbound', 'provider');
  const anything = fc.oneof(fc.jsonValue(), fc.dictionary(names, fc.jsonValue()));
  const answers = fc.dictionary(names, anything);

  it('of any kind gives variables without reserved names', () => {
    fc.assert(
      fc.property(answers, (answer) => {
        expect(variablesIn(answer)).not.toHaveProperty('provider');
      }),
    );
  });
});
