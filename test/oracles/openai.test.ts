// OpenAI's own SDK against our fake of chat completions.

import OpenAI from 'openai';
import { afterEach, describe, expect, it } from 'vitest';
import { calls, failure, says, startOpenAiServer } from '../fakes/services/openai-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';
import { typeDifferences } from './vendor-types.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start() {
  const server = await startOpenAiServer();
  opened.push(server);
  return { server, client: new OpenAI({ apiKey: KEY, baseURL: server.baseUrl, maxRetries: 0 }) };
}

const request = {
  model: 'gpt-test',
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Which day?' },
  ],
  tools: [
    {
      type: 'function',
      function: {
        name: 'book',
        description: 'Books a visit.',
        parameters: { type: 'object', properties: { day: { type: 'string' } } },
      },
    },
  ],
  stream: true,
  stream_options: { include_usage: true },
} satisfies OpenAI.ChatCompletionCreateParamsStreaming;

const type = "import('openai').OpenAI.ChatCompletionChunk";

describe('the SDK of OpenAI', () => {
  it('shows the words that the fake streams', async () => {
    const { server, client } = await start();
    server.script(says('On Monday at ten.'));
    const chunks: OpenAI.ChatCompletionChunk[] = [];
    const stream = client.chat.completions.stream(request);
    stream.on('chunk', (chunk) => chunks.push(chunk));
    expect(await stream.finalContent()).toBe('On Monday at ten.');
    expect(chunks.at(-1)?.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 4 });
    expect(typeDifferences(chunks.map((message) => ({ type, message })))).toEqual([]);
    const [sent] = server.requests;
    if (sent === undefined) throw new Error('no request');
    expectFixture(
      'openai/chat-completions',
      capturedRequest(
        { url: sent.path, headers: sent.headers },
        { key: KEY, headers: ['authorization', 'content-type'], messages: [sent.body] },
      ),
    );
  });

  it('shows the tool call whose arguments the fake sends in pieces', async () => {
    const { server, client } = await start();
    server.script(calls('book', { day: 'Monday' }, { id: 'call_1', text: 'One moment. ' }));
    const stream = client.chat.completions.stream(request);
    const message = await stream.finalMessage();
    expect(message.content).toBe('One moment. ');
    expect(message.tool_calls).toMatchObject([
      { id: 'call_1', function: { name: 'book', arguments: '{"day":"Monday"}' } },
    ]);
  });

  it('shows a wrong key and a limit as errors of their classes', async () => {
    const { server, client } = await start();
    const error = { message: 'Incorrect API key provided.', code: 'invalid_api_key' };
    const limit = { message: 'Slow down.', code: 'rate_limit_exceeded' };
    server.script(failure(401, error), failure(429, limit, { 'retry-after': '7' }));
    const refused = client.chat.completions.create(request);
    await expect(refused).rejects.toBeInstanceOf(OpenAI.AuthenticationError);
    const limited = client.chat.completions.create(request);
    await expect(limited).rejects.toBeInstanceOf(OpenAI.RateLimitError);
  });
});
