// Starting calls: every refusal in the contract's order, and what a call looks like once it is dialled.
// Source: contract §5.6, §6.1, §7.6.

import { describe, expect, it } from 'vitest';
import type { SpeechOwner } from '../../../../src/call/start/setup/call-services.ts';
import type { StartCall } from '../../../../src/call/start/setup/call-start.ts';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../../../src/model/workflow.ts';
import { RecognizingService } from '../../../fakes/services/recognizing-service.ts';
import { definition, edge, end, start } from '../../../workflow/definitions.ts';
import {
  CALL,
  CALLER,
  type CallHarness,
  drinks,
  GOODBYE,
  NUMBER,
  withCallHarness,
} from '../../call-harness.ts';
import { ScriptedModel } from '../../scripted-model.ts';

const held = withCallHarness();

const triggered = definition(
  [
    ...drinks.nodes,
    { id: 'trigger', type: 'trigger', data: { name: 'API', trigger_path: 'order-drinks' } },
  ],
  [...drinks.edges],
);

const override = { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline: {} } };
const voiced = definition(
  [start('ask', { greeting: 'Hello', voice: 'rms' }), end('bye')],
  [edge('ask', 'bye', { label: 'Finish' })],
);

async function refused(harness: CallHarness, request: Partial<StartCall> = {}): Promise<string> {
  const error = await harness.start(request).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return codeOf(error) ?? 'started';
}

/** The form of a dial. */
function dialled(harness: CallHarness): URLSearchParams {
  expect(harness.dials).toHaveLength(1);
  return new URLSearchParams(harness.dials[0]?.body);
}

