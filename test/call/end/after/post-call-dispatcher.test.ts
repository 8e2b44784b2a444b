// From the end of a call to its webhook at the receiver, through whatever ends calls and whatever kills
// processes. Source: contract §7.6, §8.10, appendix A.7.

import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { PostCallDispatcher } from '../../../../src/call/end/after/post-call-dispatcher.ts';
import { CrashRecovery } from '../../../../src/call/end/crash-recovery.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { Run } from '../../../../src/model/run.ts';
import { ReviewerModel } from '../../../fakes/call/reviewer-model.ts';
import { gatewayModel } from '../../../fakes/gateway-speech.ts';
import { type RestServer, startRestServer } from '../../../telephony/provider/rest-server.ts';
import type { Data } from '../../../workflow/definitions.ts';
import { drinks, PUBLIC_URL, withCallHarness } from '../../call-harness.ts';

const at = withCallHarness();
let receiver: RestServer;
let model: ReviewerModel;
let running: PostCallDispatcher[] = [];

beforeAll(async () => {
  receiver = await startRestServer();
});
beforeEach(() => {
  receiver.asked.length = 0;
  receiver.answer = { status: 200, body: {} };
  model = new ReviewerModel();
});
afterEach(async () => {
  const stopped = running.map((each) => each.stop());
  running = [];
  at.harness.clock.advance(5_000);
  await Promise.all(stopped);
});
afterAll(async () => {
  await receiver.close();
});

const TEMPLATE = {
  run: '{{workflow_run_id}}',
  who: '{{initial_context.caller_number}}',
  drink: '{{gathered_context.drink}}',
  url: '{{transcript_url}}',
  tags: '{{annotations.tags}}',
};

function hook(data: Data = {}, id = 'hook'): Data {
  const url = `${receiver.url}/${id}`;
  return {
    id,
    type: 'webhook',
    data: { name: 'Hook', endpoint_url: url, payload_template: TEMPLATE, ...data },
  };
}

function qa(data: Data = {}): Data {
  return { id: 'qa1', type: 'qa', data: { name: 'QA', qa_min_call_duration: 0, ...data } };
}

function prepare(...nodes: Data[]) {
  return at.harness.prepare({
    ...drinks,
    nodes: [...drinks.nodes, ...(nodes as typeof drinks.nodes)],
  });
}

function afterCall(): PostCallDispatcher {
  const { deps } = at.harness;
  const made = new PostCallDispatcher({
    ...deps,
    ...deps.http,
    models: gatewayModel(model),
  });
  running.push(made);
  return made;
}

async function heldCall(): Promise<Run> {
  const { stream, run } = await at.harness.inboundCall();
  await at.harness.heardOut(stream);
  await at.harness.says(stream, 'tea');
  await at.harness.passUntil(() => stream.closed !== undefined);
  return at.harness.ended(run);
}

const bodies = () => receiver.asked.map(({ body }) => JSON.parse(body));

