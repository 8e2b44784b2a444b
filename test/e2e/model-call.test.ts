// A call that a language model leads, over the real wire: the gateway asks a server that speaks chat
// completions, the caller answers by voice (or keys, where no recogniser is installed).

import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { ProviderLink } from '../demo/provider-link.ts';
import { type Agents, holdOutbound, setUp } from '../demo/two-calls.ts';
import { faultsOf } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';
import type { RecordedRequest, Reply } from '../fakes/scripted-server.ts';
import {
  calls,
  type FakeOpenAiServer,
  says,
  startOpenAiServer,
} from '../fakes/services/openai-server.ts';

const CALL_MS = 120_000;
const recogniser = ['x86_64', 'aarch64'].some((machine) =>
  existsSync(`/usr/lib/${machine}-linux-gnu/libpocketsphinx.so.3`),
);
const folder = mkdtempSync(join(tmpdir(), 'patchbay-e2e-'));
let model: FakeOpenAiServer;
let gateway: Gateway;
let provider: ProviderLink;
let api: ApiClient;
let agents: Agents;

beforeAll(async () => {
  model = await startOpenAiServer();
  model.otherwise(answer);
  gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { OPENAI_BASE_URL: model.baseUrl, OPENAI_API_KEY: 'sk-e2e' },
  });
  api = new ApiClient(gateway.url, await gateway.firstKey());
  const link = await ProviderLink.start(gateway.url, recogniser);
  provider = link.provider;
  agents = await setUp(api, link.apiUrl);
}, 60_000);

afterAll(async () => {
  provider?.stop();
  await gateway?.stop();
  await model?.close();
  rmSync(folder, { recursive: true, force: true });
});

/** What a model would say to the reminder's callee: it goes by what it is sent, not by a script. */
function answer({ body }: RecordedRequest): Reply {
  const messages = body['messages'] as { role: string; content: string }[];
  if (body['response_format'] !== undefined) return says(JSON.stringify(valuesFor(messages)));
  const heard = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  if (/another day|: 3\)/.test(heard)) {
    return calls('another_day', {}, { text: 'Of course. Somebody will call you. Goodbye.' });
  }
  if (/\bno\b|: 2\)/.test(heard)) {
    const text = 'I am sorry. Are you travelling, not feeling well, or would another day suit you?';
    return calls('not_coming', {}, { text });
  }
  return says('Sorry, will you be able to come?');
}

function valuesFor(messages: { content: string }[]): Record<string, string> {
  const asked = messages.map(({ content }) => content).join('\n');
  return /call_disposition/.test(asked)
    ? { reason: 'another day', call_disposition: 'rescheduled' }
    : { coming: 'no' };
}

it(
  'moves from node to node, one request a turn, and gathers the values asked for',
  async () => {
    const lines: string[] = [];
    const onLine = ({ who, text }: { who: string; text: string }) => lines.push(`${who}: ${text}`);
    const call = await holdOutbound({ api, provider, agents, recogniser, model: true, onLine });
    expect(faultsOf(call), lines.join('\n')).toEqual([]);
    const spoken = model.requests.filter(({ body }) => body['response_format'] === undefined);
    expect(spoken).toHaveLength(2);
    expect(call.run.logs?.realtime_feedback_events.map(({ type }) => type)).toContain(
      'rtf-ttfb-metric',
    );
  },
  CALL_MS,
);
