// Reviews of calls by a language model. Source: contract §6.3 (QAResult), §8.10.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  partsOf,
  readReview,
  reviewCall,
  tagNames,
} from '../../../../src/call/end/after/review.ts';
import { createGuardedHttp } from '../../../../src/egress/guarded-http.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { CallEvent, CallEventBody } from '../../../../src/model/call-event.ts';
import type { Run } from '../../../../src/model/run.ts';
import { reviewsOf } from '../../../../src/workflow/graph/post-call-nodes.ts';
import { completedRun } from '../../../fakes/call/completed-run.ts';
import { ReviewerModel } from '../../../fakes/call/reviewer-model.ts';
import { openSignUpEgress } from '../../../fakes/egress.ts';
import { FakeClock, settle } from '../../../fakes/fake-clock.ts';
import { gatewayModel } from '../../../fakes/gateway-speech.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { type Data, definition, start } from '../../../workflow/definitions.ts';

const GOOD = `Here you are:\n\`\`\`json
{"tags": ["slow", {"tag": "rude", "reason": "it shouted"}], "overall_sentiment": "negative",
 "call_quality_score": 3, "summary": "Not well."}\n\`\`\``;

const clock = new FakeClock();
const run = completedRun({
  id: '42',
  workflowId: '2',
  definitionId: '3',
  name: 'WR-API-1',
  callType: 'inbound',
  configurationId: null,
  providerCallId: null,
  campaignId: null,
  disposition: 'user_hangup',
  durationS: 60,
  endedAt: null,
});

function turn(role: 'user' | 'agent', text: string, startMs: number, nodeId: string | null = 'a') {
  const common = { text, nodeId, nodeName: nodeId?.toUpperCase() ?? null, startMs };
  const body: CallEventBody =
    role === 'user'
      ? { type: 'user.turn', ...common, endMs: startMs + 500, source: 'speech', confidence: 1 }
      : {
          type: 'agent.said',
          ...common,
          endMs: startMs + 1_000,
          utteranceId: startMs,
          kind: 'reply',
          interrupted: false,
        };
  return body;
}

function log(...bodies: CallEventBody[]): CallEvent[] {
  return bodies.map((body, i) => ({ runId: '42', seq: i + 1, at: i, mediaMs: i, body }));
}

const talk = log(
  turn('agent', 'Hello, who is there?', 0),
  turn('user', 'Ana.', 1_500),
  turn('agent', 'What do you want, Ana?', 3_000, 'b'),
  turn('user', 'Tea', 5_000, 'b'),
  { type: 'call.ended', reason: 'user_hangup', by: 'caller', durationS: 60 },
);

function call(more: { run?: Partial<Run>; events?: CallEvent[] } = {}) {
  const nodes = [start('a', { prompt: 'Ask for the name.' })];
  return {
    run: { ...run, ...more.run },
    definition: definition(nodes),
    configurations: {},
    events: more.events ?? talk,
  };
}

function reviewNode(data: Data = {}, id = 'qa1') {
  const [found] = reviewsOf(definition([{ id, type: 'qa', data: { name: 'QA', ...data } }]));
  if (found === undefined) throw new Error('no review');
  return found;
}

function deps(llm?: ReviewerModel) {
  return {
    models: gatewayModel(llm),
    clock,
    log: quietLog().log,
    outside: createGuardedHttp(openSignUpEgress()),
  };
}

const attempt = { isLast: false, now: 0, signal: new AbortController().signal };

