// The examples in the API's description are requests that were made and what came of them: this makes each again and
// compares. `npx vitest run test/api/openapi/examples.test.ts -u` writes them anew.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { isObject } from '../../../src/std/json.ts';
import type { Example } from '../example.ts';
import { type Operation, operationsOf } from '../operations.ts';
import { DEVOPS_SECRET, withApi } from '../served.ts';
import { MARK, makeWorld } from '../world.ts';

const served = withApi();
const FILE = '../../../src/api/openapi/examples.json';
const RECORD_MS_MAX = 120_000;
/** Items of a list, and characters of a text, that an example of a response shows. */
const ITEMS_MAX = 2;
const CHARACTERS_MAX = 200;

interface Recorded {
  request?: unknown;
  response?: unknown;
}

/** Examples of operations that take no key. */
const open: Record<string, Example> = {
  signUp: { body: { email: 'jo@example.com', password: 'a long password', name: 'Jo' } },
  logIn: { body: { email: 'jo@example.com', password: 'a long password' } },
  health: {},
  getActiveCalls: { headers: { 'x-patchbay-devops-secret': DEVOPS_SECRET } },
  getAutoscaleMetric: { headers: { 'x-patchbay-devops-secret': DEVOPS_SECRET } },
  getDefaultConfigurations: {},
  listWorkflowTemplates: {},
};

/** What this gateway of the tests cannot do: it has no PBX, no language model and no recogniser. */
const unanswered: Record<string, unknown> = {
  examineTelephonyConfiguration: {
    ok: false,
    findings: [
      {
        key: 'reachable',
        title: 'The PBX answers',
        verdict: 'fail',
        message: 'connect ECONNREFUSED',
        advice: 'Check ari_endpoint and the firewall.',
      },
    ],
  },
  syncTelephonyConfiguration: {
    changes: [
      {
        kind: 'number',
        subject: '+14155550100',
        from: 'https://old.example.com/voice',
        to: 'https://gw.example.com/api/v1/telephony/inbound/run',
        state: 'done',
        message: null,
      },
    ],
    not_examined: 0,
  },
  transcribeRecording: { transcript: 'Hello, how can I help you?' },
  deleteCampaign: { message: 'Campaign deleted' },
};

/** What the services on the machine of the tests say is not known. */
const checked = {
  ok: false,
  services: [
    {
      model: 'llm',
      position: 0,
      provider: 'openai',
      verdict: 'refused',
      message: 'Invalid openai API key. The service says: Incorrect API key provided.',
      duration_ms: 214,
    },
    {
      model: 'tts',
      position: 0,
      provider: 'flite',
      verdict: 'ok',
      message: '',
      duration_ms: 0,
    },
  ],
};

/** One service of each job: all of them are long, and change with every service that is added. */
function withFewForms(value: unknown, isOfJob = false): unknown {
  if (!isObject(value)) return value;
  const entries = Object.entries(value);
  if (isOfJob) return Object.fromEntries(entries.slice(0, 1));
  return Object.fromEntries(
    entries.map(([name, each]) => [name, withFewForms(each, /^(llm|tts|stt)$/.test(name))]),
  );
}

async function ask(operation: Operation, example: Example): Promise<unknown> {
  const { path = {}, query = {}, body, headers } = example;
  const filled = operation.path.replace(/\{(.+?)\}/g, (_all, name: string) =>
    encodeURIComponent(path[name] ?? ''),
  );
  const search = new URLSearchParams(query).toString();
  const answer = await served.call(
    operation.method.toUpperCase() as 'GET',
    search === '' ? filled : `${filled}?${search}`,
    { ...(body === undefined ? {} : { body }), ...(headers === undefined ? {} : { headers }) },
  );
  return answer.status === 200 ? answer.body : undefined;
}

/** Children before their parents, and both after everything else. */
function inOrder(operations: Operation[]): Operation[] {
  const deletes = operations.filter(({ method }) => method === 'delete');
  deletes.sort((one, other) => other.path.length - one.path.length);
  return [...operations.filter(({ method }) => method !== 'delete'), ...deletes];
}

it('are requests that were made, and their answers', { timeout: RECORD_MS_MAX }, async () => {
  const { body } = await served.call('GET', '/api/v1/openapi.json', { key: null });
  const operations = operationsOf(body);
  const examples = { ...(await makeWorld(served)).examples, ...open };
  const recorded: Record<string, Recorded> = {};
  for (const operation of inOrder(operations)) {
    const { operationId: id } = operation;
    const example = examples[id];
    if (example === undefined) continue;
    const steady = steadied();
    const answer = (await ask(operation, example)) ?? unanswered[id];
    const entry: Recorded = {};
    if (example.body !== undefined) entry.request = steady(example.body, { whole: true });
    if (answer !== undefined) entry.response = steady(answer, { whole: false });
    if (Object.keys(entry).length > 0) recorded[id] = entry;
  }
  recorded['redialCampaign'] = { request: {}, response: recorded['createCampaign']?.response };
  for (const id of ['getDefaultConfigurations', 'getModelConfigurationDefaults']) {
    recorded[id] = { response: withFewForms(recorded[id]?.response) };
  }
  recorded['checkModelConfiguration'] = { response: checked };
  recorded['writeWorkflow'] = {
    ...recorded['writeWorkflow'],
    response: recorded['createWorkflow']?.response,
  };
  await expect(`${JSON.stringify(recorded, null, 1)}\n`).toMatchFileSnapshot(FILE);
});

