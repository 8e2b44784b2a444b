// Anthropic's own SDK against our fake of its Messages interface. From version 1.0 on the SDK asks for version 2026-10-21 of
// the interface, with a Bearer token: here it asks for the version of our client, and with its header.

import Anthropic from '@anthropic-ai/sdk';
import { afterEach, describe, expect, it } from 'vitest';
import {
  refused,
  says,
  startAnthropicServer,
  started,
  stopped,
  textOf,
  thought,
  toolUse,
} from '../fakes/services/anthropic-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(apiKey = KEY) {
  const server = await startAnthropicServer(KEY);
  opened.push(server);
  const defaultHeaders = {
    'anthropic-version': '2023-06-01',
    'x-api-key': apiKey,
    authorization: null,
  };
  const client = new Anthropic({
    apiKey,
    baseURL: server.origin,
    maxRetries: 0,
    defaultHeaders,
  });
  return { server, client };
}

const request: Anthropic.MessageStreamParams = {
  model: 'claude-haiku-4-5',
  max_tokens: 300,
  system: [{ type: 'text', text: 'Be brief.', cache_control: { type: 'ephemeral' } }],
  messages: [{ role: 'user', content: [{ type: 'text', text: 'Which day?' }] }],
  tools: [
    {
      name: 'book',
      description: 'Books a visit.',
      input_schema: { type: 'object', properties: { day: { type: 'string' } } },
    },
  ],
};

describe('the SDK of Anthropic', () => {
  it('shows the words that the fake streams', async () => {
    const { server, client } = await start();
    server.script(says('On Monday at ten.'));
    const stream = client.messages.stream(request);
    expect(await stream.finalText()).toBe('On Monday at ten.');
    const { usage, stop_reason: reason } = await stream.finalMessage();
    expect([reason, usage.input_tokens, usage.output_tokens]).toEqual(['end_turn', 12, 9]);
    const [sent] = server.requests;
    if (sent === undefined) throw new Error('no request');
    expectFixture(
      'anthropic/messages',
      capturedRequest(
        { url: sent.path, headers: sent.headers },
        {
          key: KEY,
          headers: ['x-api-key', 'anthropic-version', 'content-type'],
          messages: [sent.body],
        },
      ),
    );
  });

  it('shows thoughts with their signature, and a tool call whose arguments come in pieces', async () => {
    const { server, client } = await start();
    const steps = [
      started(),
      ...thought(0, 'A visit.'),
      ...textOf(1, 'One moment.'),
      ...toolUse(2, { id: 'toolu_1', name: 'book' }, '{"day":', '"Monday"}'),
      ...stopped('tool_use'),
    ];
    server.script({ steps });
    const message = await client.messages.stream(request).finalMessage();
    expect(message.content).toMatchObject([
      { type: 'thinking', thinking: 'A visit.' },
      { type: 'text', text: 'One moment.' },
      { type: 'tool_use', id: 'toolu_1', name: 'book', input: { day: 'Monday' } },
    ]);
    // The fake takes back what it gave, and nothing else.
    server.script(says('Done.'));
    const results: Anthropic.MessageParam['content'] = [
      { type: 'tool_result', tool_use_id: 'toolu_1', content: 'booked' },
    ];
    const history: Anthropic.MessageParam[] = [
      ...request.messages,
      { role: 'assistant', content: message.content },
      { role: 'user', content: results },
    ];
    const next = client.messages.stream({ ...request, messages: history });
    expect(await next.finalText()).toBe('Done.');
  });

  it('shows a wrong key, a limit and an overload as errors of their classes', async () => {
    const wrong = await start('wrong');
    const refusal = wrong.client.messages.stream(request).finalMessage();
    await expect(refusal).rejects.toBeInstanceOf(Anthropic.AuthenticationError);
    const { server, client } = await start();
    server.script(
      refused(429, 'rate_limit_error', 'Slow down.', { 'retry-after': '7' }),
      refused(529, 'overloaded_error', 'Overloaded'),
    );
    const limited = client.messages.stream(request).finalMessage();
    await expect(limited).rejects.toBeInstanceOf(Anthropic.RateLimitError);
    const overloaded = client.messages.stream(request).finalMessage();
    await expect(overloaded).rejects.toBeInstanceOf(Anthropic.InternalServerError);
  });
});
