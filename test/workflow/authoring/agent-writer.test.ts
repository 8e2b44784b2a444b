// Agents written by a language model. Source: contract §5.1.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf, GatewayError } from '../../../src/errors/gateway-error.ts';
import { readDefinition, WorkflowGenerator } from '../../../src/workflow/authoring/agent-writer.ts';
import { validateDefinition } from '../../../src/workflow/graph/validate.ts';
import { ReviewerModel } from '../../fakes/call/reviewer-model.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

const wish = { callType: 'inbound', useCase: 'A bakery', activity: 'Takes orders.' } as const;
const whole = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      data: { name: 'Start', prompt: 'Take the order.', tool_uuids: ['made-up'], mood: 'kind' },
    },
    { id: '2', type: 'endCall', data: { name: 'End', prompt: 'Say goodbye.' } },
  ],
  edges: [
    { id: '1-2', source: '1', target: '2', data: { label: 'Done', condition: 'All is ordered.' } },
  ],
};
const broken = { ...whole, edges: [] };
const setUp = (...answers: ReviewerModel['answers']) => {
  const llm = new ReviewerModel();
  llm.answers = answers;
  const clock = new FakeClock();
  return {
    llm,
    clock,
    writer: new WorkflowGenerator({ modelOf: () => Promise.resolve(llm), clock }),
  };
};
const failure = (work: Promise<unknown>) =>
  work.then(
    () => undefined,
    (error: unknown) => error,
  );

describe('writing an agent', () => {
  it('gives the model the node types and the wish, and returns what it drew', async () => {
    const { llm, writer } = setUp(JSON.stringify(whole));
    const definition = await writer.generate(wish, '1');
    expect(definition.nodes.map(({ position, data }) => [position, data])).toEqual([
      [
        { x: 0, y: 0 },
        { name: 'Start', prompt: 'Take the order.' },
      ],
      [
        { x: 350, y: 0 },
        { name: 'End', prompt: 'Say goodbye.' },
      ],
    ]);
    const [request] = llm.requests;
    // A definition of a dozen steps takes a model longer than the minute of an answer in a call.
    expect(request).toMatchObject({ tools: [], json: true, totalMsMax: 120_000 });
    const [system, user] = request?.messages ?? [];
    expect(system?.content).toContain('startCall: The first step of every call');
    expect(system?.content).toContain('pre_call_fetch_mode: disabled | always');
    expect(system?.content).not.toContain('tool_uuids');
    expect(user?.content).toBe(
      'People call the agent.\nWhat it is for: A bakery\nWhat it shall do: Takes orders.',
    );
  });

  it('asks once more, saying what was wrong', async () => {
    const { llm, writer } = setUp(JSON.stringify(broken), JSON.stringify(whole));
    expect((await writer.generate(wish, '1')).edges).toHaveLength(1);
    const messages = llm.requests[1]?.messages ?? [];
    expect(messages.map(({ role }) => role)).toEqual(['system', 'user', 'assistant', 'user']);
    expect(messages[3]?.content).toContain('End Call must have at least 1 incoming edge(s)');
  });

  it.each([
    ['broken twice', JSON.stringify(broken), /at least 1 incoming/],
    ['no JSON', 'I would rather not.', /expected object/],
    ['not a definition', '{"nodes": "many"}', /nodes/],
  ])('gives up on an answer that is %s', async (_what, answer, reason) => {
    const { llm, writer } = setUp(answer);
    const error = await failure(writer.generate(wish, '1'));
    expect(codeOf(error)).toBe('AGENT_NOT_WRITTEN');
    expect(String(error)).toMatch(reason);
    expect(llm.requests).toHaveLength(2);
  });

  it('fails with the model', async () => {
    const { llm, writer } = setUp(new GatewayError('LLM_RATE'));
    expect(codeOf(await failure(writer.generate(wish, '1')))).toBe('AGENT_NOT_WRITTEN');
    expect(llm.requests).toHaveLength(1);
  });

  it('does not wait for ever', async () => {
    const { clock, writer } = setUp('hang');
    const writing = failure(writer.generate(wish, '1'));
    await settle();
    clock.advance(120_000);
    expect(codeOf(await writing)).toBe('AGENT_NOT_WRITTEN');
  });

  it('needs a model', async () => {
    const writer = new WorkflowGenerator({
      modelOf: () => Promise.resolve(undefined),
      clock: new FakeClock(),
    });
    const error = await failure(writer.generate(wish, '1'));
    expect(codeOf(error)).toBe('AGENT_WRITER_UNAVAILABLE');
    expect(String(error)).toContain('OPENAI_API_KEY');
  });
});

describe('an answer', () => {
  it('gives a valid definition or what is wrong, whatever it is', () => {
    const text = fc.oneof(
      fc.string(),
      fc.json(),
      fc.jsonValue().map((nodes) => JSON.stringify({ ...whole, nodes })),
      fc.jsonValue().map((data) => JSON.stringify({ nodes: [{ ...whole.nodes[0], data }] })),
    );
    fc.assert(
      fc.property(text, (answer) => {
        const read = readDefinition(answer);
        if ('faults' in read) expect(read.faults.length).toBeGreaterThan(0);
        else expect(validateDefinition(read.definition, { full: true })).toEqual([]);
      }),
    );
  });

  it('may be in a fence', () => {
    expect(readDefinition(`\`\`\`json\n${JSON.stringify(whole)}\n\`\`\``)).toHaveProperty(
      'definition',
    );
  });
});
