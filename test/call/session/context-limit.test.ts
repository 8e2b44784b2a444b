// A call whose conversation becomes longer than its language model takes: the service refuses it with status 400.

import { expect, it } from 'vitest';
import { openLanguageModel } from '../../../src/speech/vendors/llm-registry.ts';
import { failure, says, startOpenAiServer } from '../../fakes/services/openai-server.ts';
import { withCallHarness } from '../call-harness.ts';
import { withToolsAnd } from './tools-harness.ts';

const at = withCallHarness();

/** Messages of the largest request that the model takes. */
const MESSAGES_MAX = 8;
const TOO_LONG = failure(400, {
  message: "This model's maximum context length is 4096 tokens. However, you requested 5000.",
  type: 'invalid_request_error',
  param: 'messages',
  code: 'context_length_exceeded',
});

it('goes on to its end, and neither the caller nor the run has a fault', async () => {
  const server = await startOpenAiServer();
  let refused = 0;
  server.otherwise(({ body }) => {
    const messages = body['messages'] as unknown[];
    if (messages.length <= MESSAGES_MAX) return says(`Answer to ${messages.length} messages.`);
    refused += 1;
    return TOO_LONG;
  });
  const { harness } = at;
  const { clock, log } = harness.deps;
  const settings = {
    provider: 'openai',
    base_url: server.baseUrl,
    api_key: 'k',
    model: 'm',
  } as const;
  harness.speech.llm = openLanguageModel([settings], { clock, log });
  // The server answers in real time.
  await withToolsAnd(harness, { filler_delay_seconds: 0 });
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  const turns = 6;
  for (let turn = 1; turn <= turns; turn++) {
    const said = harness.tts.asked.length;
    await harness.says(stream, `question ${turn}`);
    await harness.passThrough(() => harness.tts.asked.length > said);
    await harness.heardOut(stream);
  }
  expect(refused).toBeGreaterThan(0);
  const last = JSON.stringify(server.requests.at(-1)?.body);
  expect(last).toContain(`question ${turns}`);
  expect(last).not.toContain('question 1');
  expect(harness.tts.asked.filter((text) => text.startsWith('Answer to'))).toHaveLength(turns);
  expect(await harness.bodies(run, 'fault')).toEqual([]);
  await harness.speech.llm?.close();
  await server.close();
});
