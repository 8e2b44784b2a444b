// Every ending of a run goes through one module. Source: docs/closing.md.

import { describe, expect, it } from 'vitest';
import { RunClosing } from '../../../../src/call/end/closing/run-closing.ts';
import { EventLog } from '../../../../src/call/events/event-log.ts';
import {
  DialogueRecord,
  faultBody,
} from '../../../../src/call/session/dialogue/dialogue-record.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { readPriceTable } from '../../../../src/model/price-table.ts';
import type { Run } from '../../../../src/model/run.ts';
import { ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { type CallHarness, drinks, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();

/** A run whose phone rings, and its closing in this process. */
async function ringing(harness: CallHarness) {
  await harness.prepare();
  const { runId } = await harness.start();
  return { run: await harness.run(runId), closing: harness.deps.closing };
}

/** Another process over the same store: it has only what is stored. */
function elsewhere(harness: CallHarness): RunClosing {
  const { clock, log, store } = harness.deps;
  const events = new EventLog({ sink: store.runs, clock, log });
  return new RunClosing({ ...harness.deps, events });
}

const busy = { reason: 'busy', by: 'provider' } as const;
const cancelled = { reason: 'system_cancelled', by: 'gateway' } as const;
const FAULT = { code: 'GATEWAY_STOPPED', message: 'The gateway stopped' };

describe('two closers of one run at once', () => {
  it('give it the end of the first one, and claim it once', async () => {
    const { run, closing } = await ringing(held.harness);
    const claims: string[] = [];
    const notified: string[] = [];
    closing.onCompleted = () => notified.push('completed');
    const claim = (name: string) => ({ onClaimed: async () => void claims.push(name) });
    await Promise.all([
      closing.end(run, { ...busy, ...claim('first') }),
      closing.end(run, { ...cancelled, fault: FAULT, ...claim('second') }),
    ]);
    expect(claims).toEqual(['first']);
    expect(notified).toEqual(['completed']);
    expect(await held.harness.bodies(run, 'call.ended')).toMatchObject([busy]);
    expect(await held.harness.bodies(run, 'fault')).toEqual([]);
    expect((await held.harness.run(run.id)).disposition).toBe('busy');
  });

  it('in two processes leave it the end that was stored first', async () => {
    const { run, closing } = await ringing(held.harness);
    await closing.end(run, busy);
    const first = await held.harness.run(run.id);
    const claims: string[] = [];
    await elsewhere(held.harness).end(run, {
      ...cancelled,
      onClaimed: async () => void claims.push('second'),
    });
    expect(claims).toEqual([]);
    expect(await held.harness.run(run.id)).toEqual(first);
  });
});

it.each([
  ['pipeline_error', { level: 'warn', faultCodes: ['TTS_TIMEOUT', 'MEDIA_BACKLOG'] }],
  ['user_hangup', { level: 'info' }],
] as const)('the log has the faults of a call that they ended: %s', async (reason, line) => {
  const { run } = await ringing(held.harness);
  const { log, lines } = quietLog();
  const runLog = await held.harness.deps.events.open(run.id);
  for (const code of ['TTS_TIMEOUT', 'MEDIA_BACKLOG', 'TTS_TIMEOUT'] as const) {
    runLog.append(faultBody(new GatewayError(code), false), 0);
  }
  await new RunClosing({ ...held.harness.deps, log }).end(run, { reason, by: 'agent' });
  const completed = lines().filter(({ msg }) => msg === 'run completed');
  expect(completed).toMatchObject([{ runId: run.id, reason, ...line }]);
  expect('faultCodes' in (completed[0] ?? {})).toBe('faultCodes' in line);
});

it('a run has its cost where the operator has set prices', async () => {
  const { run } = await ringing(held.harness);
  const prices = readPriceTable('{"tts":{"flite":{"per_million_characters":100}}}');
  const closing = new RunClosing({ ...held.harness.deps, prices });
  const runLog = await held.harness.deps.events.open(run.id);
  const spoken = {
    type: 'speech.usage',
    service: 'flite',
    model: 'slt',
    characters: 5_000,
  } as const;
  runLog.append(spoken, 0);
  await closing.end(run, busy);
  const { costInfo, usageInfo } = await held.harness.run(run.id);
  expect(usageInfo).toMatchObject({ tts: { 'flite|||slt': 5_000 } });
  expect(costInfo).toEqual({
    dograh_token_usage: 0,
    call_duration_seconds: 0,
    total_cost_usd: 0.5,
    cost_breakdown_usd: { llm: 0, tts: 0.5, stt: 0, call: 0 },
    services_without_price: [],
  });
});

describe('a lasting fault of a speech service', () => {
  const refused = new ServiceFault('tts', 'elevenlabs', 'auth', { detail: 'invalid key' });
  const usage = (service: string) =>
    ({ type: 'speech.usage', service, model: 'm', characters: 5 }) as const;
  const stored = (organizationId: string) =>
    held.harness.deps.store.serviceFaults.list(organizationId);

  /** Another call of the same agent, with these events. */
  async function call(write: (record: DialogueRecord) => void): Promise<Run> {
    const { runId } = await held.harness.start();
    const run = await held.harness.run(runId);
    const { closing, events } = held.harness.deps;
    const runLog = await events.open(run.id);
    write(new DialogueRecord((body) => runLog.append(body, 0)));
    await closing.end(run, busy);
    return run;
  }

  it('is stored for its owner until a call in which the service works', async () => {
    await held.harness.prepare();
    const { id, organizationId } = await call((record) => {
      record.note(usage('elevenlabs'));
      record.fault(refused, false);
      // At its end a call counts for the service that it was to use.
      record.note(usage('elevenlabs'));
    });
    const fault = { job: 'tts', service: 'elevenlabs', kind: 'auth', detail: 'invalid key' };
    expect(await stored(organizationId)).toMatchObject([{ ...fault, runId: id }]);
    await call((record) => record.note(usage('flite')));
    expect(await stored(organizationId)).toHaveLength(1);
    await call((record) => record.note(usage('elevenlabs')));
    expect(await stored(organizationId)).toEqual([]);
  });

  it('is none if it may pass by itself', async () => {
    await held.harness.prepare();
    const { organizationId } = await call((record) =>
      record.fault(new ServiceFault('stt', 'vosk', 'network', { detail: 'refused' }), false),
    );
    expect(await stored(organizationId)).toEqual([]);
  });
});

describe('what follows a completed run', () => {
  const following = async (nodes: object[]) => {
    const harness = held.harness;
    const definition = { ...drinks, nodes: [...drinks.nodes, ...(nodes as typeof drinks.nodes)] };
    await harness.prepare(definition);
    const heard: boolean[] = [];
    harness.deps.closing.onCompleted = ({ hasAfterwork }) => void heard.push(hasAfterwork);
    const { stream, run } = await harness.inboundCall();
    stream.hangUp();
    await harness.ended(run);
    return { heard, due: (await harness.at.sql('select run_id from afterworks')).length };
  };

  it('is nothing for an agent without reviews and webhooks, and nobody looks for it', async () => {
    expect(await following([])).toEqual({ heard: [false], due: 0 });
  });

  it('is stored with the end for an agent with one', async () => {
    const data = { name: 'Hook', endpoint_url: 'https://crm.example.com' };
    const hook = { id: 'hook', type: 'webhook', data };
    expect(await following([hook])).toEqual({ heard: [true], due: 1 });
  });

  it('is found out after a call of a draft, which gets a webhook while it talks', async () => {
    const harness = await held.harness.prepare();
    const { workflows } = harness.at.store;
    await workflows.saveDraft(harness.workflow.id, { templateContextVariables: { a: 1 } });
    const { runId } = await harness.startTest();
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.start();
    const data = { name: 'Hook', endpoint_url: 'https://crm.example.com' };
    const hook = { id: 'hook', type: 'webhook', data } as unknown as (typeof drinks.nodes)[number];
    const definition = { ...drinks, nodes: [...drinks.nodes, hook] };
    await workflows.saveDraft(harness.workflow.id, { definition });
    await harness.heardOut(stream);
    stream.hangUp();
    await harness.ended({ id: runId });
    expect(await harness.at.sql('select run_id from afterworks')).toEqual([{ run_id: runId }]);
  });

  it('is found out after a call that never connected', async () => {
    const { run, closing } = await ringing(held.harness);
    await closing.end(run, busy);
    expect(await held.harness.at.sql('select run_id from afterworks')).toHaveLength(1);
  });
});

describe('a closing that is killed', () => {
  it('between the end and the outcome is completed by the next closer with that end', async () => {
    const harness = held.harness;
    const { run, closing } = await ringing(harness);
    const { patch } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('killed'));
    await expect(closing.end(run, busy)).rejects.toThrow('killed');
    harness.deps.store.runs.patch = patch;
    await elsewhere(harness).end(run, { ...cancelled, fault: FAULT });
    expect(await harness.bodies(run, 'call.ended')).toMatchObject([busy]);
    expect(await harness.run(run.id)).toMatchObject({ state: 'completed', disposition: 'busy' });
  });

  it('before the agent names its disposition leaves an open run, which the next one closes', async () => {
    const harness = held.harness;
    const { run } = await ringing(harness);
    const { store } = harness.deps;
    const workflows = {
      ...store.workflows,
      addDisposition: () => Promise.reject(new Error('killed')),
    };
    const dying = new RunClosing({ ...harness.deps, store: { ...store, workflows } });
    await expect(dying.end(run, busy)).rejects.toThrow('killed');
    expect((await harness.run(run.id)).state).toBe('initialized');
    await elsewhere(harness).end(run, cancelled);
    const { organizationId, workflowId } = run;
    const workflow = await store.workflows.get(organizationId, workflowId);
    expect(workflow?.dispositionCodes).toContain('busy');
  });
});

describe('a closing while the store does not answer', () => {
  it('gives up after 30 s for the events and 30 s for the outcome, and not before', async () => {
    const harness = held.harness;
    const { run, closing } = await ringing(harness);
    const { patch, appendEvents } = harness.deps.store.runs;
    let asked = 0;
    let release = (): void => undefined;
    const released = new Promise<void>((resolve) => {
      release = resolve;
    });
    const unanswered = async (): Promise<never> => {
      asked += 1;
      await released;
      throw new Error('store away');
    };
    harness.deps.store.runs.appendEvents = unanswered;
    harness.deps.store.runs.patch = unanswered;
    const refused = expect(closing.end(run, busy)).rejects.toMatchObject({ code: 'TIMED_OUT' });
    await harness.until(() => asked === 1);
    harness.clock.advance(29_900);
    await harness.runs();
    expect(asked).toBe(1); // A store that is slow is not away.
    harness.clock.advance(100);
    await harness.until(() => asked === 2);
    harness.clock.advance(30_000);
    await refused;
    Object.assign(harness.deps.store.runs, { patch, appendEvents });
    release();
    await closing.end(run, cancelled);
    expect((await harness.run(run.id)).disposition).toBe('busy');
  });

  it('is retried by the module itself where no caller would', async () => {
    const harness = held.harness;
    const { run, closing } = await ringing(harness);
    const { patch } = harness.deps.store.runs;
    harness.deps.store.runs.patch = () => Promise.reject(new Error('store away'));
    await closing.endSurely(run, { ...busy, durationS: 3, mediaMs: 3_000 });
    expect((await harness.run(run.id)).state).toBe('initialized');
    harness.deps.store.runs.patch = patch;
    harness.clock.advance(10_000);
    const done = await harness.completed(run);
    expect(done).toMatchObject({ disposition: 'busy', durationS: 3 });
    expect(await harness.bodies(run, 'call.ended')).toHaveLength(1);
  });
});

describe('the one hang-up at the provider', () => {
  it('takes five seconds at most, for every requester', async () => {
    const harness = held.harness;
    const { run } = await ringing(harness);
    const named = await harness.run(run.id);
    harness.rest.answer = () => 'hang';
    const refused = expect(harness.deps.hangUps.hangUpRun(named)).rejects.toMatchObject({
      code: 'TIMED_OUT',
    });
    await harness.until(() => harness.hangUps.length === 1);
    harness.clock.advance(5_000);
    await refused;
    await harness.deps.closing.end(named, busy);
  });

  it('is out of reach for a call that the provider has not named', async () => {
    const harness = held.harness;
    const { run, closing } = await ringing(harness);
    const unnamed = { ...run, providerCallId: null };
    await expect(harness.deps.hangUps.hangUpRun(unnamed)).rejects.toMatchObject({
      code: 'CALL_OUT_OF_REACH',
    });
    await closing.end(run, busy);
  });
});