describe('a start is refused', () => {
  it('with the first reason in the order of the contract, and without a run', async () => {
    const harness = held.harness;
    const { store, owner } = harness.at;
    const { workflow } = await store.workflows.create(owner, {
      name: 'Drinks',
      triggerPaths: ['order-drinks'],
      definition: triggered,
      configurations: {},
      templateContextVariables: {},
    });
    harness.workflow = workflow;
    const byTrigger = (identifier: string): Partial<StartCall> => ({
      agent: { type: 'trigger_path', identifier },
    });
    const byUuid = (identifier: string): Partial<StartCall> => ({
      agent: { type: 'workflow_uuid', identifier },
    });
    expect(await refused(harness, byUuid('none'))).toBe('AGENT_NOT_FOUND');
    expect(await refused(harness, byUuid('999999'))).toBe('AGENT_NOT_FOUND');
    expect(await refused(harness, byUuid(workflow.id))).toBe('AGENT_UUID_EXPECTED');
    expect(await refused(harness, { ...byUuid(workflow.id), organizationId: '999' })).toBe(
      'AGENT_NOT_FOUND',
    );
    expect(await refused(harness, { organizationId: '999' })).toBe('AGENT_NOT_FOUND');
    expect(await refused(harness, byTrigger('none'))).toBe('TRIGGER_NOT_FOUND');
    for (const named of [workflow.id, workflow.uuid]) {
      expect(await refused(harness, byTrigger(named))).toBe('TRIGGER_PATH_EXPECTED');
      const foreign = { ...byTrigger(named), organizationId: '999' };
      expect(await refused(harness, foreign)).toBe('TRIGGER_NOT_FOUND');
    }
    expect(await refused(harness, { ...byTrigger('order-drinks'), organizationId: '999' })).toBe(
      'TRIGGER_FORBIDDEN',
    );
    expect(await refused(harness)).toBe('TELEPHONY_NOT_CONFIGURED');
    expect(await refused(harness, { configurationId: '999' })).toBe('CONFIGURATION_NOT_FOUND');
    harness.configuration = await harness.configure('Main');
    expect(await refused(harness)).toBe('CONFIGURATION_NOT_READY');
    const named = { configurationId: harness.configuration.id };
    expect(await refused(harness, named)).toBe('CONFIGURATION_NOT_READY');
    const { id } = harness.configuration;
    await store.telephony.deactivate(owner.organizationId, id, 'It is off.');
    expect(await refused(harness)).toBe('CONFIGURATION_INACTIVE');
    expect(await refused(harness, named)).toBe('CONFIGURATION_INACTIVE');
    await store.telephony.reactivate(owner.organizationId, id);
    harness.number = await harness.addNumber(NUMBER);
    expect(await refused(harness, { fromPhoneNumberId: '999' })).toBe('CALLER_ID_NOT_FOUND');
    const other = await harness.configure('Other');
    const foreign = await harness.addNumber('+14155550103', { configurationId: other.id });
    expect(await refused(harness, { ...named, fromPhoneNumberId: foreign.id })).toBe(
      'CALLER_ID_NOT_FOUND',
    );
    await store.workflows.setStatus(owner.organizationId, workflow.id, 'archived');
    expect(await refused(harness)).toBe('AGENT_NOT_ACTIVE');
    expect(await refused(harness, byTrigger('order-drinks'))).toBe('AGENT_NOT_ACTIVE');
    await store.workflows.setStatus(owner.organizationId, workflow.id, 'active');
    await store.workflows.saveDraft(workflow.id, { definition: switchedOff(drinks) });
    await store.workflows.publish(workflow.id);
    expect(await refused(harness, byTrigger('order-drinks'))).toBe('TRIGGER_NOT_ACTIVE');
    await store.workflows.saveDraft(workflow.id, { definition: drinks });
    await store.workflows.publish(workflow.id);
    expect(await refused(harness, byTrigger('order-drinks'))).toBe('TRIGGER_NOT_IN_AGENT');
    await store.workflows.saveDraft(workflow.id, { triggerPaths: [] });
    await store.workflows.publish(workflow.id);
    expect(await refused(harness, byTrigger('order-drinks'))).toBe('TRIGGER_NOT_ACTIVE');
    expect(await harness.runs()).toEqual([]);
    expect(harness.rest.asked).toEqual([]);
  });

  it('when the organization has its fill of calls, without a run or a dial', async () => {
    const harness = await held.harness.prepare();
    const limit = await harness.at.store.accounts.concurrentCallLimit(
      harness.at.owner.organizationId,
    );
    for (let n = 0; n < limit; n++) await harness.ring(`CallSid=CA${n}`);
    expect(await refused(harness)).toBe('CALL_LIMIT_REACHED');
    expect(await harness.runs()).toHaveLength(limit);
    expect(harness.dials).toEqual([]);
  });

  it('while the gateway drains', async () => {
    const harness = await held.harness.prepare();
    const drained = harness.callControl.drain(1_000);
    expect(await refused(harness)).toBe('GATEWAY_DRAINING');
    await drained;
    expect(await harness.runs()).toEqual([]);
  });
});