describe('when a call is over', () => {
  it('its webhook is sent, rendered once, under the public address of its transcript', async () => {
    await prepare(hook());
    const run = await heldCall();
    afterCall().start();
    await at.harness.until(() => receiver.asked.length === 1);
    const token = (await at.harness.run(run.id)).publicAccessToken;
    expect(bodies()).toEqual([
      {
        run: run.id,
        who: '+14155550100',
        drink: 'tea',
        url: `${PUBLIC_URL}/api/v1/public/download/workflow/${token}/transcript`,
        tags: '',
        call_disposition: 'user_qualified',
      },
    ]);
  });

  it('a webhook without a template has the run, the agent, numbers, times, disposition and values', async () => {
    await prepare(hook({ payload_template: undefined }), hook({ payload_template: {} }, 'other'));
    const run = await heldCall();
    afterCall().start();
    await at.harness.until(() => receiver.asked.length === 2);
    const time = expect.stringMatching(/^\d{4}-\d{2}-\d{2}T[\d:.]+\+00:00$/);
    for (const body of bodies()) {
      expect(body).toEqual({
        workflow_run_id: run.id,
        workflow_run_name: run.name,
        workflow_id: run.workflowId,
        workflow_name: expect.any(String),
        campaign_id: null,
        call_type: 'inbound',
        caller_number: '+14155550100',
        called_number: expect.stringMatching(/^\+\d+$/),
        call_time: time,
        started_at: time,
        ended_at: time,
        call_duration_seconds: expect.any(Number),
        call_disposition: 'user_qualified',
        gathered_context: expect.objectContaining({ drink: 'tea' }),
      });
    }
  });

  it('reviews come first and are in the webhook', async () => {
    await prepare(qa(), hook());
    const run = await heldCall();
    model.answers = ['{"tags":["short"],"call_quality_score":8,"summary":"Fine."}'];
    afterCall().start();
    await at.harness.until(() => receiver.asked.length === 1);
    expect(bodies()[0]).toMatchObject({ tags: '["short"]' });
    const { annotations, usageInfo } = await at.harness.run(run.id);
    expect(annotations).toMatchObject({
      tags: ['short'],
      qa_qa1: { model: 'judge-1', node_results: { ask: { node_name: 'Ask', score: 8 } } },
    });
    expect(usageInfo).toMatchObject({ llm: { 'QAAnalysis|||judge-1': { prompt_tokens: 200 } } });
  });

  it('a review that fails is tried again, and in the end the webhook goes without it', async () => {
    await prepare(qa(), hook());
    const run = await heldCall();
    model.answers = [new GatewayError('LLM_FAILED', { reason: 'away' })];
    afterCall().start();
    await at.harness.passThrough(() => receiver.asked.length === 1);
    // Twice the first of two parts, and at last both.
    expect(model.requests).toHaveLength(4);
    const { annotations } = await at.harness.run(run.id);
    expect(annotations).toMatchObject({
      qa_qa1: { node_results: { ask: { error: 'LLM_FAILED' } } },
    });
  });

  it('a review that never answers holds the webhook for some minutes, no longer', async () => {
    await prepare(qa(), hook());
    const run = await heldCall();
    model.answers = ['hang'];
    const begin = at.harness.clock.now();
    afterCall().start();
    for (const tries of [1, 2, 3]) {
      await at.harness.passThrough(() => model.requests.length === tries);
      at.harness.clock.advance(120_000);
    }
    await at.harness.passThrough(() => receiver.asked.length === 1);
    expect(at.harness.clock.now() - begin).toBeLessThan(10 * 60_000);
    expect((await at.harness.run(run.id)).annotations).toHaveProperty('qa_qa1');
  });

  // A rolling update of four processes stored each review in progress as interrupted.
  it('a review has all its tries, however many processes stop in the middle of it', async () => {
    await prepare(qa(), hook());
    const run = await heldCall();
    model.answers = ['hang'];
    for (const stops of [1, 2, 3, 4]) {
      const process = afterCall();
      process.start();
      await at.harness.passThrough(() => model.requests.length === stops);
      const stopped = process.stop();
      at.harness.clock.advance(5_000);
      await stopped;
    }
    model.answers = ['{"tags":["short"],"call_quality_score":8,"summary":"Fine."}'];
    afterCall().start();
    await at.harness.passThrough(() => receiver.asked.length === 1);
    expect((await at.harness.run(run.id)).annotations).toMatchObject({ tags: ['short'] });
  });

  it('every webhook node gets its own delivery, whatever becomes of the others', async () => {
    await prepare(hook(), hook({ http_method: 'GET' }, 'other'), hook({ enabled: false }, 'off'));
    await heldCall();
    receiver.answer = ({ path }) => ({ status: path === '/hook' ? 500 : 200, body: {} });
    afterCall().start();
    await at.harness.until(() => receiver.asked.length === 2);
    expect(receiver.asked.map(({ method, path }) => `${method} ${path}`).sort()).toEqual([
      'GET /other',
      'POST /hook',
    ]);
  });

  it('that never connected, its webhook is sent as well', async () => {
    await prepare(hook());
    const { runId } = await at.harness.start();
    await at.harness.status(runId, 'CallStatus=busy&CallDuration=0');
    await at.harness.completed({ id: runId });
    afterCall().start();
    await at.harness.until(() => receiver.asked.length === 1);
    expect(bodies()[0]).toMatchObject({ run: runId, call_disposition: 'busy', url: '' });
  });

  it('by a kill of the process, its webhook is sent after recovery', async () => {
    await prepare(hook());
    const { stream, run } = await at.harness.inboundCall();
    await at.harness.heardOut(stream);
    await at.harness.at.sql(`update runs set owner_node = 'dead'`);
    const recovery = new CrashRecovery(at.harness.deps);
    await recovery.start();
    recovery.stop();
    afterCall().start();
    await at.harness.until(() => receiver.asked.length === 1);
    expect(bodies()[0]).toMatchObject({ run: run.id, call_disposition: 'unexpected_error' });
    stream.lose();
    await at.harness.ended(run);
  });

  it('two processes send its webhook once', async () => {
    await prepare(hook());
    const run = await heldCall();
    afterCall().start();
    afterCall().start();
    await at.harness.until(() => receiver.asked.length >= 1);
    const { organizationId } = run;
    await at.harness.until(async () => {
      const page = { limit: 10, offset: 0, state: 'delivered' } as const;
      return (await at.harness.at.store.deliveries.list(organizationId, page)).total === 1;
    });
    await at.harness.pass(3_000);
    expect(receiver.asked).toHaveLength(1);
  });

  it('and its process is killed before a review is stored, another takes over', async () => {
    await prepare(qa(), hook());
    const run = await heldCall();
    const { store } = at.harness.at;
    const claim = { limit: 1, except: [], leaseMs: 180_000 };
    expect(await store.afterworks.claim(claim)).toMatchObject([{ runId: run.id }]);
    // Killed here: nothing is reported.
    at.harness.clock.advance(179_000);
    const looks = vi.spyOn(store.afterworks, 'claim');
    afterCall().start();
    await Promise.all(looks.mock.results.map(({ value }) => value));
    looks.mockRestore();
    await at.harness.pass(20);
    expect(model.requests).toEqual([]);
    at.harness.clock.advance(2_000);
    await at.harness.until(() => receiver.asked.length === 1);
    expect(model.requests).toHaveLength(2);
  });

  it('leaves no work behind if its agent wants none', async () => {
    await prepare();
    await heldCall();
    afterCall().start();
    await at.harness.until(async () => {
      return (await at.harness.at.sql('select * from afterworks')).length === 0;
    });
    expect(await at.harness.at.sql('select * from deliveries')).toEqual([]);
    expect(receiver.asked).toEqual([]);
  });
});
