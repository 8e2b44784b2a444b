// Described services whose owner, or whose server, means harm: addresses, redirects, names of private networks, floods.

import { afterEach, describe, expect, it } from 'vitest';
import { createEgress, type Resolve } from '../../../src/egress/egress-rule.ts';
import { sttServices, ttsServices } from '../../../src/model/speech-services/services.ts';
import { redacted, type ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { createSttService } from '../../../src/speech/vendors/stt-registry.ts';
import { createTtsService } from '../../../src/speech/vendors/tts-registry.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type HttpAsked, startHttpService } from '../../fakes/services/fake-http-service.ts';
import { serviceMeans } from '../../fakes/services/service-means.ts';
import { type ServiceConnection, startSocketService } from '../../fakes/services/service-socket.ts';
import { RecognizerRig } from '../stt/recognizer-rig.ts';
import { HeardUtterance } from '../tts/heard-utterance.ts';

/** Nothing here moves it. */
const REAL_TIME = systemClock as unknown as FakeClock;
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

const eq = (equals: string) => [{ path: 'type', equals }];
const recogniser = {
  audio: { format: 'ulaw8' },
  is_delta: true,
  results: [{ when: eq('final'), is: 'final', text: 'text' }],
  finalize: { message: 'finalize', answer: eq('answer') },
};
const voice = { format: 'ulaw8', text: '{text}', done: { when: eq('done'), per: 'utterance' } };
const requests = { body: { text: '{text}' }, audio: { in: 'body', format: 's16@8000' } };
const stranger = (resolve?: Resolve) => createEgress({ isSignUpOpen: true, allowed: [] }, resolve);
const inside: Resolve = (_host, _options, done) => done(null, [{ address: '10.0.0.7', family: 4 }]);

function recognizer(url: string, egress = createEgress(), clock = new FakeClock()): RecognizerRig {
  const row = { provider: 'websocket_stt', base_url: url, description: recogniser } as const;
  const settings = sttServices.websocket_stt.parse(row);
  const rig = new RecognizerRig(clock, createSttService(settings, serviceMeans(clock, egress)));
  opened.push(rig.recognizer);
  return rig;
}

async function said(
  row: { provider: 'websocket_tts' | 'http_tts'; base_url: string; description: object },
  egress = createEgress(),
) {
  const parsed = ttsServices[row.provider].parse(row);
  const tts = createTtsService(parsed, serviceMeans(systemClock, egress));
  opened.push(tts);
  const heard = new HeardUtterance();
  const { signal } = new AbortController();
  const request = { text: 'Hello there.', voice: undefined };
  const fault = await tts.synthesize(request, heard, signal).then(
    () => undefined,
    (error: ServiceFault) => error,
  );
  return { heard, fault };
}

async function http(answer: (asked: HttpAsked) => void) {
  const service = await startHttpService(answer);
  opened.push(service);
  return service;
}

async function sockets(onConnection: (connection: ServiceConnection) => void) {
  const service = await startSocketService({ onConnection });
  opened.push(service);
  return service;
}

const until = async (isSo: () => boolean): Promise<void> => {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 5));
};