it('exist for every operation with JSON, and fit its schemas', async () => {
  const { body: document } = await served.call('GET', '/api/v1/openapi.json', { key: null });
  const ajv = new Ajv2020({ strict: false, validateFormats: false });
  ajv.addSchema(document, 'api');
  for (const [path, item] of Object.entries(document.paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, unknown>)) {
      const { operationId, requestBody, responses, tags } = operation as Record<string, Holder>;
      // What a provider is to do is the provider's own format.
      if (Array.isArray(tags) && tags.includes('webhooks')) continue;
      for (const [part, holder] of [
        ['request', requestBody],
        ['response', (responses as Record<string, Holder>)['200']],
      ] as const) {
        const json = holder?.content?.['application/json'];
        if (json === undefined || withoutExample.has(`${String(operationId)} ${part}`)) continue;
        const where = `${method} ${path} ${part}`;
        expect(json.example, where).toBeDefined();
        const validate = ajv.compile(absolute(json.schema) as object);
        expect([where, validate(json.example), validate.errors]).toEqual([where, true, null]);
      }
    }
  }
});

interface Holder {
  content?: Record<string, { schema: unknown; example?: unknown }>;
}

/** No MCP server is called by this version, and a file that was sent is answered with nothing. */
const withoutExample = new Set(['refreshMcpTool response', 'putFile response']);

/** References within the document `api`. */
function absolute(schema: unknown): unknown {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/', '"api#/'));
}

/** Replaces what differs from one run to the next. */
function steadied() {
  const ids = new Map<string, string>();
  return function steady(value: unknown, { whole }: { whole: boolean }, key = ''): unknown {
    if (Array.isArray(value)) {
      const shown = whole ? value : value.slice(0, ITEMS_MAX);
      return shown.map((each) => steady(each, { whole }, key));
    }
    if (isObject(value)) {
      return Object.fromEntries(
        Object.entries(value).map(([name, each]) => [name, steady(each, { whole }, name)]),
      );
    }
    return leaf(value, whole, key);
  };

  function leaf(value: unknown, whole: boolean, key: string): unknown {
    if (typeof value === 'number') return VARYING.test(key) ? 2 : value;
    if (typeof value !== 'string') return value;
    const text = isId(key, value) ? numbered(value) : plain(value, key);
    return whole ? text : text.slice(0, CHARACTERS_MAX);
  }

  function numbered(id: string): string {
    const known = ids.get(id) ?? String(42 + ids.size);
    ids.set(id, known);
    return known;
  }
}

function isId(key: string, value: string): boolean {
  return /(^|_)id$/.test(key) && /^\d+$/.test(value);
}

function plain(text: string, key: string): string {
  if (key === 'api_key' && text.startsWith('pbk_')) return `pbk_${'Ab1'.repeat(14)}X`;
  if (key === 'key_prefix' || key === 'secret_prefix') return text.replace(/(?<=_).*/, 'Ab1A');
  if (key === 'token' && text.startsWith('eyJ'))
    return 'eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiI0MiJ9.c2ln';
  if (key === 'secret') return 'whsec_AbCdEfGhIjKlMnOpQrStUvWxYz012345';
  if (key === 'date') return '2026-01-15';
  return text
    .replaceAll(`${MARK} `, 'Main ')
    .replaceAll(MARK, 'main')
    .replace(/\d{4}-\d\d-\d\d(?=$|T)/g, '2026-01-15')
    .replace(/(?<=2026-01-15)T[\d:.]+(?=Z|\+)/g, 'T09:30:00.000')
    .replace(/(?<=turn_)[0-9a-f]{12}/g, '4f9c2d1ab03e')
    .replace(/[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}/g, UUID)
    .replace(/(?<=patchbay_)[0-9a-f]{12}/g, '4f9c2d1ab03e')
    .replace(/\b[0-9a-f]{16}\b/g, '4f9c2d1ab03e77d5')
    .replace(/(?<=expires=)\d+/g, '1768470600')
    .replace(/(?<=signature=)[\w-]+/g, 'c2lnbmF0dXJl')
    .replace(/(?<=main-recording-)\d+/g, '1')
    .replace(/(?<=(recordings|campaigns|ambient_noise|transcripts)\/)\d+/g, '7')
    .replace(/(?<=WR-TEXT-)[0-9A-F]{6}/g, '1A2B3C')
    .replace(/(?<=WR-[A-Z-]+-)\d{4,}/g, '1234');
}

/** Numbers that differ from one run to the next. */
const VARYING = /^(loop_lag_.*|duration_ms|.*latency.*)$/;
const UUID = '7c9e6679-7425-40de-944b-e07fc1f90ae7';