describe('a call that is started', () => {
  // As a customer's own records have them; Telnyx and Vonage refuse anything but + and digits.
  it.each(['+1 (415) 555-0100', ' +1-415-555-0100 ', '001 415 555 0100'])(
    'to a number that is written %s goes to the number itself',
    async (phoneNumber) => {
      const harness = await held.harness.prepare();
      const { runId } = await harness.start({ phoneNumber });
      expect(dialled(harness).get('To')).toBe(CALLER);
      const { called_number: called } = (await harness.run(runId)).initialContext;
      expect(called).toBe(phoneNumber);
    },
  );

  it.each([
    ['(415) 555-0144', '+14155550144'],
    ['14155550105', '+14155550105'],
    ['+44 (0)20 7946 0018', '+442079460018'],
    ['sip:Bob@pbx.example.com', 'sip:Bob@pbx.example.com'],
  ])('to %s goes to %s, by the country of the caller id', async (phoneNumber, to) => {
    const harness = await held.harness.prepare();
    await harness.start({ phoneNumber });
    expect(dialled(harness).get('To')).toBe(to);
    await harness.startTest({ phoneNumber });
    expect(harness.dials.map(({ body }) => new URLSearchParams(body).get('To'))).toEqual([to, to]);
  });

  it('names the variables of its agent that have no value, in the answer and in the run', async () => {
    const harness = await held.harness.prepare();
    const { workflows } = harness.at.store;
    const asking = definition(
      [start('ask', { greeting: 'Hi {{First Name}}, this is {{agent}} | {{x | y}}.' }), end('bye')],
      [edge('ask', 'bye', { label: 'Finish' })],
    );
    await workflows.saveDraft(harness.workflow.id, { definition: asking });
    await workflows.publish(harness.workflow.id);
    const started = await harness.start({ initialContext: { agent: '' } });
    expect(started).toMatchObject({ variablesWithoutValue: ['First Name', 'agent'] });
    expect((await harness.run(started.runId)).logs).toMatchObject({
      variables_without_value: ['First Name', 'agent'],
    });
    const initialContext = { first_name: 'Ana', agent: 'Bo' };
    const complete = await harness.start({ initialContext });
    expect(complete).toEqual({ runId: complete.runId, runName: complete.runName });
  });

  it('is dialled once, with its own URLs, and leaves a run with the contract’s context', async () => {
    const harness = await held.harness.prepare();
    const initialContext = {
      name: 'Ada',
      provider: 'forged',
      runtime_configuration: {},
      mps_correlation_id: 'x',
      workflow_run_id: '999',
      call_id: 'CA999',
      called_number: '+1',
      direction: 'inbound',
    };
    const { runId, runName } = await harness.start({ initialContext });
    expect(runName).toMatch(/^WR-API-\d{4}$/);
    const form = dialled(harness);
    const base = 'https://gw.example.com/api/v1/telephony/twilio';
    expect(form.get('To')).toBe(CALLER);
    expect(form.get('From')).toBe(NUMBER);
    expect(form.get('Url')).toBe(`${base}/answer/${runId}`);
    expect(form.get('StatusCallback')).toBe(`${base}/status-callback/${runId}`);
    const run = await harness.run(runId);
    expect(run).toMatchObject({
      name: runName,
      state: 'initialized',
      mode: 'twilio',
      callType: 'outbound',
      providerCallId: CALL,
      initialContext: {
        name: 'Ada',
        phone_number: CALLER,
        called_number: CALLER,
        caller_number: NUMBER,
        direction: 'outbound',
        provider: 'twilio',
        telephony_configuration_id: harness.configuration.id,
        trigger_mode: 'production',
        agent_identifier: harness.workflow.uuid,
        agent_identifier_type: 'workflow_uuid',
        workflow_uuid: harness.workflow.uuid,
        agent_uuid: harness.workflow.uuid,
        api_key_id: '7',
        api_key_created_by: '1',
      },
      gatheredContext: { provider: 'twilio', call_id: CALL, triggered_by: 'api' },
    });
    for (const key of ['mps_correlation_id', 'workflow_run_id', 'call_id']) {
      expect(run.initialContext).not.toHaveProperty(key);
    }
    expect(run.initialContext).not.toHaveProperty('runtime_configuration');
    expect(run.initialContext).not.toHaveProperty('from_phone_number_id');
  });

  it('opens the connection to the language model as it is dialled, and again as it is picked up', async () => {
    const harness = await held.harness.prepare();
    const llm = new ScriptedModel(harness.clock);
    harness.speech.llm = llm;
    const { runId } = await harness.start();
    expect(harness.dials).toHaveLength(1);
    await harness.until(() => llm.prepared === 1);
    await harness.pickUp(runId);
    expect(llm.prepared).toBe(2);
    expect(llm.requests).toEqual([]);
  });

  it('connects to recogniser and voice while it rings, and opens a session once it is answered', async () => {
    const harness = await held.harness.prepare();
    const stt = new RecognizingService({ clock: harness.clock, name: 'recogniser' });
    harness.speech.stt = stt;
    const { runId } = await harness.start();
    await harness.until(() => stt.prepared === 1 && harness.tts.prepared === 1);
    expect(stt.sessions).toEqual([]);
    const stream = await harness.connect(await harness.pickUp(runId));
    expect(stt.sessions).toEqual([]);
    stream.start();
    expect(stt.sessions.length).toBe(1);
  });

  it.each([
    ['of its agent', drinks, { model_configuration_v2_override: override }],
    ['of the node in which it begins', voiced, {}],
    ['of its organization', drinks, {}],
  ])('connects to the services %s while it rings', async (_whose, content, settings) => {
    const harness = await held.harness.prepare(content, settings);
    const { speech } = harness.deps.services;
    const { planOf } = speech;
    const owners: SpeechOwner[] = [];
    speech.planOf = (owner) => {
      owners.push(owner);
      return planOf(owner);
    };
    const { runId } = await harness.start();
    await harness.until(() => owners.length > 0);
    const { organizationId } = harness.at.owner;
    expect(owners).toEqual([
      { runId, organizationId, configurations: settings, definition: content },
    ]);
  });

  it('is led to its end when it is picked up', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    await harness.heardOut(stream);
    await harness.says(stream, 'tea');
    await harness.heardOut(stream);
    const done = await harness.ended({ id: runId });
    expect(done.disposition).toBe('user_qualified');
    expect((await harness.transcript(done)).at(-1)).toBe(`assistant: ${GOODBYE}`);
  });

  it('is started by a trigger, which its contexts name', async () => {
    const harness = await held.harness.prepare();
    const { store, owner } = harness.at;
    await store.workflows.create(owner, {
      name: 'Triggered',
      triggerPaths: ['order-drinks'],
      definition: triggered,
      configurations: {},
      templateContextVariables: {},
    });
    const agent = { type: 'trigger_path', identifier: 'order-drinks' } as const;
    const run = await harness.run((await harness.start({ agent })).runId);
    expect(run.initialContext).toMatchObject({
      agent_identifier: 'order-drinks',
      agent_identifier_type: 'trigger_path',
    });
    expect(run.gatheredContext).toMatchObject({ trigger_uuid: 'order-drinks' });
  });

  it('shows the number asked for, else the default caller, else one that is active', async () => {
    const harness = await held.harness.prepare();
    await harness.addNumber('+14155550104', { isActive: false });
    await harness.start();
    expect(dialled(harness).get('From')).toBe(NUMBER);
    const fallback = await harness.addNumber('+14155550105', { isDefaultCallerId: true });
    harness.rest.asked.length = 0;
    await harness.start();
    expect(dialled(harness).get('From')).toBe(fallback.addressNormalized);
    harness.rest.asked.length = 0;
    const { runId } = await harness.start({ fromPhoneNumberId: harness.number.id });
    expect(dialled(harness).get('From')).toBe(NUMBER);
    expect((await harness.run(runId)).initialContext['from_phone_number_id']).toBe(
      harness.number.id,
    );
  });

  it('uses the draft and the template variables in test mode alone', async () => {
    const harness = await held.harness.prepare();
    const draft = definition(
      [start('hi', { say: 'Draft.' }), end('bye')],
      [edge('hi', 'bye', { phrases: ['bye'] })],
    );
    const version = await harness.at.store.workflows.saveDraft(harness.workflow.id, {
      definition: draft,
      templateContextVariables: { name: 'Template', city: 'Rome' },
    });
    const test = await harness.start({ mode: 'test', initialContext: { name: 'Ada' } });
    expect(test.runName).toMatch(/^WR-TEST-\d{4}$/);
    const tested = await harness.run(test.runId);
    expect(tested.definitionId).toBe(version.id);
    expect(tested.initialContext).toMatchObject({
      name: 'Ada',
      city: 'Rome',
      trigger_mode: 'test',
    });
    const produced = await harness.run((await harness.start()).runId);
    expect(produced.definitionId).toBe(harness.version.id);
    expect(produced.initialContext).not.toHaveProperty('city');
  });

  it('is a success even if its id cannot be stored after dialling', async () => {
    const harness = await held.harness.prepare();
    const { runs } = harness.at.store;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    const { runId } = await harness.start();
    expect(harness.dials).toHaveLength(1);
    harness.deps.store.runs.patch = runs.patch.bind(runs);
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    await harness.heardOut(stream);
    stream.key('1');
    await harness.heardOut(stream);
    await harness.ended({ id: runId });
    expect(harness.hangUps[0]?.path).toContain(CALL);
  });

  it('is hung up at its end even if it was picked up before the dial was answered', async () => {
    const harness = await held.harness.prepare();
    const answers = harness.rest.answer;
    harness.rest.answer = 'hang';
    const starting = harness.start();
    await harness.until(() => harness.dials.length === 1);
    harness.rest.answer = answers;
    const runId = /answer%2F(\d+)/.exec(harness.dials[0]?.body ?? '')?.[1] ?? '';
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    await harness.heardOut(stream);
    stream.key('1');
    await harness.heardOut(stream);
    expect((await harness.ended({ id: runId })).disposition).toBe('user_qualified');
    expect(harness.hangUps[0]?.path).toContain(CALL);
    await harness.pass(15_000);
    expect((await starting).runId).toBe(runId);
    expect((await harness.run(runId)).gatheredContext).not.toHaveProperty('error');
  });
});

