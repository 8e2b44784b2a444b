// Requests for a call that come again, and calls to try an agent out. Source: contract §6.1, §13.1 item 8.

import { describe, expect, it } from 'vitest';
import { createCallControl } from '../../../../src/app/call-parts.ts';
import { closeOrphanedRuns } from '../../../../src/call/end/crash-recovery.ts';
import { idempotencyKeyOf } from '../../../../src/call/start/outbound/idempotent-starts.ts';
import type { StartCall, TestCall } from '../../../../src/call/start/setup/call-start.ts';
import { codeOf, GatewayError } from '../../../../src/errors/gateway-error.ts';
import { CALL, CALLER, chat, NUMBER, withCallHarness } from '../../call-harness.ts';
import { idleRun } from '../../idle-run.ts';

/** A run of a browser. */
const BROWSER = { name: 'mine', mode: 'smallwebrtc', callType: 'inbound' } as const;
const held = withCallHarness();
const KEYED = { idempotencyKey: 'order-7' };

const refusal = (start: Promise<unknown>): Promise<string | undefined> =>
  start.then(
    () => 'started',
    (error: unknown) => codeOf(error) ?? String(error),
  );

describe('a request that comes again with its key', () => {
  it('gets the first answer and places no second call', async () => {
    const harness = await held.harness.prepare();
    const first = await harness.start({ ...KEYED, initialContext: { a: 1, b: { c: 1, d: [2] } } });
    const again = await harness.start({ ...KEYED, initialContext: { b: { d: [2], c: 1 }, a: 1 } });
    expect(again).toEqual(first);
    expect(harness.dials).toHaveLength(1);
    expect(await harness.runs()).toHaveLength(1);
  });

  it('gets it while the call is still being placed', async () => {
    const harness = await held.harness.prepare();
    const all = await Promise.all([
      harness.start(KEYED),
      harness.start(KEYED),
      harness.start(KEYED),
    ]);
    expect(new Set(all.map(({ runId }) => runId)).size).toBe(1);
    expect(harness.dials).toHaveLength(1);
  });

  it('gets the refusal of the provider again', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = { status: 400, body: { code: 21_211, message: 'no such number' } };
    const answers = [await message(harness.start(KEYED)), await message(harness.start(KEYED))];
    expect(answers[0]).toMatch(/^Failed to initiate call: /);
    expect(answers[1]).toBe(answers[0]);
    expect(harness.dials).toHaveLength(1);
  });

  // Its text alone differed from that of a refusal after which the call may be started again.
  it('gets the code that says that the call may have been placed, from another process too', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = { status: 500, body: {} };
    expect(await refusal(harness.start(KEYED))).toBe('CALL_UNCERTAIN');
    expect(await refusal(harness.start(KEYED))).toBe('CALL_UNCERTAIN');
    const [run] = await harness.runs();
    expect(run?.logs['telephony_status_callbacks']).toMatchObject([
      { status: 'failed', data: { code: 'PROVIDER_UNCERTAIN' } },
    ]);
    const next = createCallControl(harness.deps);
    const asked = { ...KEYED, ...(await requestOf(harness)) };
    expect(await refusal(next.start(asked))).toBe('CALL_UNCERTAIN');
    expect(harness.dials).toHaveLength(1);
  });

  // The refusal could not be stored, and the request was told that its call had begun.
  it('gets the refusal again though the store was away when it came', async () => {
    const harness = await held.harness.prepare();
    const { runs } = harness.deps.store;
    const { patch, appendCallback, appendEvents } = runs;
    const away = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    Object.assign(runs, { patch: away, appendCallback: away, appendEvents: away });
    harness.rest.answer = { status: 400, body: { code: 21_211, message: 'no such number' } };
    const first = await message(harness.start(KEYED));
    expect(first).toMatch(/^Failed to initiate call: /);
    Object.assign(runs, { patch, appendCallback, appendEvents });
    expect(await message(harness.start(KEYED))).toBe(first);
    expect(await harness.runs()).toMatchObject([{ state: 'initialized' }]);
    await harness.pass(20_100);
    const [run] = await harness.runs();
    await harness.ended({ id: run?.id ?? '' });
    const next = createCallControl(harness.deps);
    const asked = { ...KEYED, ...(await requestOf(harness)) };
    expect(await message(next.start(asked))).toBe(first);
    expect(harness.dials).toHaveLength(1);
  });

  it('gets its run though the agent is gone by then and no place is free', async () => {
    const harness = await held.harness.prepare();
    const { store, owner } = harness.at;
    const first = await harness.start(KEYED);
    await store.workflows.setStatus(owner.organizationId, harness.workflow.id, 'archived');
    expect(await harness.start(KEYED)).toEqual(first);
    expect(await refusal(harness.start())).toBe('AGENT_NOT_ACTIVE');
  });

  it('gets the run that exists, if the process was killed in between', async () => {
    const harness = await held.harness.prepare();
    harness.rest.answer = 'hang';
    let isSettled = false;
    const lost = harness.start(KEYED); // Its result is not used.
    void refusal(lost).then(() => {
      isSettled = true;
    });
    await harness.until(() => harness.dials.length === 1);
    const [run] = await harness.runs();
    harness.rest.answer = { status: 200, body: { sid: CALL, status: 'completed' } };
    const next = createCallControl(harness.deps);
    await closeOrphanedRuns(harness.deps, run === undefined ? [] : [run]);
    const request = { ...KEYED, ...(await requestOf(harness)) };
    expect(await next.start(request)).toMatchObject({ runId: run?.id });
    expect(harness.dials).toHaveLength(1);
    harness.clock.advance(20_000);
    await harness.until(() => isSettled);
  });

  it('is another request if anything in it differs', async () => {
    const harness = await held.harness.prepare();
    await harness.start(KEYED);
    const others: Partial<StartCall>[] = [
      { phoneNumber: '+14155550199' },
      { initialContext: { a: 1 } },
      { mode: 'test' },
      { agent: { type: 'workflow_uuid', identifier: 'x' } },
      { configurationId: harness.configuration.id },
      { fromPhoneNumberId: harness.number.id },
    ];
    for (const other of others) {
      expect(await refusal(harness.start({ ...KEYED, ...other }))).toBe('START_KEY_REUSED');
    }
    expect(await refusal(harness.startTest(KEYED))).toBe('START_KEY_REUSED');
    // Who asks does not matter.
    expect(await refusal(harness.start({ ...KEYED, apiKeyId: '8' }))).toBe('started');
    expect(harness.dials).toHaveLength(1);
  });

  it('is not held to a request that was refused before there was a run', async () => {
    const harness = await held.harness.prepare();
    const bad = { ...KEYED, agent: { type: 'workflow_uuid', identifier: 'x' } as const };
    expect(await refusal(harness.start(bad))).toBe('AGENT_NOT_FOUND');
    expect(await refusal(harness.start(KEYED))).toBe('started');
  });

  it('never mistakes a list for an object', () => {
    const hash = (value: unknown) => idempotencyKeyOf('k', { value })?.requestHash;
    expect(hash({ a: 1 })).toBe(hash({ a: 1 }));
    expect(hash([['a', 1]])).not.toBe(hash({ a: 1 }));
    expect(hash({ entries: [['a', 1]] })).not.toBe(hash({ a: 1 }));
  });
});

