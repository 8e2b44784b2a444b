// Makes a stored fixture of the version in this checkout: a database and a data folder with every kind of record,
// taken by `kill -9` while calls are open. `npx tsx test/stored-version/make.ts FOLDER` after `npm run build`; needs
// the programs of a PostgreSQL server. It uses the HTTP API only, and the simulated provider. What the fixture holds:
// fixtures/stored-version/README.md.

import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { Gateway } from '../demo/gateway.ts';
import { holdCall } from '../demo/person.ts';
import { OWN_NUMBER, outbound } from '../demo/scenario.ts';
import { freePort } from '../fakes/free-port.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { startServer } from '../store/databases.ts';

const STEP_MS_MAX = 60_000;
const POLL_MS = 200;
const STORED_MS = 1_500;
const PASSWORD = 'stored version 1';
const CALLER = '+15005550101';
const OTHER_CALLER = '+15005550103';
/** Whom the campaign calls, and what becomes of it. */
const CONTACTS = {
  reached: '+14152000001',
  busy: '+14152000002',
  failed: '+14152000003',
  /** Rings when the gateway is killed. */
  ringing: '+14152000004',
  /** Dialled, and the provider has not answered the request. */
  dialled: '+14152000005',
  fresh: '+14152000006',
} as const;

const target = resolve(process.argv[2] ?? 'stored-version');
const folder = mkdtempSync(join(tmpdir(), 'patchbay-stored-'));
const dataFolder = join(folder, 'data');
const server = await startServer();
const port = await freePort();
const gateway = await Gateway.start({
  dataFolder,
  logFile: join(folder, 'gateway.log'),
  port,
  env: {
    DATABASE_URL: server.url,
    PATCHBAY_NODE: 'stored-version',
    PATCHBAY_OUTSIDE_ALLOW: '127.0.0.1',
    PATCHBAY_STT: 'none',
    OPENAI_BASE_URL: '',
    OPENAI_API_KEY: '',
    PATCHBAY_CALL_LIMIT: '10',
  },
});
const twilio = await startFakeTwilio({
  publicWebhookBase: gateway.url,
  accountSid: ACCOUNT_SID,
  authToken: AUTH_TOKEN,
  numbers: [OWN_NUMBER],
});
const held: string[] = [];
const provider = await inFront(twilio, held);
let apiKey = await gateway.firstKey();

/** What a test has to know. */
const facts: Record<string, unknown> = { gatewayUrl: gateway.url };
try {
  await make();
} finally {
  await gateway.kill();
}
await new Promise((done) => setTimeout(done, 500));
save();
await twilio.close();
provider.closeAllConnections();
provider.close();
await server.stop();
process.exit(0);