describe('a dial that fails', () => {
  it('leaves a completed run that says why, and is not tried again', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = { status: 400, body: { code: 21_211, message: 'Invalid To' } };
    const refusal = await harness.start().catch((error: unknown) => error);
    expect(harness.dials).toHaveLength(1);
    const [run] = await harness.runs();
    expect(refusal).toMatchObject({
      code: 'CALL_NOT_PLACED',
      facts: { runId: run?.id, runName: run?.name },
    });
    expect(run).toMatchObject({ state: 'completed', disposition: 'error', durationS: 0 });
    expect(run?.gatheredContext).toMatchObject({
      error: expect.stringContaining('21211'),
      call_disposition: 'error',
      mapped_call_disposition: 'error',
      call_tags: ['not_connected', 'telephony_error'],
    });
    expect(run?.logs['telephony_status_callbacks']).toMatchObject([
      { status: 'failed', data: { error: expect.any(String) } },
    ]);
    expect(run?.logs['realtime_feedback_events']).toMatchObject([
      { type: 'rtf-pipeline-error', payload: { fatal: true } },
    ]);
    expect(run?.gatheredContext['error']).toContain('21211: Invalid To');
  });

  it('for want of an answer is dialled once, and refused when it is picked up all the same', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = 'hang';
    const starting = harness.start().catch((error: unknown) => codeOf(error));
    await harness.until(() => harness.dials.length === 1);
    await harness.pass(15_000);
    expect(await starting).toBe('CALL_UNCERTAIN');
    await harness.pass(5_000);
    expect(harness.dials).toHaveLength(1);
    const [run] = await harness.runs();
    expect(run?.state).toBe('completed');
    const reply = await harness.pickUp(run?.id ?? '');
    expect(reply.status).toBe(200);
    expect(reply.body).toContain('something went wrong');
    expect(reply.body).not.toContain('<Stream');
  });

  it('answers the client even if the store does not take the callback, and closes the run', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = { status: 401, body: {} };
    harness.deps.store.runs.appendCallback = () => Promise.reject(new Error('store away'));
    await expect(harness.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
    await harness.passThrough(async () => (await harness.runs())[0]?.state === 'completed');
  });
});

describe('the answer webhook', () => {
  it('is refused without a good signature, and for a run that does not exist', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    const url = `https://gw.example.com/api/v1/telephony/twilio/answer/${runId}`;
    const forged = {
      ...(await import('../../call-harness.ts')).signed(url, 'CallSid=CA1', 'wrong'),
    };
    await expect(harness.callControl.answer('twilio', runId, forged)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
    await expect(harness.pickUp('999999')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(harness.callControl.answer('plivo', runId, forged)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });

  it('closes the run and the line when the agent cannot run', async () => {
    const harness = await held.harness.prepare();
    const { runId } = await harness.start();
    await harness.at.sql(`update workflow_versions set definition = '{"nodes":[],"edges":[]}'`);
    const reply = await harness.pickUp(runId);
    expect(reply.body).toContain('something went wrong');
    const run = await harness.run(runId);
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(harness.hangUps).toHaveLength(1);
  });
});

/** The same agent with a trigger at the path that starts no calls. */
function switchedOff(definition: WorkflowDefinition): WorkflowDefinition {
  const data = { name: 'Off', trigger_path: 'order-drinks', enabled: false };
  return { ...definition, nodes: [...definition.nodes, { id: 'off', type: 'trigger', data }] };
}