describe('a review', () => {
  it('reviews each node in which someone spoke and gives tags, summary and score', async () => {
    const model = new ReviewerModel();
    model.answers = [GOOD, '{"tags":["slow"],"summary":"Fine.","call_quality_score":"9"}'];
    const record = await reviewCall(deps(model), reviewNode(), call(), attempt);
    expect(record).toMatchObject({
      key: 'qa_qa1',
      tags: ['slow', 'rude'],
      usage: {
        key: 'QAAnalysis|||judge-1',
        tokens: { prompt_tokens: 200, completion_tokens: 40, total_tokens: 240 },
      },
      annotation: {
        model: 'judge-1',
        token_usage: { total_tokens: 240 },
        node_results: {
          a: {
            node_name: 'A',
            tags: ['slow', { tag: 'rude', reason: 'it shouted' }],
            summary: 'Not well.',
            score: 3,
            overall_sentiment: 'negative',
            raw_response: GOOD,
          },
          b: { node_name: 'B', tags: ['slow'], summary: 'Fine.', score: 9 },
        },
      },
    });
  });

  it("fills the author's prompt", async () => {
    const model = new ReviewerModel();
    const prompt =
      '{{node_summary}}/{{previous_conversation_summary}}/{{transcript}}/{{metrics}}/{{other}}';
    await reviewCall(deps(model), reviewNode({ qa_system_prompt: prompt }), call(), attempt);
    const [first, second] = model.requests.map(({ messages }) => String(messages[0]?.content));
    expect(first).toMatch(
      /^Ask for the name\.\/\/assistant: Hello, who is there\?\nuser: Ana\.\/\{"user_turns":1,/,
    );
    expect(second).toContain('/assistant: Hello, who is there?\nuser: Ana.\n/assistant: What');
    expect(model.requests[0]?.messages[1]?.content).toContain('user: Ana.');
  });

  it('is of the whole call where turns belong to no node', async () => {
    const events = log(turn('agent', 'Hello', 0, null), turn('user', 'Bye', 900, null));
    const { annotation } = await reviewCall(
      deps(new ReviewerModel()),
      reviewNode(),
      call({ events }),
      attempt,
    );
    expect(annotation['node_results']).toMatchObject({ whole_call: { node_name: 'whole_call' } });
  });

  it.each([
    ['call_too_short', { durationS: 14.9 }, {}],
    ['voicemail', { disposition: 'voicemail_detected' }, {}],
    ['voicemail', { gatheredContext: { answered_by: 'machine_start' } }, {}],
    ['not_sampled', { id: '43' }, { qa_sample_rate: 1 }],
  ])('is skipped: %s', async (reason, ofRun, data) => {
    const model = new ReviewerModel();
    const record = await reviewCall(deps(model), reviewNode(data), call({ run: ofRun }), attempt);
    expect(record).toMatchObject({ annotation: { skipped: true, reason }, usage: undefined });
    expect(model.requests).toEqual([]);
  });

  it('of voicemail happens if the node wants it', async () => {
    const model = new ReviewerModel();
    const ofRun = { disposition: 'voicemail_detected' };
    const node = reviewNode({ qa_voicemail_calls: true });
    const { annotation } = await reviewCall(deps(model), node, call({ run: ofRun }), attempt);
    expect(annotation['skipped']).toBeUndefined();
  });

  it('samples the wanted share of calls, the same ones every time', async () => {
    const model = new ReviewerModel();
    const sampled = async () => {
      const kept: string[] = [];
      for (let id = 1; id <= 400; id++) {
        const one = call({ run: { id: String(id) }, events: talk.slice(0, 1) });
        const node = reviewNode({ qa_sample_rate: 25 });
        const { annotation } = await reviewCall(deps(model), node, one, attempt);
        if (annotation['skipped'] !== true) kept.push(String(id));
      }
      return kept;
    };
    const kept = await sampled();
    expect(kept.length).toBeGreaterThan(70);
    expect(kept.length).toBeLessThan(130);
    expect(await sampled()).toEqual(kept);
  });

  it('without any model says so', async () => {
    const skipped = { skipped: true, reason: 'no_model' };
    const none = await reviewCall(deps(), reviewNode(), call(), attempt);
    expect(none.annotation).toEqual(skipped);
    const own = reviewNode({ qa_use_workflow_llm: false, qa_provider: 'openai' });
    const keyless = await reviewCall(deps(new ReviewerModel()), own, call(), attempt);
    expect(keyless.annotation).toEqual(skipped);
  });

  it('of a silent call says that there is no transcript', async () => {
    const silent = call({ events: log() });
    const record = await reviewCall(deps(new ReviewerModel()), reviewNode(), silent, attempt);
    expect(record.annotation).toMatchObject({ error: 'no_transcript' });
  });

  it('fails to be tried again, and on the last try keeps what it has', async () => {
    const model = new ReviewerModel();
    model.answers = [GOOD, new GatewayError('LLM_TIMEOUT', { what: 'text' })];
    await expect(reviewCall(deps(model), reviewNode(), call(), attempt)).rejects.toThrow();
    model.answers = [GOOD, new GatewayError('LLM_TIMEOUT', { what: 'text' })];
    const last = { ...attempt, isLast: true };
    const { annotation } = await reviewCall(deps(model), reviewNode(), call(), last);
    expect(annotation['node_results']).toMatchObject({
      a: { score: 3 },
      b: { error: 'LLM_TIMEOUT', tags: [], summary: '', score: null },
    });
  });
});

describe('a review on its last try', () => {
  // A restart while reviews of an hour ago were made stored `UNEXPECTED` as the result of each.
  it('is left to another process where this one stops, and has a result where its time is over', async () => {
    const tried = async (reason: unknown): Promise<unknown> => {
      const model = new ReviewerModel();
      model.answers = ['hang'];
      const controller = new AbortController();
      const last = { ...attempt, isLast: true, signal: controller.signal };
      const reviewed = reviewCall(deps(model), reviewNode(), call(), last);
      while (model.requests.length === 0) await settle();
      controller.abort(reason);
      return reviewed.then(({ annotation }) => annotation['node_results']);
    };
    await expect(tried(undefined)).rejects.toThrow();
    const late = new GatewayError('TIMED_OUT', { what: 'reviews', ms: 1 });
    expect(await tried(late)).toMatchObject({ a: { error: 'TIMED_OUT' } });
  });
});

describe('what a review reads', () => {
  it('joins several visits of one node and keeps the order of the line', () => {
    const events = log(
      turn('user', 'second', 2_000),
      turn('agent', 'first', 0),
      turn('agent', 'elsewhere', 3_000, 'b'),
      turn('user', 'back', 4_000),
    );
    const parts = partsOf(events);
    expect(parts.map(({ nodeId }) => nodeId)).toEqual(['a', 'b']);
    expect(parts[0]?.transcript).toBe('assistant: first\nuser: second\nuser: back');
    expect(parts[0]?.metrics).toMatchObject({ user_turns: 2, assistant_turns: 1, user_words: 2 });
  });

  it('counts words that have no spaces between them', () => {
    const events = log(turn('user', '我想预订明天的房间。', 0), turn('agent', 'สวัสดีครับ', 1_000));
    expect(partsOf(events)[0]?.metrics).toMatchObject({ user_words: 5, assistant_words: 2 });
  });

  it('is bounded', () => {
    const long = log(...Array.from({ length: 3_000 }, (_, i) => turn('user', 'x'.repeat(90), i)));
    expect(partsOf(long)[0]?.transcript.length).toBeLessThan(60_100);
  });
});

describe("a model's reply", () => {
  it.each([
    ['no JSON at all', { tags: [], summary: '', score: null }],
    ['{"tags": "x", "call_quality_score": "high"}', { tags: [], score: null }],
    ['[{"summary": "in a list"}]', { summary: 'in a list' }],
    ['{"tags": [1, "", {"tag": ""}, {"tag": "a"}]}', { tags: [{ tag: 'a', reason: '' }] }],
    ['{"call_quality_score": 7.5}', { score: 7.5 }],
  ])('%s', (text, expected) => {
    expect(readReview(text)).toMatchObject(expected);
  });

  it('of any text is a reply', () => {
    const json = fc.jsonValue().map((value) => JSON.stringify(value));
    fc.assert(
      fc.property(fc.oneof(fc.string(), json), fc.string(), (text, around) => {
        const reply = readReview(around + text);
        expect(tagNames(reply.tags).every((tag) => tag !== '')).toBe(true);
        expect(reply.score === null || Number.isFinite(reply.score)).toBe(true);
      }),
    );
  });
});
