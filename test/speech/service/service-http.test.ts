import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { createEgress, type Egress } from '../../../src/egress/egress-rule.ts';
import { serviceFaults } from '../../../src/metrics/speech-metrics.ts';
import { vendorMessage } from '../../../src/speech/service/service-fault.ts';
import { ServiceHttp } from '../../../src/speech/service/service-http.ts';
import { deferred } from '../../fakes/deferred.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

const opened: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = createServer(listener);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  opened.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function client(egress = createEgress()) {
  const clock = new FakeClock();
  const means = { clock, egress };
  const http = new ServiceHttp({ job: 'tts', service: 'acme', secrets: ['key-1234'], means });
  opened.push(() => http.close());
  return { clock, http };
}

async function faultsOf(service: string): Promise<number> {
  const { values } = await serviceFaults.get();
  return values
    .filter(({ labels }) => labels.service === service)
    .reduce((sum, { value }) => sum + value, 0);
}

const signal = new AbortController().signal;
const post = { method: 'POST', signal, answerMsMax: 2_000 } as const;

describe('a request to a service', () => {
  it('returns the body in chunks, and leaves no timer', async () => {
    const url = await serve((request, response) => {
      request.pipe(response);
    });
    const { http, clock } = client();
    const answer = await http.request({ ...post, url: `${url}/v1?a=b`, body: 'spoken' });
    expect((await answer.bytes(100)).toString()).toBe('spoken');
    expect(clock.timers).toBe(0);
  });

  it('counts no fault of a connection that is opened ahead', async () => {
    const url = await serve((_, response) => response.writeHead(404).end());
    const { http } = client();
    const before = await faultsOf('acme');
    http.prepare(url);
    await expect(http.request({ ...post, url })).rejects.toMatchObject({ kind: 'request' });
    expect((await faultsOf('acme')) - before).toBe(1);
  });

  it('opens one connection ahead for all phones that ring, and none while one is idle', async () => {
    const asked: string[] = [];
    const url = await serve(({ method }, response) => {
      asked.push(method ?? '');
      response.end('{}');
    });
    const { http } = client();
    for (let i = 0; i < 20; i++) http.prepare(`${url}/models`);
    await vi.waitFor(() => expect(asked).toEqual(['GET']));
    await http.request({ ...post, url }).then((answer) => answer.bytes(100));
    await settle();
    for (let i = 0; i < 20; i++) http.prepare(`${url}/models`);
    for (let i = 0; i < 10; i++) await settle();
    expect(asked).toEqual(['GET', 'POST']);
  });

  it('counts no fault of a page that is too long for such a connection either', async () => {
    const closed = deferred();
    const url = await serve((_, response) => {
      response.on('close', () => closed.resolve());
      response.write('x'.repeat(200_000));
    });
    const { http } = client();
    const before = await faultsOf('acme');
    http.prepare(url);
    await closed.promise;
    expect((await faultsOf('acme')) - before).toBe(0);
  });

  it.each(['destroy', 'resetAndDestroy'] as const)(
    'is repeated on a fresh connection, once, where the one kept open has been left (%s)',
    async (leave) => {
      const ports: (number | undefined)[] = [];
      const url = await serve((request, response) => {
        const { remotePort } = request.socket;
        const isKept = ports.includes(remotePort);
        ports.push(remotePort);
        if (isKept) request.socket[leave]();
        else request.pipe(response);
      });
      const { http, clock } = client();
      const before = await faultsOf('acme');
      for (const body of ['one', 'two', 'three', 'four']) {
        const answer = await http.request({ ...post, url, body });
        expect((await answer.bytes(100)).toString()).toBe(body);
      }
      expect(ports.length).toBeGreaterThan(new Set(ports).size);
      expect([(await faultsOf('acme')) - before, clock.timers]).toEqual([0, 0]);
    },
  );

  it('is not repeated on a connection that breaks at its first request', async () => {
    let asked = 0;
    const url = await serve(({ socket }) => {
      asked += 1;
      socket.destroy();
    });
    const { http } = client();
    await expect(http.request({ ...post, url })).rejects.toMatchObject({ kind: 'network' });
    expect(asked).toBe(1);
  });

  it('refuses a body that is too long', async () => {
    const url = await serve((_, response) => response.end('x'.repeat(101)));
    const { http } = client();
    const answer = await http.request({ ...post, url });
    await expect(answer.bytes(100)).rejects.toMatchObject({ kind: 'protocol' });
  });

  it('gives up a body that does not end within 10 s', async () => {
    const url = await serve((_, response) => void response.write('x'));
    const { http, clock } = client();
    const answer = await http.request({ ...post, url });
    const bytes = answer.bytes(100).catch((error: unknown) => error);
    clock.advance(10_000);
    expect(await bytes).toMatchObject({ kind: 'timeout' });
    expect(clock.timers).toBe(0);
  });

  it('says what the status of a refusal says whose words do not end', async () => {
    let own: Socket | undefined;
    const open = createEgress();
    const egress: Egress = {
      ...open,
      connect: (to, callback) =>
        open.connect(to, (...args) => {
          own = args[1] ?? undefined;
          callback(...args);
        }),
    };
    const sent = deferred();
    const url = await serve((_, response) => {
      response.writeHead(401).write('{"error":', () => sent.resolve());
    });
    const { http, clock } = client(egress);
    const refused = http.request({ ...post, url }).catch((error: unknown) => error);
    await sent.promise;
    await vi.waitFor(() => expect(own?.bytesRead).toBeGreaterThan(100));
    await settle();
    clock.advance(2_000);
    expect(await refused).toMatchObject({ kind: 'auth', facts: { status: 401 } });
    expect(clock.timers).toBe(0);
  });

  it('rejects with the words of the service, without keys', async () => {
    const url = await serve((_, response) => {
      response.writeHead(429, { 'retry-after': '3' });
      response.end('{"error":{"message":"key-1234 is over its limit","type":"x"}}');
    });
    const { http } = client();
    await expect(http.request({ ...post, url })).rejects.toMatchObject({
      kind: 'rate',
      detail: '[redacted] is over its limit',
      retryAfterMs: 3_000,
      code: 'TTS_FAILED',
    });
  });

  it('rejects when no answer comes in time', async () => {
    const url = await serve(() => undefined);
    const { http, clock } = client();
    const answer = http.request({ ...post, url });
    answer.catch(() => undefined);
    await vi.waitFor(() => expect(clock.timers).toBe(1));
    clock.advance(2_000);
    await expect(answer).rejects.toMatchObject({ kind: 'timeout', code: 'TTS_TIMEOUT' });
  });

  it('rejects with the reason of the abort, also in the middle of the body', async () => {
    const url = await serve((_, response) => response.write('first'));
    const { http } = client();
    const controller = new AbortController();
    const answer = await http.request({ ...post, url, signal: controller.signal });
    const chunks: string[] = [];
    const read = (async () => {
      for await (const chunk of answer.body) {
        chunks.push(chunk.toString());
        controller.abort(new Error('barge-in'));
      }
    })();
    await expect(read).rejects.toThrow('barge-in');
    expect(chunks).toEqual(['first']);
  });

  it('reports a connection that breaks in the body as a network fault', async () => {
    const url = await serve((_, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('first', () => response.destroy());
    });
    const { http } = client();
    const answer = await http.request({ ...post, url });
    await expect(answer.bytes(100)).rejects.toMatchObject({ kind: 'network' });
  });

  it('says that the account is used up where the words do and the status does not', async () => {
    const url = await serve((_, response) =>
      response.writeHead(429).end('{"error":{"code":"insufficient_quota","message":"pay"}}'),
    );
    const { http } = client();
    const wanted = { kind: 'quota', detail: 'pay', facts: { status: 429 } };
    await expect(http.request({ ...post, url })).rejects.toMatchObject(wanted);
  });

  it('does not connect to an address that the egress rule forbids', async () => {
    const url = await serve((_, response) => response.end());
    const { http } = client(createEgress({ isSignUpOpen: true, allowed: [] }));
    await expect(http.request({ ...post, url })).rejects.toMatchObject({ kind: 'request' });
  });
});

it.each([
  ['{"detail":{"status":"quota_exceeded","message":"no credits"}}', 'no credits'],
  ['{"error":"bad voice"}', 'bad voice'],
  ['{"detail":[{"msg":"field required"}]}', 'field required'],
  ['{"err_code":"INVALID_AUTH","err_msg":"Invalid credentials."}', 'Invalid credentials.'],
  ['upstream is away', 'upstream is away'],
])('the words of the error %s', (body, words) => {
  expect(vendorMessage(body)).toBe(words);
});