describe('a described service', () => {
  it('that repeats a key of any length shows no part of it', () => {
    const key = `eyJ${'abcdefgh'.repeat(300)}`;
    for (const text of [key, `${'x'.repeat(1_150)}${key}`, `${key}${key}`, `no ${key} is bad`]) {
      const found = redacted(text, [key]);
      expect(found).not.toMatch(/eyJ|abcdefgh/);
    }
    expect(redacted(`no ${key} is bad`, [key])).toBe('no [redacted] is bad');
  });

  it('that floods with messages is given up', async () => {
    const server = await sockets(({ socket }) => {
      for (let nth = 0; nth < 40_000; nth++) socket.send('{}');
    });
    const rig = recognizer(server.url);
    await until(() => rig.errors.length > 0);
    expect([rig.fault.kind, rig.fault.detail]).toEqual([
      'protocol',
      'more messages than the limit allows',
    ]);
  });

  it('that redirects is not followed, and its page is not spoken', async () => {
    const target = await http(({ response }) => response.end('inside'));
    const location = `${target.url}/secret`;
    const moved = await http(({ response }) => {
      response.writeHead(302, { location }).end('x'.repeat(1_000));
    });
    const { heard, fault } = await said({
      provider: 'http_tts',
      base_url: moved.url,
      description: requests,
    });
    expect([fault?.kind, fault?.detail, heard.samples]).toEqual([
      ...['request', 'it redirects: the address must be the final one', 0],
    ]);
    const socket = await startSocketService({
      refuse: { status: 302, body: '', headers: { location: location.replace('http', 'ws') } },
    });
    opened.push(socket);
    const rig = recognizer(socket.url, createEgress(), REAL_TIME);
    await until(() => rig.errors.length > 0);
    expect(rig.fault.kind).toBe('request');
    expect(target.asked).toEqual([]);
  });

  it('whose name is one of a private network is not connected to, when users are strangers', async () => {
    const server = await http(({ response }) => response.end());
    const port = new URL(server.url).port;
    const rig = recognizer(`ws://voice.example:${port}`, stranger(inside), REAL_TIME);
    await until(() => rig.errors.length > 0);
    expect(rig.fault.kind).toBe('request');
    for (const provider of ['websocket_tts', 'http_tts'] as const) {
      const [scheme, description] = provider === 'http_tts' ? ['http', requests] : ['ws', voice];
      for (const host of ['voice.example', '127.0.0.1', '2130706433', '[::ffff:7f00:1]']) {
        const row = { provider, base_url: `${scheme}://${host}:${port}`, description };
        const { fault } = await said(row, stranger(inside));
        expect([provider, host, fault?.kind]).toEqual([provider, host, 'request']);
      }
    }
    expect(server.asked).toEqual([]);
  });

  it('that sends words without an end is given up, before they fill the memory', async () => {
    const text = 'a'.repeat(10_000);
    const server = await sockets(({ socket }) => {
      for (let nth = 0; nth < 300; nth++) socket.send(JSON.stringify({ type: 'final', text }));
    });
    const rig = recognizer(server.url, createEgress(), REAL_TIME);
    await until(() => rig.errors.length > 0);
    expect([rig.fault.kind, rig.fault.detail]).toEqual(['protocol', 'words without an end']);
  });

  it('costs no more time the smaller the pieces of its events are', async () => {
    const event = `data: ${JSON.stringify({ audio: 'A'.repeat(800_000) })}\n\n`;
    const description = { ...requests, audio: { in: 'events', path: 'audio', format: 's16@8000' } };
    const service = await http(({ response }) => {
      const write = (at: number): void => {
        if (at >= event.length) response.end();
        else response.write(event.slice(at, at + 100), () => write(at + 100));
      };
      write(0);
    });
    const before = process.cpuUsage();
    const { heard, fault } = await said({
      provider: 'http_tts',
      base_url: service.url,
      description,
    });
    const cpuMs = process.cpuUsage(before).user / 1_000;
    expect([fault, heard.samples]).toEqual([undefined, 300_000]);
    expect(cpuMs).toBeLessThan(8_000);
  }, 60_000);

  it.each([21, 1_000])(
    'whose address of a websocket has %d secrets costs no time',
    async (length) => {
      const server = await sockets(({ socket }) => {
        socket.send(JSON.stringify({ type: 'error', words: 'aaaa'.repeat(100_000) }));
      });
      const query = Array.from({ length }, (_, nth) => `a=aaaa${nth}b`).join('&');
      const opening = await http(({ response }) => {
        response.end(JSON.stringify({ url: `${server.url}/?${query}` }));
      });
      const session = { body: {}, url: 'url' };
      const errors = [{ when: eq('error'), detail: 'words' }];
      const settings = sttServices.websocket_stt.parse({
        provider: 'websocket_stt',
        base_url: opening.url.replace('http', 'ws'),
        description: { ...recogniser, session, errors },
      });
      const clock = new FakeClock();
      const rig = new RecognizerRig(clock, createSttService(settings, serviceMeans(clock)));
      opened.push(rig.recognizer);
      const before = process.cpuUsage();
      await until(() => rig.errors.length > 0);
      expect(rig.fault.detail).toBe('the address of the websocket is too long');
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(1_000);
    },
  );

  it('that speaks without an end is given up', async () => {
    const server = await sockets(({ socket }) => {
      socket.on('message', () => {
        for (let nth = 0; nth < 100; nth++) socket.send(Buffer.alloc(20_000));
      });
    });
    const { fault, heard } = await said({
      provider: 'websocket_tts',
      base_url: server.url,
      description: voice,
    });
    expect([fault?.kind, fault?.detail]).toEqual(['protocol', 'speech without an end']);
    expect(heard.samples).toBeLessThanOrEqual(180 * 8_000);
  });
});