async function make(): Promise<void> {
  const receiver = await listen(createServer((_request, response) => response.end('thanks')));
  const ids = await setUp(urlOf(receiver), urlOf(provider));
  const signing = record(await ask('POST', '/organizations/webhook-signing-secret', {}));
  facts['signingSecret'] = signing['secret'];
  Object.assign(facts, { ids, webhookUrl: urlOf(receiver), providerUrl: urlOf(provider) });

  say('a call that ends and whose webhook is delivered');
  const first = await twilio.placeInboundCall({ from: CALLER, to: OWN_NUMBER });
  await holdCall(first, [answer('1')]);
  await until(deliveries, (all) => all.includes('"delivered"'));
  receiver.closeAllConnections();
  receiver.close();

  say('a text chat');
  const path = `/workflow/${ids.workflow}/text-chat/sessions`;
  const chat = record(await ask('POST', path, { name: 'Stored chat' }));
  const text = { text: 'no thank you', expected_revision: chat['revision'] };
  const chatId = String(chat['workflow_run_id']);
  await ask('POST', `${path}/${chatId}/messages`, text);

  say('a call whose webhook is refused, and one that stays open');
  const second = await twilio.placeInboundCall({ from: CALLER, to: OWN_NUMBER });
  await second.waitForSpeech();
  second.hangUp();
  const open = await twilio.placeInboundCall({ from: OTHER_CALLER, to: OWN_NUMBER });
  void holdCall(open, [answer('2')]);
  await until(
    () => lastRun(ids.workflow),
    (run) => run.includes(open.sid) && run.includes('I am sorry to hear that'),
  );
  await until(deliveries, (all) => all.includes('"pending"'));

  say('a campaign with two calls that stay open');
  twilio.onOutboundCall((call) => {
    if (call.to === CONTACTS.busy) call.refuse('busy');
    else if (call.to === CONTACTS.failed) call.refuse('failed');
    else if (call.to === CONTACTS.reached) {
      void call.waitForSpeech().then(() => call.hangUp());
      call.answer();
    }
  });
  await ask('POST', `/campaign/${ids.campaign}/start`);
  const ringing = await until(
    () => Promise.resolve(twilio.calls.find(({ to }) => to === CONTACTS.ringing)),
    (call) => call !== undefined,
  );
  await until(
    () => Promise.resolve(held.length),
    (count) => count === 1,
  );
  // What was said is in the store within a second.
  await new Promise((done) => setTimeout(done, STORED_MS));
  const [completed] = await finishedRuns(ids.workflow);
  const answers: Record<string, unknown> = {};
  for (const each of settledPaths({ ...ids, chat: `${path}/${chatId}`, run: String(completed) })) {
    answers[each] = await ask('GET', each);
  }
  await gateway.kill();
  Object.assign(facts, {
    apiKey,
    password: PASSWORD,
    chat: `${path}/${chatId}`,
    run: completed,
    openCall: open.sid,
    ringingCall: ringing?.sid,
    answers,
    killedAt: new Date().toISOString(),
  });
}

/** What a stop of the gateway leaves as it is. */
function settledPaths(ids: Record<string, string>): string[] {
  const configuration = `/organizations/telephony-configs/${ids['twilio']}`;
  return [
    `/workflow/fetch/${ids['workflow']}`,
    `/workflow/${ids['workflow']}/versions`,
    `/workflow/${ids['workflow']}/runs/${ids['run']}`,
    String(ids['chat']),
    `/campaign/${ids['campaign']}/source-download-url`,
    `/organizations/telephony-configs`,
    configuration,
    `${configuration}/phone-numbers`,
    '/credentials/',
    '/tools/',
    '/folder/',
    '/workflow-recordings/',
    '/organizations/webhook-deliveries/1',
    '/organizations/webhook-signing-secret',
  ];
}

async function setUp(webhookUrl: string, apiUrl: string) {
  const email = 'ada@example.com';
  await ask('POST', '/auth/signup', { email, password: PASSWORD, name: 'Ada' });
  const key = record(await ask('POST', '/user/api-keys', { name: 'Stored version' }));
  apiKey = String(key['api_key']);
  const folderId = await made('/folder/', { name: 'Reminders' });
  const credential = record(
    await ask('POST', '/credentials/', {
      name: 'Receiver',
      credential_type: 'bearer_token',
      credential_data: { token: 'stored-token-of-the-receiver' },
    }),
  );
  const credentialUuid = String(credential['uuid']);
  const tool = await made('/tools/', {
    name: 'Order status',
    description: 'Looks up an order.',
    definition: {
      schema_version: 1,
      type: 'http_api',
      config: {
        method: 'GET',
        url: 'https://orders.example.com/status',
        headers: { 'X-Api-Key': 'stored-key-of-the-tool' },
      },
    },
  });
  const twilioId = await made('/organizations/telephony-configs', {
    name: 'Simulated Twilio',
    is_default_outbound: true,
    config: {
      provider: 'twilio',
      account_sid: ACCOUNT_SID,
      auth_token: AUTH_TOKEN,
      api_base_url: apiUrl,
    },
  });
  const ariId = await made('/organizations/telephony-configs', {
    name: 'Asterisk of nobody',
    config: {
      provider: 'ari',
      ari_endpoint: 'http://127.0.0.1:9',
      app_name: 'patchbay',
      app_password: 'stored-password-of-the-pbx',
    },
  });
  await clip();
  const workflow = await publishedTwice(webhookUrl, credentialUuid);
  await ask('PUT', `/workflow/${workflow}/folder`, { folder_id: Number(folderId) });
  await ask('POST', `/organizations/telephony-configs/${twilioId}/phone-numbers`, {
    address: OWN_NUMBER,
    inbound_workflow_id: workflow,
    is_default_caller_id: true,
  });
  const campaign = await made('/campaign/create', {
    name: 'Stored campaign',
    workflow_id: Number(workflow),
    source_type: 'csv',
    source_id: await contactFile(),
    telephony_configuration_id: Number(twilioId),
    max_concurrency: 2,
    rate_limit_per_second: 5,
    retry_config: { max_retries: 1, retry_delay_seconds: 3_600 },
    circuit_breaker: { enabled: false },
  });
  return {
    folder: folderId,
    credentialUuid,
    tool,
    twilio: twilioId,
    ari: ariId,
    workflow,
    campaign,
  };
}

