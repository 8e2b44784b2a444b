// Starting calls: every refusal in the contract's order, and what a call looks like once it is dialled.
// Source: contract §5.6, §6.1, §7.6.

import { describe, expect, it } from 'vitest';
import type { StartCall } from '../../../src/call/call-service.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { WorkflowDefinition } from '../../../src/model/workflow.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import {
  CALL,
  CALLER,
  type CallRoom,
  drinks,
  GOODBYE,
  NUMBER,
  withCallRoom,
} from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallRoom();

const triggered = definition(
  [
    ...drinks.nodes,
    { id: 'trigger', type: 'trigger', data: { name: 'API', trigger_path: 'order-drinks' } },
  ],
  [...drinks.edges],
);

async function refused(room: CallRoom, request: Partial<StartCall> = {}): Promise<string> {
  const error = await room.start(request).then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return codeOf(error) ?? 'started';
}

/** The form of a dial. */
function dialled(room: CallRoom): URLSearchParams {
  expect(room.dials).toHaveLength(1);
  return new URLSearchParams(room.dials[0]?.body);
}

describe('a start is refused', () => {
  it('with the first reason in the order of the contract, and without a run', async () => {
    const room = held.room;
    const { store, owner } = room.at;
    const { workflow } = await store.workflows.create(owner, {
      name: 'Drinks',
      triggerPaths: ['order-drinks'],
      definition: triggered,
      configurations: {},
      templateContextVariables: {},
    });
    room.workflow = workflow;
    const byTrigger = (identifier: string): Partial<StartCall> => ({
      agent: { type: 'trigger_path', identifier },
    });
    const byUuid = (identifier: string): Partial<StartCall> => ({
      agent: { type: 'workflow_uuid', identifier },
    });
    expect(await refused(room, byUuid('none'))).toBe('AGENT_NOT_FOUND');
    expect(await refused(room, { organizationId: '999' })).toBe('AGENT_NOT_FOUND');
    expect(await refused(room, byTrigger('none'))).toBe('TRIGGER_NOT_FOUND');
    expect(await refused(room, { ...byTrigger('order-drinks'), organizationId: '999' })).toBe(
      'TRIGGER_FORBIDDEN',
    );
    expect(await refused(room)).toBe('TELEPHONY_NOT_CONFIGURED');
    expect(await refused(room, { configurationId: '999' })).toBe('CONFIGURATION_NOT_FOUND');
    room.configuration = await room.configure('Main');
    expect(await refused(room)).toBe('CONFIGURATION_NOT_READY');
    const named = { configurationId: room.configuration.id };
    expect(await refused(room, named)).toBe('CONFIGURATION_NOT_READY');
    const { id } = room.configuration;
    await store.telephony.deactivate(owner.organizationId, id, 'It is off.');
    expect(await refused(room)).toBe('CONFIGURATION_INACTIVE');
    expect(await refused(room, named)).toBe('CONFIGURATION_INACTIVE');
    await store.telephony.reactivate(owner.organizationId, id);
    room.number = await room.addNumber(NUMBER);
    expect(await refused(room, { fromPhoneNumberId: '999' })).toBe('CALLER_ID_NOT_FOUND');
    const other = await room.configure('Other');
    const foreign = await room.addNumber('+14155550103', { configurationId: other.id });
    expect(await refused(room, { ...named, fromPhoneNumberId: foreign.id })).toBe(
      'CALLER_ID_NOT_FOUND',
    );
    await store.workflows.setStatus(owner.organizationId, workflow.id, 'archived');
    expect(await refused(room)).toBe('AGENT_NOT_ACTIVE');
    expect(await refused(room, byTrigger('order-drinks'))).toBe('AGENT_NOT_ACTIVE');
    await store.workflows.setStatus(owner.organizationId, workflow.id, 'active');
    await store.workflows.saveDraft(workflow.id, { definition: switchedOff(drinks) });
    await store.workflows.publish(workflow.id);
    expect(await refused(room, byTrigger('order-drinks'))).toBe('TRIGGER_NOT_ACTIVE');
    await store.workflows.saveDraft(workflow.id, { definition: drinks });
    await store.workflows.publish(workflow.id);
    expect(await refused(room, byTrigger('order-drinks'))).toBe('TRIGGER_NOT_IN_AGENT');
    await store.workflows.saveDraft(workflow.id, { triggerPaths: [] });
    await store.workflows.publish(workflow.id);
    expect(await refused(room, byTrigger('order-drinks'))).toBe('TRIGGER_NOT_ACTIVE');
    expect(await room.runs()).toEqual([]);
    expect(room.rest.asked).toEqual([]);
  });

  it('when the organization has its fill of calls, without a run or a dial', async () => {
    const room = await held.room.prepare();
    const limit = await room.at.store.accounts.concurrentCallLimit(room.at.owner.organizationId);
    for (let n = 0; n < limit; n++) await room.ring(`CallSid=CA${n}`);
    expect(await refused(room)).toBe('CALL_LIMIT_REACHED');
    expect(await room.runs()).toHaveLength(limit);
    expect(room.dials).toEqual([]);
  });

  it('while the gateway drains', async () => {
    const room = await held.room.prepare();
    const drained = room.switchboard.drain(1_000);
    expect(await refused(room)).toBe('GATEWAY_DRAINING');
    await drained;
    expect(await room.runs()).toEqual([]);
  });
});

