// The examples in the API's description are requests that were made and what came of them: this makes each again and
// compares. `npx vitest run test/api/openapi/examples.test.ts -u` writes them anew.

import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, it } from 'vitest';
import { isObject } from '../../../src/std/json.ts';
import type { Example } from '../example.ts';
import { type Operation, operationsOf } from '../operations.ts';
import { DEVOPS_SECRET, withApi } from '../served.ts';
import { makeWorld } from '../world.ts';
import { documentedRequests } from './example-requests.ts';
import { steadied } from './steady-values.ts';

const served = withApi();
const FILE = '../../../src/api/openapi/examples.json';
const RECORD_MS_MAX = 120_000;

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
  getClusterStatus: { headers: { 'x-patchbay-devops-secret': DEVOPS_SECRET } },
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

/** The run of the tests has no call. */
const explanation = {
  verdict: 'service_rate_limited',
  party: 'service',
  summary: 'The language model openai is at its rate limit at "Ask", at 14200 ms (twice).',
  where: {
    node_id: '2',
    node_name: 'Ask',
    at_ms: 14_200,
    turn: 2,
    service: { job: 'llm', name: 'openai', model: 'gpt-4.1' },
    tool: null,
    provider: null,
  },
  evidence: [
    {
      id: 23,
      at_ms: 14_200,
      type: 'fault',
      text: 'LLM_RATE: The language model is at its rate limit',
    },
  ],
  advice: [
    'Raise the rate limit of the account at openai, have fewer calls at once, or add a fallback service.',
  ],
  also: [],
  is_final: true,
  events: { read: 41, total: 41 },
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

/** The store of the tests belongs to one process. */
const gateways = {
  now: '2026-11-28T13:05:00.000Z',
  asked: 'gw1',
  gateways: [
    {
      name: 'gw1',
      url: 'http://gw1:8000',
      since: '2026-11-28T10:00:00.000Z',
      heartbeat_seconds: 0.8,
      calls: 12,
      processes: [
        { name: 'supervisor', since: '2026-11-28T10:00:00.000Z', heartbeat_seconds: 0.3, calls: 0 },
        { name: '1', since: '2026-11-28T10:00:01.000Z', heartbeat_seconds: 0.8, calls: 12 },
        { name: 'api', since: '2026-11-28T10:00:01.000Z', heartbeat_seconds: 0.5, calls: 0 },
      ],
      condition: {
        version: '0.3.0',
        not_ready: [],
        workers: 1,
        workers_wanted: 1,
        clock_skew_seconds: 0.002,
        redis: 'ok',
        s3: 'ok',
        spool_bytes: 0,
        spool_oldest_seconds: 0,
      },
      condition_seconds: 2.1,
    },
  ],
  pbx_leases: [
    {
      configuration_id: '7',
      name: 'Office',
      organization_id: '1',
      node: 'gw1#1',
      seconds_left: 6.4,
      inactive_reason: null,
    },
  ],
  calls: 12,
  calls_without_owner: 0,
};

/** The server of a tool is not asked by tests. */
const tried = {
  status: 'success',
  status_code: 200,
  data: { name: 'Ana Silva' },
  error: null,
  hint: null,
  request_method: 'GET',
  request_url: 'https://crm.example.com/customers?customer_id=4711',
  request_headers: { 'X-Api-Key': '***' },
  request_body: null,
  request_params: { customer_id: '4711' },
  duration_ms: 84,
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
  const { examples: ofWorld } = await makeWorld(served);
  const examples = { ...documentedRequests(ofWorld), ...open };
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
  recorded['redialCampaign'] = {
    ...recorded['redialCampaign'],
    response: recorded['createCampaign']?.response,
  };
  for (const id of ['getDefaultConfigurations', 'getModelConfigurationDefaults']) {
    recorded[id] = { response: withFewForms(recorded[id]?.response) };
  }
  recorded['getClusterStatus'] = { response: gateways };
  recorded['explainRun'] = { response: explanation };
  const { asked, ...figures } = gateways;
  recorded['getSystemStatus'] = {
    response: {
      ...figures,
      answered_by: asked,
      version: '0.3.0',
      policy: 'model',
      not_ready: [],
      database: 'ok',
      loop_lag_p95_ms: 1.2,
      loop_lag_max_ms: 8,
      problems: [],
      service_faults: [],
      services: [
        {
          job: 'stt',
          service: 'deepgram',
          is_configured: true,
          state: 'open',
          open_circuits: 1,
          open_since: '2026-05-01T09:29:30.000Z',
          last_fault: { kind: 'network', at: '2026-05-01T09:29:30.000Z' },
          last_success_at: '2026-05-01T09:28:00.000Z',
          requests: 0,
          failed_requests: 0,
        },
      ],
      alerts: [
        {
          name: 'FallbackInUse',
          severity: 'warn',
          state: 'pending',
          text: 'Calls use the next service, because one has failed',
          remedy: 'Run "npx patchbay services check" and correct what it names.',
          since: '2026-05-01T09:29:30.000Z',
          detail: 'deepgram: 1',
          runbook: 'docs/operations.md#fallbackinuse',
        },
      ],
    },
  };
  recorded['checkModelConfiguration'] = { response: checked };
  recorded['testTool'] = { ...recorded['testTool'], response: tried };
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