/** An agent with an archived, a published and a draft version, and a webhook after each call. */
async function publishedTwice(webhookUrl: string, credentialUuid: string): Promise<string> {
  const { nodes, edges } = outbound.definition as { nodes: unknown[]; edges: unknown[] };
  const webhook = {
    id: 'webhook',
    type: 'webhook',
    position: { x: 0, y: 400 },
    data: {
      name: 'Receiver',
      endpoint_url: `${webhookUrl}/ended`,
      credential_uuid: credentialUuid,
      payload_template: { run: '{{workflow_run_id}}', coming: '{{gathered_context.coming}}' },
    },
  };
  const definition = { nodes: [...nodes, webhook], edges };
  const id = await made('/workflow/create/definition', {
    name: 'Stored reminder',
    workflow_definition: definition,
  });
  for (const seconds of [600, 300]) {
    await ask('PUT', `/workflow/${id}`, {
      workflow_configurations: { max_call_duration: seconds },
    });
    await ask('POST', `/workflow/${id}/publish`, {});
  }
  await ask('PUT', `/workflow/${id}`, { workflow_configurations: { max_call_duration: 120 } });
  return id;
}

/** A recording in the library. */
async function clip(): Promise<void> {
  const wav = readFileSync('fixtures/audio/callers/yes-please.wav');
  const files = [{ filename: 'welcome.wav', file_size: wav.length }];
  const answer = record(await ask('POST', '/workflow-recordings/upload-url', { files }));
  const [place] = answer['items'] as { upload_url: string; storage_key: string }[];
  if (place === undefined) throw new Error('no upload');
  await put(place.upload_url, 'audio/wav', wav);
  const recordings = [
    { recording_id: 'welcome', transcript: 'yes please', storage_key: place.storage_key },
  ];
  await ask('POST', '/workflow-recordings/', { recordings });
}

async function contactFile(): Promise<string> {
  const rows = Object.entries(CONTACTS).map(([name, number]) => `${number},${name}`);
  const body = Buffer.from(['phone_number,customer_name', ...rows].join('\n'));
  const file = { file_name: 'contacts.csv', file_size: body.length };
  const place = record(await ask('POST', '/s3/presigned-upload-url', file));
  await put(String(place['upload_url']), 'text/csv', body);
  return String(place['file_key']);
}

async function put(url: string, type: string, body: Buffer): Promise<void> {
  const headers = { 'Content-Type': type };
  const sent = await fetch(url, { method: 'PUT', headers, body: new Uint8Array(body) });
  if (!sent.ok) throw new Error(`PUT ${url}: ${sent.status} ${await sent.text()}`);
}

