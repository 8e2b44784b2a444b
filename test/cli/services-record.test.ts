// The command `patchbay services record` between our own clients and fakes of services.

import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WebSocket } from 'ws';
import { runCli } from '../../src/cli/cli.ts';
import { startRelay } from '../../src/cli/record/service-relay.ts';
import { WireCapture } from '../../src/cli/record/wire-capture.ts';
import type { ServiceFault } from '../../src/speech/service/service-fault.ts';
import { ServiceHttp } from '../../src/speech/service/service-http.ts';
import { VendorSocket } from '../../src/speech/service/vendor-socket.ts';
import { systemClock } from '../../src/std/clock.ts';
import { startHttpService } from '../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../fakes/services/service-means.ts';
import { startSocketService } from '../fakes/services/service-socket.ts';

const KEY = 'key-0123456789abcdef';
let folder: string;
const opened: { close(): unknown }[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'record-'));
});
afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The command runs; its relay's address, and what it said and wrote in the end. */
async function record(to: string, more = '') {
  const file = join(folder, 'capture.jsonl');
  let shown = '';
  const args = `services record --to ${to} --out ${file} ${more}`.trim().split(' ');
  const write = (text: string) => {
    shown += text;
  };
  const code = runCli(args, { env: {}, out: write, error: write });
  await vi.waitFor(() => expect(shown).toMatch(/base_url http/), { timeout: 10_000 });
  const url = /base_url (\S+)/.exec(shown)?.[1] ?? '';
  const result = async () => {
    const exit = await code;
    const text = readFileSync(file, 'utf8');
    expect(statSync(file).mode & 0o777).toBe(0o600);
    const lines = text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    return { exit, text, lines, shown };
  };
  return { url, result };
}

function open(url: string) {
  const texts: string[] = [];
  const faults: ServiceFault[] = [];
  const { clock, egress } = serviceMeans(systemClock);
  const socket = new VendorSocket({
    job: 'stt',
    service: 'acme',
    url,
    secrets: [],
    clock,
    egress,
    headers: { authorization: `Token ${KEY}` },
    listener: { onText: (text) => texts.push(text), onFault: (fault) => faults.push(fault) },
  });
  opened.push(socket);
  return { socket, texts, faults };
}

