// Google's own SDK against our fake of streamGenerateContent.

import { ApiError, FunctionCallingConfigMode, GoogleGenAI } from '@google/genai';
import { afterEach, describe, expect, it } from 'vitest';
import {
  callPart,
  chunk,
  says,
  signatureOf,
  startGeminiServer,
} from '../fakes/services/gemini-server.ts';
import { capturedRequest } from '../speech/captured-request.ts';
import { expectFixture, KEY } from './sdk-fixture.ts';

const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(apiKey = KEY) {
  const server = await startGeminiServer(KEY);
  opened.push(server);
  const httpOptions = { baseUrl: server.origin };
  return { server, client: new GoogleGenAI({ apiKey, httpOptions }) };
}

const request = {
  model: 'gemini-3.5-flash',
  contents: [{ role: 'user', parts: [{ text: 'Which day?' }] }],
  config: {
    systemInstruction: { parts: [{ text: 'Be brief.' }] },
    temperature: 0.2,
    maxOutputTokens: 300,
    tools: [
      {
        functionDeclarations: [
          {
            name: 'book',
            description: 'Books a visit.',
            parametersJsonSchema: { type: 'object', properties: { day: { type: 'string' } } },
          },
        ],
      },
    ],
    toolConfig: { functionCallingConfig: { mode: FunctionCallingConfigMode.AUTO } },
  },
};

describe('the SDK of Gemini', () => {
  it('shows the words that the fake streams, and the tokens that it counts', async () => {
    const { server, client } = await start();
    server.script(says('On Monday at ten.'));
    let text = '';
    let tokens: number | undefined;
    for await (const part of await client.models.generateContentStream(request)) {
      text += part.text ?? '';
      tokens = part.usageMetadata?.totalTokenCount;
    }
    expect([text, tokens]).toEqual(['On Monday at ten.', 20]);
    const [sent] = server.requests;
    if (sent === undefined) throw new Error('no request');
    expectFixture(
      'gemini/stream-generate-content',
      capturedRequest(
        { url: sent.path, headers: sent.headers },
        { key: KEY, headers: ['x-goog-api-key', 'content-type'], messages: [sent.body] },
      ),
    );
  });

  it('shows a function call with the signature of its thought', async () => {
    const { server, client } = await start();
    server.script({ steps: [chunk([callPart('book', { day: 'Monday' })], 'STOP')] });
    const parts: unknown[] = [];
    for await (const part of await client.models.generateContentStream(request)) {
      parts.push(...(part.candidates?.[0]?.content?.parts ?? []));
    }
    expect(parts).toEqual([
      {
        functionCall: { name: 'book', args: { day: 'Monday' } },
        thoughtSignature: signatureOf('book'),
      },
    ]);
  });

  it('shows a wrong key as an error with its status', async () => {
    const { client } = await start('wrong');
    const refusal = client.models.generateContentStream(request);
    await expect(refusal).rejects.toBeInstanceOf(ApiError);
    await expect(refusal).rejects.toMatchObject({ status: 400 });
  });
});