describe('a call that is started', () => {
  it('is dialled once, with its own URLs, and leaves a run with the contract’s context', async () => {
    const room = await held.room.prepare();
    const initialContext = {
      name: 'Ada',
      provider: 'forged',
      runtime_configuration: {},
      mps_correlation_id: 'x',
      called_number: '+1',
      direction: 'inbound',
    };
    const { runId, runName } = await room.start({ initialContext });
    expect(runName).toMatch(/^WR-API-\d{4}$/);
    const form = dialled(room);
    const base = 'https://gw.example.com/api/v1/telephony/twilio';
    expect(form.get('To')).toBe(CALLER);
    expect(form.get('From')).toBe(NUMBER);
    expect(form.get('Url')).toBe(`${base}/answer/${runId}`);
    expect(form.get('StatusCallback')).toBe(`${base}/status-callback/${runId}`);
    const run = await room.run(runId);
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
        telephony_configuration_id: room.configuration.id,
        trigger_mode: 'production',
        agent_identifier: room.workflow.uuid,
        agent_identifier_type: 'workflow_uuid',
        workflow_uuid: room.workflow.uuid,
        agent_uuid: room.workflow.uuid,
        api_key_id: '7',
        api_key_created_by: '1',
      },
      gatheredContext: { provider: 'twilio', call_id: CALL, triggered_by: 'api' },
    });
    expect(run.initialContext).not.toHaveProperty('mps_correlation_id');
    expect(run.initialContext).not.toHaveProperty('runtime_configuration');
    expect(run.initialContext).not.toHaveProperty('from_phone_number_id');
  });

  it('opens the connection to the language model as it is dialled, and again as it is picked up', async () => {
    const room = await held.room.prepare();
    const llm = new ScriptedModel(room.clock);
    room.deps.services.llm = llm;
    const { runId } = await room.start();
    expect(room.dials).toHaveLength(1);
    expect(llm.prepared).toBe(1);
    await room.pickUp(runId);
    expect(llm.prepared).toBe(2);
    expect(llm.requests).toEqual([]);
  });

  it('is led to its end when it is picked up', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const stream = await room.connect(await room.pickUp(runId));
    stream.start();
    await room.heardOut(stream);
    await room.says(stream, 'tea');
    await room.heardOut(stream);
    const done = await room.ended({ id: runId });
    expect(done.disposition).toBe('user_qualified');
    expect((await room.transcript(done)).at(-1)).toBe(`assistant: ${GOODBYE}`);
  });

  it('is started by a trigger, which its contexts name', async () => {
    const room = await held.room.prepare();
    const { store, owner } = room.at;
    await store.workflows.create(owner, {
      name: 'Triggered',
      triggerPaths: ['order-drinks'],
      definition: triggered,
      configurations: {},
      templateContextVariables: {},
    });
    const agent = { type: 'trigger_path', identifier: 'order-drinks' } as const;
    const run = await room.run((await room.start({ agent })).runId);
    expect(run.initialContext).toMatchObject({
      agent_identifier: 'order-drinks',
      agent_identifier_type: 'trigger_path',
    });
    expect(run.gatheredContext).toMatchObject({ trigger_uuid: 'order-drinks' });
  });

  it('shows the number asked for, else the default caller, else one that is active', async () => {
    const room = await held.room.prepare();
    await room.addNumber('+14155550104', { isActive: false });
    await room.start();
    expect(dialled(room).get('From')).toBe(NUMBER);
    const fallback = await room.addNumber('+14155550105', { isDefaultCallerId: true });
    room.rest.asked.length = 0;
    await room.start();
    expect(dialled(room).get('From')).toBe(fallback.addressNormalized);
    room.rest.asked.length = 0;
    const { runId } = await room.start({ fromPhoneNumberId: room.number.id });
    expect(dialled(room).get('From')).toBe(NUMBER);
    expect((await room.run(runId)).initialContext['from_phone_number_id']).toBe(room.number.id);
  });

  it('uses the draft and the template variables in test mode alone', async () => {
    const room = await held.room.prepare();
    const draft = definition(
      [start('hi', { say: 'Draft.' }), end('bye')],
      [edge('hi', 'bye', { phrases: ['bye'] })],
    );
    const version = await room.at.store.workflows.saveDraft(room.workflow.id, {
      definition: draft,
      templateContextVariables: { name: 'Template', city: 'Rome' },
    });
    const test = await room.start({ mode: 'test', initialContext: { name: 'Ada' } });
    expect(test.runName).toMatch(/^WR-TEST-\d{4}$/);
    const tested = await room.run(test.runId);
    expect(tested.definitionId).toBe(version.id);
    expect(tested.initialContext).toMatchObject({
      name: 'Ada',
      city: 'Rome',
      trigger_mode: 'test',
    });
    const produced = await room.run((await room.start()).runId);
    expect(produced.definitionId).toBe(room.version.id);
    expect(produced.initialContext).not.toHaveProperty('city');
  });

  it('is a success even if its id cannot be stored after dialling', async () => {
    const room = await held.room.prepare();
    const { runs } = room.at.store;
    room.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    const { runId } = await room.start();
    expect(room.dials).toHaveLength(1);
    room.deps.store.runs.patch = runs.patch.bind(runs);
    const stream = await room.connect(await room.pickUp(runId));
    stream.start();
    await room.heardOut(stream);
    stream.key('1');
    await room.heardOut(stream);
    await room.ended({ id: runId });
    expect(room.hangUps[0]?.path).toContain(CALL);
  });

  it('is hung up at its end even if it was picked up before the dial was answered', async () => {
    const room = await held.room.prepare();
    const answers = room.rest.answer;
    room.rest.answer = 'hang';
    const starting = room.start();
    await room.until(() => room.dials.length === 1);
    room.rest.answer = answers;
    const runId = /answer%2F(\d+)/.exec(room.dials[0]?.body ?? '')?.[1] ?? '';
    const stream = await room.connect(await room.pickUp(runId));
    stream.start();
    await room.heardOut(stream);
    stream.key('1');
    await room.heardOut(stream);
    expect((await room.ended({ id: runId })).disposition).toBe('user_qualified');
    expect(room.hangUps[0]?.path).toContain(CALL);
    await room.pass(15_000);
    expect((await starting).runId).toBe(runId);
    expect((await room.run(runId)).gatheredContext).not.toHaveProperty('error');
  });
});