async function message(start: Promise<unknown>): Promise<string> {
  return start.then(
    () => 'started',
    (error: unknown) => (error instanceof Error ? error.message : ''),
  );
}

async function requestOf(harness: typeof held.harness): Promise<StartCall> {
  return {
    organizationId: harness.at.owner.organizationId,
    apiKeyId: '7',
    apiKeyCreatedBy: '1',
    agent: { type: 'workflow_uuid', identifier: harness.workflow.uuid },
    mode: 'production',
    phoneNumber: CALLER,
    initialContext: {},
    configurationId: null,
    fromPhoneNumberId: null,
    ...KEYED,
  };
}

describe('a test call', () => {
  it('is refused with the first reason in the order of the contract, and without a run', async () => {
    const harness = await held.harness.prepare();
    const { store, owner } = harness.at;
    const { organizationId } = owner;
    const refused = (more: Partial<TestCall> = {}) => refusal(harness.startTest(more));
    const nothing = { workflowId: '999999', phoneNumber: null, runId: '999999' };
    await store.telephony.deleteConfiguration(organizationId, harness.configuration.id);
    expect(await refused(nothing)).toBe('TEST_NOT_CONFIGURED');
    expect(await refused({ ...nothing, configurationId: '999999' })).toBe(
      'TEST_CONFIGURATION_NOT_FOUND',
    );
    harness.configuration = await harness.configure('Main');
    expect(await refused(nothing)).toBe('CONFIGURATION_NOT_READY');
    harness.number = await harness.addNumber(NUMBER);
    expect(await refused({ ...nothing, fromPhoneNumberId: '999999' })).toBe('CALLER_ID_NOT_FOUND');
    expect(await refused(nothing)).toBe('AGENT_NOT_FOUND');
    const { workflowId: _, ...named } = nothing;
    await store.workflows.setStatus(organizationId, harness.workflow.id, 'archived');
    expect(await refused(named)).toBe('AGENT_NOT_ACTIVE');
    await store.workflows.setStatus(organizationId, harness.workflow.id, 'active');
    expect(await refused(named)).toBe('PHONE_NUMBER_MISSING');
    expect(await refused({ runId: '999999' })).toBe('RUN_NOT_FOUND');
    expect(await harness.runs()).toEqual([]);
    const { runId } = await harness.startTest();
    expect(await refused({ runId })).toBe('RUN_HAS_CALL');
    const idle = await idleRun(harness, BROWSER);
    const other = await otherAgent(harness);
    expect(await refused({ runId: idle, workflowId: other })).toBe('RUN_OF_OTHER_WORKFLOW');
    await harness.at.sql('update organizations set concurrent_call_limit = 1');
    expect(await refused({ runId: idle })).toBe('CALL_LIMIT_REACHED');
    expect(await refused()).toBe('CALL_LIMIT_REACHED');
    expect(harness.dials).toHaveLength(1);
  });

  it('runs the draft, with the variables of its template', async () => {
    const harness = await held.harness.prepare();
    const draft = await harness.at.store.workflows.saveDraft(harness.workflow.id, {
      definition: chat,
      templateContextVariables: { who: 'Ada', called_number: 'forged' },
    });
    const { runId, runName } = await harness.startTest();
    expect(runName).toMatch(/^WR-TEL-OUT-\d{8}$/);
    expect(await harness.run(runId)).toMatchObject({
      definitionId: draft.id,
      initialContext: { who: 'Ada', called_number: CALLER, trigger_mode: 'test' },
      gatheredContext: { provider: 'twilio', call_id: CALL },
    });
    expect((await harness.run(runId)).gatheredContext).not.toHaveProperty('triggered_by');
  });

  it('goes to the test number of the organization if it names none', async () => {
    const harness = await held.harness.prepare();
    const { organizationId } = harness.at.owner;
    const testPhoneNumber = '+14155550177';
    await harness.at.store.organizations.setPreferences(organizationId, { testPhoneNumber });
    await harness.startTest({ phoneNumber: null });
    expect(new URLSearchParams(harness.dials[0]?.body).get('To')).toBe(testPhoneNumber);
  });

  it('goes out on a run that was created for it, once', async () => {
    const harness = await held.harness.prepare();
    const runId = await idleRun(harness, BROWSER);
    expect(await harness.startTest({ runId, ...KEYED })).toEqual({ runId, runName: 'mine' });
    expect(await harness.startTest({ runId, ...KEYED })).toEqual({ runId, runName: 'mine' });
    expect(await harness.run(runId)).toMatchObject({ mode: 'twilio', providerCallId: CALL });
    expect(harness.dials).toHaveLength(1);
    expect(await refusal(harness.startTest({ runId }))).toBe('RUN_HAS_CALL');
  });
});