describe('patchbay services record', () => {
  it('writes the messages of a websocket without keys and audio', async () => {
    const acme = await startSocketService({
      onConnection: ({ socket }) => socket.send(JSON.stringify({ type: 'ready', echo: KEY })),
    });
    opened.push(acme);
    const { url, result } = await record(acme.url);
    const { socket, texts } = open(`${url.replace('http', 'ws')}/v1/listen?model=m&token=${KEY}`);
    socket.send(Buffer.alloc(800));
    socket.send(JSON.stringify({ api_key: KEY, audio: 'A'.repeat(400), say: `my ${KEY}` }));
    const far = await acme.connected();
    await vi.waitFor(() => expect([texts.length, far.texts.length]).toEqual([1, 1]));
    expect(far.request.headers['authorization']).toBe(`Token ${KEY}`);
    expect(JSON.parse(texts[0] ?? '')).toEqual({ type: 'ready', echo: KEY });
    expect([far.request.url, far.binaries[0]?.length]).toEqual([
      ...[`/v1/listen?model=m&token=${KEY}`, 800],
    ]);
    socket.close('bye');
    const { exit, text, lines } = await result();
    expect(exit).toBe(0);
    expect(text).not.toContain(KEY);
    expect(lines.map(({ atMs: _, session: __, ...line }) => line)).toEqual(
      expect.arrayContaining([
        {
          from: 'client',
          method: 'GET',
          path: '/v1/listen',
          query: [
            ['model', 'm'],
            ['token', 'KEY'],
          ],
          headers: { authorization: 'Token KEY' },
        },
        { from: 'service', json: { type: 'ready', echo: 'KEY' } },
        { from: 'client', binaryBytes: 800 },
        {
          from: 'client',
          json: { api_key: 'KEY', audio: '<400 characters of Base64>', say: 'my KEY' },
        },
        { from: 'client', text: 'bye' },
        { from: 'client', closed: 1000, reason: '' },
      ]),
    );
  });

  it('passes a refusal on as the service gave it', async () => {
    const acme = await startSocketService({ refuse: { status: 401, body: `no ${KEY}` } });
    opened.push(acme);
    const { url, result } = await record(acme.url);
    const { faults } = open(url.replace('http', 'ws'));
    await vi.waitFor(() => expect(faults[0]).toMatchObject({ kind: 'auth' }));
    const { exit, text } = await result();
    expect([exit, text.includes('"text":"no KEY"')]).toEqual([0, true]);
  });

  // Storing a service with the relay's address has its key and voice checked through the relay, which had ended by the
  // time of the call.
  // Storing a service with the relay's address has its key and voice checked through the relay, which had ended by the
  // time of the call.
  it('counts no check of a key or a voice as a session: requests without a body, and that of MiniMax', async () => {
    const acme = await startHttpService(({ response }) => response.end('{}'));
    let sessions = 0;
    const relay = await startRelay({
      to: new URL(acme.url),
      capture: new WireCapture({ clock: systemClock, write: () => undefined }),
      onSession: () => {
        sessions += 1;
      },
    });
    opened.push(acme, relay);
    for (const path of ['/v1/models', '/v1/voices/anna']) await fetch(`${relay.url}${path}`);
    // As a token of Azure is asked for.
    await fetch(`${relay.url}/sts/v1.0/issueToken`, { method: 'POST' });
    const check = { method: 'POST', body: '{"voice_type":"voice_cloning"}' };
    await fetch(`${relay.url}/v1/get_voice`, check);
    await fetch(`${relay.url}/v1/speech`, { method: 'POST', body: '{"text":"Hello."}' });
    await vi.waitFor(() => expect(sessions).toBe(1));
    expect(acme.asked).toHaveLength(5);
  });

  it('takes keys out of fields, addresses and subprotocols', async () => {
    const protocol = ['realtime', `insecure-api-key.${KEY}`];
    const acme = await startSocketService({
      onConnection: ({ socket }) => {
        const next = { accessToken: 'token-98765', url: 'wss://a.example/x?token=abc123def&n=1' };
        socket.send(JSON.stringify({ next, protocol: socket.protocol }));
      },
    });
    opened.push(acme);
    const { url, result } = await record(acme.url);
    const socket = new WebSocket(url.replace('http', 'ws'), protocol);
    const [message] = (await once(socket, 'message')) as [Buffer];
    expect(JSON.parse(message.toString())).toMatchObject({ protocol: 'realtime' });
    expect(socket.protocol).toBe('realtime');
    socket.close();
    const { exit, text } = await result();
    expect(exit).toBe(0);
    for (const secret of [KEY, 'token-98765', 'abc123def']) expect(text).not.toContain(secret);
    expect(text).toContain('wss://a.example/x?token=KEY&n=1');
  });

  it('writes a request and the events of its answer', async () => {
    const acme = await startHttpService(({ response }) => {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'set-cookie': 'id=abcdefgh' });
      response.write(`data: {"delta":"Hel`);
      setTimeout(() => response.end(`lo ${KEY}"}\n\ndata: [DONE]\n\n`), 20);
    });
    opened.push(acme);
    const { url, result } = await record(`${acme.url}/base/`);
    const means = serviceMeans(systemClock);
    const http = new ServiceHttp({ job: 'llm', service: 'acme', secrets: [], means });
    opened.push(http);
    const answer = await http.request({
      method: 'POST',
      url: `${url}/v1/chat`,
      body: JSON.stringify({ model: 'm' }),
      headers: { 'x-api-key': KEY, 'content-type': 'application/json' },

      signal: new AbortController().signal,
      answerMsMax: 5_000,
    });
    expect((await answer.bytes(1_000)).toString()).toBe(
      `data: {"delta":"Hello ${KEY}"}\n\ndata: [DONE]\n\n`,
    );
    expect(acme.asked[0]).toMatchObject({ method: 'POST', path: '/base/v1/chat' });
    const { exit, text, lines } = await result();
    expect([exit, text.includes(KEY), text.includes('abcdefgh')]).toEqual([0, false, false]);
    const said = lines.map((line) => line.json ?? line.text).filter(Boolean);
    expect([said[0], said.slice(1).join('\n\n')]).toEqual([
      { model: 'm' },
      'data: {"delta":"Hello KEY"}\n\ndata: [DONE]',
    ]);
  });

  it.each([
    ['--out x', /--to/],
    ['--to ftp://a.example --out x', /--to/],
    ['--to https://k@a.example --out x', /--to/],
    ['--to https://a.example', /--out/],
    ['--to https://a.example --out /', /cannot be written/],
    ['--to https://a.example --out x --sessions 0', /--sessions/],
  ])('refuses %s', async (args, words) => {
    let error = '';
    const note = (text: string): void => {
      error += text;
    };
    const io = { env: {}, out: () => undefined, error: note };
    expect(await runCli(['services', 'record', ...args.split(' ')], io)).toBe(2);
    expect(error).toMatch(words);
  });
});
