// Whether the connection that Asterisk opened has its application: by an event that goes through the application.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { ApplicationWatch } from '../../../../src/telephony/ari/connection/application-watch.ts';
import type { AriAnswer, AriRequest } from '../../../../src/telephony/ari/rest/client.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

type Answers = (request: AriRequest) => AriAnswer | 'none';

const found: AriAnswer = { status: 200, body: {} };
const sent: AriAnswer = { status: 204, body: undefined };
const absent: AriAnswer = { status: 404, body: { message: 'Application not found' } };

let clock: FakeClock;
let requests: AriRequest[];
let told: string[];
let answers: Answers;
let watch: ApplicationWatch;

/** Asterisk sends the event to this connection, before its answer. */
const ours: Answers = ({ method, path }) => {
  if (method === 'GET') return found;
  watch.take(eventOf(path));
  return sent;
};
const others: Answers = ({ method }) => (method === 'GET' ? found : sent);

function eventOf(path: string): string {
  const eventname = path.replace('events/user/', '');
  return JSON.stringify({ type: 'ChannelUserevent', eventname, userevent: { eventname } });
}

beforeEach(() => {
  clock = new FakeClock();
  requests = [];
  told = [];
  answers = ours;
  const send = (request: AriRequest, signal: AbortSignal): Promise<AriAnswer> => {
    requests.push(request);
    const answer = answers(request);
    if (answer !== 'none') return Promise.resolve(answer);
    return new Promise((_, reject) => {
      signal.addEventListener('abort', () => reject(signal.reason), { once: true });
    });
  };
  watch = new ApplicationWatch({
    app: 'app',
    rest: { send },
    clock,
    random: systemRandom,
    onOurs: () => void told.push('ours'),
    onTaken: () => void told.push('taken'),
  });
});

afterEach(() => watch.stop());

describe('the application of a connection', () => {
  it('is there when its event arrives, and asked for only when the upgrade has certainly been read', async () => {
    await clock.advanceAsync(280);
    expect(requests).toEqual([]);
    await clock.advanceAsync(40);
    expect(told).toEqual(['ours']);
    expect(requests).toMatchObject([
      { method: 'GET', path: 'applications/app' },
      { method: 'POST', query: { application: 'app' } },
    ]);
    expect(requests[1]?.path).toMatch(/^events\/user\/patchbay-probe-[0-9a-f]{32}$/);
  });

  it('is there also when the answer comes before the event', async () => {
    answers = others;
    await clock.advanceAsync(1_000);
    expect(told).toEqual([]);
    expect(watch.take(eventOf(requests[1]?.path ?? ''))).toBe(true);
    await clock.advanceAsync(20);
    expect(told).toEqual(['ours']);
  });

  it('is not there when no event arrives within 2 s; it is looked for 5 s after each look', async () => {
    answers = others;
    await clock.advanceAsync(2_400);
    expect(told).toEqual(['taken']);
    await clock.advanceAsync(60_000);
    expect(told).toEqual(['taken']);
    const looks = requests.filter(({ method }) => method === 'POST').length;
    expect(looks).toBeGreaterThan(3);
    expect(looks).toBeLessThan(7);
    answers = ours;
    await clock.advanceAsync(15_100);
    expect(told).toEqual(['taken', 'ours']);
  });

  it('is not there when Asterisk does not know it; then no event is sent, which it would log', async () => {
    answers = () => absent;
    await clock.advanceAsync(400);
    expect(told).toEqual(['taken']);
    await clock.advanceAsync(20_000);
    expect(requests.every(({ method }) => method === 'GET')).toBe(true);
    answers = ours;
    await clock.advanceAsync(5_100);
    expect(told).toEqual(['taken', 'ours']);
  });

  it('is not there when nothing is answered', async () => {
    answers = () => 'none';
    await clock.advanceAsync(2_400);
    expect(told).toEqual(['taken']);
  });

  it('counts as there when requests are refused: the next ones say why', async () => {
    answers = () => ({ status: 401, body: undefined });
    await clock.advanceAsync(400);
    expect(told).toEqual(['ours']);
  });

  it('is found to be gone within 40 s when it was taken without an event', async () => {
    await clock.advanceAsync(400);
    answers = () => 'none';
    await clock.advanceAsync(41_000);
    expect(told).toEqual(['ours', 'taken']);
  });

  it('stays in use while Asterisk takes 5 s for a request', async () => {
    await clock.advanceAsync(400);
    answers = (request) => {
      if (request.method === 'GET') return found;
      clock.after(5_000, () => watch.take(eventOf(request.path)));
      return sent;
    };
    await clock.advanceAsync(120_000);
    expect(told).toEqual(['ours']);
  });

  it('is found again by an Asterisk that takes 5 s for a request, once it was too slow', async () => {
    await clock.advanceAsync(400);
    answers = () => 'none';
    await clock.advanceAsync(41_000);
    answers = (request) => {
      if (request.method === 'GET') return found;
      clock.after(5_000, () => watch.take(eventOf(request.path)));
      return sent;
    };
    await clock.advanceAsync(120_000);
    expect(told).toEqual(['ours', 'taken', 'ours']);
  });

  it('is looked for again at once when Asterisk says that it is replaced, even by this connection', async () => {
    await clock.advanceAsync(400);
    watch.replaced();
    await clock.advanceAsync(320);
    expect(told).toEqual(['ours', 'ours']);
  });

  it('is not looked for after the end', async () => {
    answers = () => 'none';
    await clock.advanceAsync(400);
    watch.stop();
    await clock.advanceAsync(60_000);
    expect(told).toEqual([]);
    expect(requests).toHaveLength(1);
    expect(clock.timers).toBe(0);
  });

  it.each([
    ['an event of another name', eventOf('events/user/other')],
    ['an event of another type that quotes the name', 'quoted'],
    ['no JSON', '{"patchbay-probe-'],
  ])('is not shown by %s', async (_, text) => {
    answers = others;
    await clock.advanceAsync(400);
    const name = requests[1]?.path.replace('events/user/', '') ?? '';
    const quoted = JSON.stringify({ type: 'ChannelVarset', value: name });
    expect(watch.take(text === 'quoted' ? quoted : text)).toBe(false);
    await clock.advanceAsync(2_000);
    expect(told).toEqual(['taken']);
  });
});