describe('a dial that fails', () => {
  it('leaves a completed run that says why, and is not tried again', async () => {
    const room = await held.room.prepare();
    room.rest.answer = { status: 400, body: { code: 21_211, message: 'Invalid To' } };
    const refusal = await room.start().catch((error: unknown) => error);
    expect(room.dials).toHaveLength(1);
    const [run] = await room.runs();
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
    expect(JSON.stringify(run)).not.toContain('Invalid To');
  });

  it('for want of an answer is dialled once, and refused when it is picked up all the same', async () => {
    const room = await held.room.prepare();
    room.rest.answer = 'hang';
    const starting = room.start().catch((error: unknown) => codeOf(error));
    await room.until(() => room.dials.length === 1);
    await room.pass(15_000);
    expect(await starting).toBe('CALL_NOT_PLACED');
    await room.pass(5_000);
    expect(room.dials).toHaveLength(1);
    const [run] = await room.runs();
    expect(run?.state).toBe('completed');
    const reply = await room.pickUp(run?.id ?? '');
    expect(reply.status).toBe(200);
    expect(reply.body).toContain('something went wrong');
    expect(reply.body).not.toContain('<Stream');
  });

  it('tells the client even if the store does not take the news', async () => {
    const room = await held.room.prepare();
    room.rest.answer = { status: 401, body: {} };
    room.deps.store.runs.appendCallback = () => Promise.reject(new Error('store away'));
    await expect(room.start()).rejects.toMatchObject({ code: 'CALL_NOT_PLACED' });
    expect((await room.runs())[0]?.state).toBe('initialized');
    await room.pass(89_000);
    await room.passThrough(async () => (await room.runs())[0]?.state === 'completed');
  });
});

describe('the answer webhook', () => {
  it('is refused without a good signature, and for a run that does not exist', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    const url = `https://gw.example.com/api/v1/telephony/twilio/answer/${runId}`;
    const forged = { ...(await import('../call-harness.ts')).signed(url, 'CallSid=CA1', 'wrong') };
    await expect(room.switchboard.answer('twilio', runId, forged)).rejects.toMatchObject({
      code: 'WEBHOOK_SIGNATURE',
    });
    await expect(room.pickUp('999999')).rejects.toMatchObject({ code: 'RUN_NOT_FOUND' });
    await expect(room.switchboard.answer('plivo', runId, forged)).rejects.toMatchObject({
      code: 'RUN_NOT_FOUND',
    });
  });

  it('closes the run and the line when the agent cannot run', async () => {
    const room = await held.room.prepare();
    const { runId } = await room.start();
    await room.at.sql(`update workflow_versions set definition = '{"nodes":[],"edges":[]}'`);
    const reply = await room.pickUp(runId);
    expect(reply.body).toContain('something went wrong');
    const run = await room.run(runId);
    expect(run).toMatchObject({ state: 'completed', disposition: 'error' });
    expect(room.hangUps).toHaveLength(1);
  });
});

/** The same agent with a trigger at the path that starts no calls. */
function switchedOff(definition: WorkflowDefinition): WorkflowDefinition {
  const data = { name: 'Off', trigger_path: 'order-drinks', enabled: false };
  return { ...definition, nodes: [...definition.nodes, { id: 'off', type: 'trigger', data }] };
}