describe('a run, however it was started', () => {
  it('is of a version of its own agent', async () => {
    const harness = await held.harness.prepare();
    const { store } = harness.at;
    const other = await otherAgent(harness);
    // Versions of both in turn, so that no id is one's by chance.
    await store.workflows.saveDraft(harness.workflow.id, { definition: chat });
    await store.workflows.saveDraft(other, { definition: chat });
    const idle = await idleRun(harness, BROWSER);
    const { runId: production } = await harness.start();
    const { runId: test } = await harness.startTest();
    const { runId: theirs } = await harness.startTest({ workflowId: other });
    const onIdle = await refusal(harness.startTest({ runId: idle, workflowId: other }));
    expect(onIdle).toBe('RUN_OF_OTHER_WORKFLOW');
    await harness.startTest({ runId: idle });
    const rows = await harness.at.sql(
      'select r.id, r.workflow_id, v.workflow_id as of_workflow from runs r join workflow_versions v on v.id = r.definition_id',
    );
    const found = rows.map((row) =>
      [row['id'], row['workflow_id'], row['of_workflow']].map(String),
    );
    const mine = harness.workflow.id;
    expect(found.sort()).toEqual(
      [
        [idle, mine, mine],
        [production, mine, mine],
        [test, mine, mine],
        [theirs, other, other],
      ].sort(),
    );
  });
});

async function otherAgent(harness: typeof held.harness): Promise<string> {
  const { workflow } = await harness.at.store.workflows.create(harness.at.owner, {
    name: 'Other',
    triggerPaths: [],
    definition: chat,
    configurations: {},
    templateContextVariables: {},
  });
  return workflow.id;
}