/** Presses keys into what the agent says. */
function answer(keys: string): Parameters<typeof holdCall>[1][number] {
  return { when: 'interrupt', afterMs: 1_500, text: keys, samples: new Int16Array(0), keys };
}

/** Oldest first. */
async function finishedRuns(workflow: string): Promise<string[]> {
  const page = record(await ask('GET', `/workflow/${workflow}/runs?limit=100`));
  const runs = page['runs'] as { id: string; is_completed: boolean }[];
  return runs
    .filter((run) => run.is_completed)
    .map(({ id }) => id)
    .reverse();
}

/** As text. */
async function lastRun(workflow: string): Promise<string> {
  const page = record(await ask('GET', `/workflow/${workflow}/runs?limit=1`));
  const [last] = page['runs'] as { id: string }[];
  return JSON.stringify(await ask('GET', `/workflow/${workflow}/runs/${last?.id}`));
}

function deliveries(): Promise<string> {
  return ask('GET', '/organizations/webhook-deliveries').then((page) => JSON.stringify(page));
}

/** The simulated provider, but for one number: nobody answers the request that dials it. */
async function inFront(fake: FakeTwilio, held: string[]): Promise<Server> {
  return listen(
    createServer((request, response) => {
      void (async () => {
        const chunks: Buffer[] = [];
        for await (const chunk of request) chunks.push(Buffer.from(chunk));
        const body = Buffer.concat(chunks);
        if (new URLSearchParams(body.toString()).get('To') === CONTACTS.dialled) {
          held.push(body.toString());
          return;
        }
        const answered = await fetch(`${fake.baseUrl}${request.url}`, {
          method: request.method ?? 'GET',
          headers: {
            authorization: request.headers.authorization ?? '',
            'content-type': request.headers['content-type'] ?? '',
          },
          ...(body.length === 0 ? {} : { body }),
        });
        response.writeHead(answered.status, { 'content-type': 'application/json' });
        response.end(await answered.text());
      })();
    }),
  );
}

function save(): void {
  mkdirSync(target, { recursive: true });
  const dumped = spawnSync(
    'pg_dump',
    ['--inserts', '--rows-per-insert=200', '--no-owner', '--no-privileges', server.url],
    {
      encoding: 'utf8',
      maxBuffer: 64 << 20,
    },
  );
  if (dumped.status !== 0) throw new Error(dumped.stderr);
  // Newer versions of the program frame a dump by commands of psql.
  const sql = dumped.stdout.replaceAll(/^\\(un)?restrict .*\n/gm, '');
  writeFileSync(join(target, 'database.sql'), sql);
  writeFileSync(join(target, 'facts.json'), `${JSON.stringify(facts, undefined, 2)}\n`);
  const packed = spawnSync('tar', ['czf', join(target, 'data.tar.gz'), '-C', dataFolder, '.'], {
    encoding: 'utf8',
  });
  if (packed.status !== 0) throw new Error(packed.stderr);
  say(`made ${target}`);
}

async function listen(it: Server): Promise<Server> {
  await new Promise<void>((done) => it.listen(0, '127.0.0.1', done));
  return it;
}

function urlOf(it: Server): string {
  return `http://127.0.0.1:${(it.address() as AddressInfo).port}`;
}

async function made(path: string, body: unknown): Promise<string> {
  return String(record(await ask('POST', path, body))['id']);
}

async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await fetch(`${gateway.url}/api/v1${path}`, {
    method,
    headers: {
      'X-API-Key': apiKey,
      ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
  return JSON.parse(text);
}

function record(value: unknown): Record<string, unknown> {
  return value as Record<string, unknown>;
}

async function until<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  for (let waitedMs = 0; waitedMs < STEP_MS_MAX; waitedMs += POLL_MS) {
    const seen = await look();
    if (isSo(seen)) return seen;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  throw new Error(`not in time: ${JSON.stringify(await look())}`);
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
