import { Socket } from 'node:net';
import { describe, expect, it } from 'vitest';
import { IpcChannel, type IpcTransport } from '../../src/cluster/ipc-channel.ts';
import type { IpcMessage } from '../../src/cluster/ipc-message.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import { wires } from './linked-channels.ts';

function two() {
  const clock = new FakeClock();
  const made = wires(2, clock);
  const [one, other] = made.links as [IpcChannel, IpcChannel];
  return { ...made, clock, one, other };
}

describe('a request between processes', () => {
  it('is answered by the handler of its topic', async () => {
    const { one, other } = two();
    other.onRequest('double', async (body) => Number(body) * 2);
    expect(await one.request(1, 'double', 21, 1_000)).toBe(42);
  });

  it('brings our errors back with their code and facts, and no other', async () => {
    const { one, other, lines } = two();
    other.onRequest('ours', () => Promise.reject(new GatewayError('QUEUE_FULL', { queue: 'q' })));
    other.onRequest('bug', () => Promise.reject(new Error('secret')));
    await expect(one.request(1, 'ours', {}, 1_000)).rejects.toMatchObject({
      code: 'QUEUE_FULL',
      message: 'The queue q is full',
    });
    const bug = one.request(1, 'bug', {}, 1_000);
    await expect(bug).rejects.toMatchObject({ code: 'WORKER_FAILED', facts: { worker: 1 } });
    await expect(one.request(1, 'unknown', {}, 1_000)).rejects.toMatchObject({
      code: 'WORKER_FAILED',
    });
    expect(lines().filter(({ level }) => level === 'error')).toHaveLength(2);
  });

  it('fails at once if the process is not there, or ends meanwhile', async () => {
    const { one, other, cut, clock } = two();
    other.onRequest('wait', () => new Promise(() => undefined));
    const waiting = one.request(1, 'wait', {}, 1_000);
    one.peerLost(1);
    await expect(waiting).rejects.toMatchObject({ code: 'WORKER_GONE' });
    cut(1);
    await expect(one.request(1, 'wait', {}, 1_000)).rejects.toMatchObject({ code: 'WORKER_GONE' });
    expect(clock.timers).toBe(0);
  });

  it('has its time, and what comes later is dropped', async () => {
    const { one, other, clock } = two();
    let answer: (body: unknown) => void = () => undefined;
    other.onRequest('slow', () => new Promise((resolve) => (answer = resolve)));
    const waiting = one.request(1, 'slow', {}, 1_000);
    clock.advance(1_000);
    await expect(waiting).rejects.toMatchObject({ code: 'TIMED_OUT' });
    answer('late');
    await Promise.resolve();
  });
});

it('a late reply to a process that died is none to the one that has its number now', async () => {
  const { log } = quietLog();
  const sent: IpcMessage[] = [];
  const begin = () => {
    const transport: IpcTransport = {
      send: (text) => sent.push(text) > 0,
      onMessage: () => undefined,
    };
    return { transport, link: new IpcChannel(1, transport, { clock: new FakeClock(), log }) };
  };
  void begin().link.request(2, 'start', {}, 1_000);
  const { transport, link } = begin();
  const answers: unknown[] = [];
  void link.request(2, 'start', {}, 1_000).then((body) => answers.push(body));
  const replies = sent.map((asked, index) => ({
    kind: 'reply' as const,
    from: 2,
    to: 1,
    bytes: 9,

    id: asked.kind === 'request' ? asked.id : 0,
    body: index === 0 ? 'stranger' : 'own',
  }));
  for (const reply of replies) transport.onMessage(reply, undefined);
  await Promise.resolve();
  expect(answers).toEqual(['own']);
});

describe('a note between processes', () => {
  it('comes with who sent it', () => {
    const { one, other } = two();
    const taken: unknown[] = [];
    other.onNotification('news', (body, { from }) => taken.push([body, from]));
    expect(one.notify(1, 'news', { bytes: Buffer.from('ab') })).toBe(true);
    expect(one.notify(1, 'nobody listens', {})).toBe(true);
    expect(taken).toEqual([[{ bytes: expect.anything() }, 0]]);
  });

  it('that its receiver refuses is logged, and its socket closed; the process continues', () => {
    const { one, other, lines } = two();
    other.onNotification('news', () => {
      throw new Error('not as expected');
    });
    const socket = new Socket();
    expect(one.notify(1, 'news', {}, socket)).toBe(true);
    expect(socket.destroyed).toBe(true);
    expect(lines()).toMatchObject([{ topic: 'news', msg: 'message of another process failed' }]);
  });

  it('that no process could read is logged and not sent', () => {
    const { one, lines } = two();
    expect(one.notify(1, 'news', { call: () => undefined })).toBe(false);
    expect(lines()).toMatchObject([{ to: 1, msg: 'message to another process not sent' }]);
  });

  it('that is none is logged, and nothing breaks', () => {
    const clock = new FakeClock();
    const made = wires(1, clock);
    for (const junk of [undefined, 7, {}, { kind: 'note' }, { kind: 'reply', id: -1 }]) {
      made.links[0]?.notify(0, 'x', junk); // A body may be anything.
    }
    expect(made.lines()).toEqual([]);
  });
});
