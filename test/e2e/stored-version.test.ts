// An upgrade: a database and a data folder of the version before, opened by this one. The gateway that made them
// was killed with a call in progress, one ringing, and a dial that the provider had not answered.
// Source: fixtures/stored-version/README.md.

import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readWav } from '../../src/audio/wav.ts';
import { SIGNATURE_HEADER, signatureOf } from '../../src/call/end/after/webhook-delivery.ts';
import { download } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { loudSeconds } from '../demo/verdict.ts';
import { freePort } from '../fakes/free-port.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { engines, startDatabase, type TestDatabase } from '../store/databases.ts';
import { restore, type StoredVersion, storedVersion } from '../stored-version/restore.ts';

const RECOVERED_MS_MAX = 30_000;
const POLL_MS = 200;

interface Received {
  request: string;
  headers: IncomingHttpHeaders;
  body: string;
}

describe.each(engines())('a database and a data folder of the version before (%s)', (engine) => {
  let stored: StoredVersion;
  let database: TestDatabase;
  let gateway: Gateway;
  let provider: Recorder;
  let receiver: Recorder;

  beforeAll(async () => {
    stored = storedVersion();
    provider = await Recorder.start(asProvider);
    receiver = await Recorder.start(() => ({ status: 200, body: {} }));
    database = await startDatabase(engine);
    await restore(database, stored, { providerUrl: provider.url, webhookUrl: receiver.url });
    gateway = await Gateway.start({
      dataFolder: database.dataFolder,
      logFile: join(database.dataFolder, 'gateway.log'),
      port: await freePort(),
      env: {
        ...(database.target.kind === 'server' ? { DATABASE_URL: database.target.url } : {}),
        PATCHBAY_NODE: 'stored-version',
        PATCHBAY_PUBLIC_URL: stored.gatewayUrl,
        PATCHBAY_OUTSIDE_ALLOW: '127.0.0.1',
        PATCHBAY_STT: 'none',
        OPENAI_BASE_URL: '',
        OPENAI_API_KEY: '',
      },
    });
  }, 90_000);

  afterAll(async () => {
    await gateway?.kill();
    await provider?.close();
    await receiver?.close();
    await database?.stop();
  }, 30_000);

  it('are served as that version served them', async () => {
    for (const [path, answer] of Object.entries(stored.answers)) {
      const now = JSON.stringify(await ask('GET', path));
      expect({ path, answer: JSON.parse(asStored(now)) }).toEqual({
        path,
        answer: JSON.parse(asStored(JSON.stringify(answer))),
      });
    }
  });

  it('hold a recording and a transcript that can be downloaded', async () => {
    const run = await runOf(stored.run);
    const recording = readWav(await download(here(run['recording_url'])));
    expect(loudSeconds(recording.samples)).toBeGreaterThan(2);
    const transcript = await download(here(run['transcript_url']));
    expect(transcript.toString('utf8')).toContain('assistant: Wonderful. We look forward');
  });

  it('hold a user who can log in', async () => {
    const login = { email: 'ada@example.com', password: stored.password };
    expect(await ask('POST', '/auth/login', login)).toMatchObject({ user: { email: login.email } });
  });

  it('hold a text chat that can be continued', async () => {
    const { revision } = (await ask('GET', stored.chat)) as { revision: number };
    const message = { text: 'another day', expected_revision: revision };
    const chat = await ask('POST', `${stored.chat}/messages`, message);
    expect(JSON.stringify(chat)).toContain('Goodbye');
  });

  it('the call that was open is closed with what was stored, and hung up at the provider', async () => {
    const run = await until(
      () => runOfCall(stored.openCall),
      (seen) => seen?.['is_completed'] === true,
    );
    expect(run).toMatchObject({
      disposition: 'unexpected_error',
      gathered_context: { extracted_variables: { coming: 'no' }, error: expect.any(String) },
    });
    const recording = readWav(await download(here(run?.['recording_url'])));
    expect(loudSeconds(recording.samples)).toBeGreaterThan(2);
    const hungUp = `POST /2010-04-01/Accounts/${ACCOUNT_SID}/Calls/${stored.openCall}.json`;
    const asked = await until(
      () => Promise.resolve(provider.received.find(({ request }) => request === hungUp)),
      (seen) => seen !== undefined,
    );
    expect(asked?.body).toContain('Status=completed');
    // The sealed credentials were opened by the key of the data folder.
    const login = Buffer.from(`${ACCOUNT_SID}:${AUTH_TOKEN}`).toString('base64');
    expect(asked?.headers.authorization).toBe(`Basic ${login}`);
  });

  it('the call that rang is closed as one that never connected', async () => {
    const run = await until(
      () => runOfCall(stored.ringingCall),
      (seen) => seen?.['is_completed'] === true,
    );
    expect(run).toMatchObject({ disposition: 'system_connect_error' });
  });

  it('the unanswered dial is looked up at the provider, and the campaign goes on', async () => {
    const path = `/campaign/${stored.ids.campaign}`;
    const lookedUp = await until(
      () => Promise.resolve(provider.received.map(({ request }) => request)),
      (seen) => seen.some((each) => each.startsWith('GET') && each.includes('To=%2B14152000005')),
    );
    expect(lookedUp).toBeDefined();
    await until(
      () => Promise.resolve(provider.received.map(({ body }) => body)),
      (seen) => seen.some((body) => body.includes('To=%2B14152000006')),
    );
    expect(await ask('GET', path)).toMatchObject({
      state: 'running',
      contact_count: 6,
      failed_count: 1,
    });
  });

  it('a pending webhook is delivered, signed, with the stored credential', async () => {
    const delivered = await until(
      () => Promise.resolve(receiver.received.find(({ body }) => body.includes('"run":"3"'))),
      (seen) => seen !== undefined,
    );
    expect(delivered?.headers.authorization).toBe('Bearer stored-token-of-the-receiver');
    const signature = String(delivered?.headers[SIGNATURE_HEADER.toLowerCase()]);
    const [, seconds] = /^t=(\d+),/.exec(signature) ?? [];
    const signed = signatureOf(
      [stored.signingSecret],
      Number(seconds) * 1_000,
      delivered?.body ?? '',
    );
    expect(signature.split(',')).toEqual(expect.arrayContaining(signed.split(',')));
  });

  async function runOf(id: string): Promise<Record<string, unknown>> {
    const path = `/workflow/${stored.ids.workflow}/runs/${id}`;
    return (await ask('GET', path)) as Record<string, unknown>;
  }

  /** By the provider's name for the call. */
  async function runOfCall(sid: string): Promise<Record<string, unknown> | undefined> {
    const page = await ask('GET', `/workflow/${stored.ids.workflow}/runs?limit=100`);
    const { runs } = page as { runs: { id: string; initial_context?: unknown }[] };
    for (const { id } of runs) {
      const run = await runOf(id);
      if (JSON.stringify(run).includes(sid)) return run;
    }
    return undefined;
  }

  /** An address that the gateway gave out, at the port where it is now. */
  function here(url: unknown): string {
    return String(url).replace(stored.gatewayUrl, gateway.url);
  }

  /** Without links that expire, the addresses of other servers, and what the recovery added. */
  function asStored(text: string): string {
    return text
      .replaceAll(/(?<=\?)expires=\d+|(?<=&)signature=[\w-]+/g, '')
      .replaceAll(
        /,"(unexpected_error|system_connect_error|voicemail_no_message|ivr_detected)"/g,
        '',
      )
      .replaceAll(/,"(screening_\w+|hold_timeout|number_not_in_service)"/g, '')
      .replaceAll(/,"overflow":null/g, '')
      .replaceAll(stored.providerUrl, '')
      .replaceAll(provider.url, '')
      .replaceAll(stored.webhookUrl, '')
      .replaceAll(receiver.url, '');
  }

  async function ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const response = await fetch(`${gateway.url}/api/v1${path}`, {
      method,
      headers: {
        'X-API-Key': stored.apiKey,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    return JSON.parse(text);
  }
});

/** Answers as Twilio would: every call exists and is over; the unanswered dial has placed none. */
function asProvider({ request }: Received): { status: number; body: unknown } {
  const [, sid] = /\/Calls\/(\w+)\.json/.exec(request) ?? [];
  if (sid !== undefined) return { status: 200, body: { sid, status: 'completed' } };
  if (request.startsWith('GET')) return { status: 200, body: { calls: [], next_page_uri: null } };
  return { status: 201, body: { sid: `CA${'9'.repeat(32)}`, status: 'queued' } };
}

/** A server that keeps what it received. */
class Recorder {
  readonly received: Received[] = [];
  readonly #server: Server;

  private constructor(answer: (received: Received) => { status: number; body: unknown }) {
    this.#server = createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on('data', (chunk: Buffer) => chunks.push(chunk));
      request.on('end', () => {
        const body = Buffer.concat(chunks).toString();
        const received = {
          request: `${request.method} ${request.url}`,
          headers: request.headers,
          body,
        };
        this.received.push(received);
        const answered = answer(received);
        response.writeHead(answered.status, { 'content-type': 'application/json' });
        response.end(JSON.stringify(answered.body));
      });
    });
  }

  static async start(
    answer: (received: Received) => { status: number; body: unknown },
  ): Promise<Recorder> {
    const recorder = new Recorder(answer);
    await new Promise<void>((done) => recorder.#server.listen(0, '127.0.0.1', done));
    return recorder;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((done) => this.#server.close(done));
  }
}

async function until<T>(look: () => Promise<T>, isSo: (seen: T) => boolean): Promise<T> {
  for (let waitedMs = 0; waitedMs < RECOVERED_MS_MAX; waitedMs += POLL_MS) {
    const seen = await look();
    if (isSo(seen)) return seen;
    await new Promise((done) => setTimeout(done, POLL_MS));
  }
  throw new Error(`not in time: ${JSON.stringify(await look())}`);
}
