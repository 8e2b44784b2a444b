// A stream over time: signs of life, a client that does not read, and the end of a long one.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { EventStream } from '../../../src/api/http/event-stream.ts';
import type { EventFeed, FeedMessage } from '../../../src/call/log/event-feed.ts';
import { LiveWatchers } from '../../../src/call/log/live-watchers.ts';
import type { FeedbackItem } from '../../../src/call/log/realtime-feedback.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

/** Emits what a test puts into it. */
class Queue implements EventFeed {
  readonly waiting: FeedMessage[] = [];
  readonly runIds = ['1'];
  isOver = false;
  reads = 0;

  read(): Promise<FeedMessage[]> {
    this.reads += 1;
    return Promise.resolve(this.waiting.splice(0));
  }

  liveMessage(_runId: string, item: FeedbackItem): FeedMessage {
    return { id: null, event: null, data: { ...item } };
  }
}

/** A response whose client reads until a test stops it. */
function responseOf() {
  const wire = { text: '', isReading: true, resume: (): void => undefined };
  const socket = new Writable({
    write(chunk, _encoding, done) {
      wire.text += String(chunk);
      if (wire.isReading) done();
      else wire.resume = () => done();
    },
  });
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  response.assignSocket(socket as Socket); // It writes, and that is all that is asked of it.
  // As the server does for its sockets.
  socket.on('drain', () => response.emit('drain'));
  return { wire, response };
}

function begin(lifeMs = 3_600_000) {
  const clock = new FakeClock();
  const feed = new Queue();
  const live = new LiveWatchers();
  const { wire, response } = responseOf();
  const stream = new EventStream({ clock, live, lifeMs }, feed, response);
  const over = stream.run([], true);
  return { clock, feed, live, wire, response, stream, over };
}

const message = (n: number, more = ''): FeedMessage => ({
  id: `1:${n}`,
  event: null,
  data: { n, more },
});

async function pass(clock: FakeClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 250) {
    clock.advance(250);
    await settle();
  }
}

describe('an event stream', () => {
  it('gives a sign of life every quarter of a minute, if nothing else was said', async () => {
    const { clock, feed, wire } = begin();
    await pass(clock, 14_000);
    feed.waiting.push(message(1));
    await pass(clock, 14_000);
    expect(wire.text).not.toContain(': still here');
    expect(wire.text).toContain('id: 1:1\ndata: {"n":1,"more":""}\n\n');
    await pass(clock, 31_000);
    expect(wire.text.match(/: still here\n\n/g)).toHaveLength(2);
  });

  it('reads at once when something is stored, but not without a pause', async () => {
    const { clock, feed, live, wire } = begin();
    await settle();
    const before = feed.reads;
    for (let n = 0; n < 50; n++) live.notifyStored(['1']);
    await settle();
    expect(feed.reads).toBe(before);
    feed.waiting.push(message(1));
    await pass(clock, 250);
    expect(wire.text).toContain('1:1');
  });

  it('leaves a client that reads nothing for half a minute, and says why', async () => {
    const { clock, feed, live, wire, response, over } = begin();
    await settle();
    wire.isReading = false;
    for (let n = 0; n < 100; n++) feed.waiting.push(message(n, 'x'.repeat(1_000)));
    await pass(clock, 5_000);
    for (let n = 0; n < 1_000; n++) {
      live.emit('1', { type: 'rtf-bot-started-speaking', payload: {}, timestamp: '' });
    }
    await pass(clock, 24_000);
    expect(response.writableLength).toBeLessThan(100_000);
    const held = response.writableLength;
    await pass(clock, 3_000);
    await over;
    expect(response.writableEnded).toBe(true);
    expect(response.writableLength).toBeLessThan(held + 200);
    wire.isReading = true;
    wire.resume();
    await settle();
    expect(wire.text).toContain('event: closed\ndata: {"reason":"slow"}\n\n');
  });

  it('drops interim words before anything else that is not kept', async () => {
    const { clock, feed, live, wire } = begin();
    await settle();
    wire.isReading = false;
    for (let n = 0; n < 100; n++) feed.waiting.push(message(n, 'x'.repeat(1_000)));
    await pass(clock, 5_000);
    const timestamp = '';
    for (let n = 0; n < 100; n++) {
      live.emit('1', { type: 'rtf-user-transcription', payload: { final: false }, timestamp });
    }
    live.emit('1', { type: 'rtf-bot-started-speaking', payload: {}, timestamp });
    wire.isReading = true;
    wire.resume();
    await pass(clock, 5_000);
    expect(wire.text.split('rtf-user-transcription')).toHaveLength(51);
    expect(wire.text).toContain('rtf-bot-started-speaking');
  });

  it('cuts off a client that takes not even the last words', async () => {
    const { clock, feed, wire, response, over } = begin();
    await settle();
    wire.isReading = false;
    for (let n = 0; n < 100; n++) feed.waiting.push(message(n, 'x'.repeat(1_000)));
    await pass(clock, 40_000);
    await over;
    expect(response.destroyed).toBe(true);
  });

  it('goes on as if nothing had been when a slow client reads again in time', async () => {
    const { clock, feed, wire } = begin();
    await settle();
    wire.isReading = false;
    for (let n = 0; n < 50; n++) feed.waiting.push(message(n, 'x'.repeat(1_000)));
    await pass(clock, 20_000);
    wire.isReading = true;
    wire.resume();
    await pass(clock, 20_000);
    const told = [...wire.text.matchAll(/id: 1:(\d+)\n/g)].map(([, n]) => Number(n));
    expect(told).toEqual(Array.from({ length: 50 }, (_, n) => n));
    expect(wire.text).not.toContain('closed');
  });

  it('ends after its time, so that clients spread over the processes', async () => {
    const { clock, wire, over } = begin(60_000);
    await pass(clock, 59_000);
    expect(wire.text).not.toContain('closed');
    await pass(clock, 2_000);
    await over;
    expect(wire.text).toContain('event: closed\ndata: {"reason":"lifetime"}\n\n');
  });

  it('leaves no timer and no watcher behind', async () => {
    const { clock, feed, live, over } = begin();
    await pass(clock, 1_000);
    feed.isOver = true;
    await pass(clock, 2_000);
    await over;
    await pass(clock, 3_000);
    expect(clock.timers).toBe(0);
    const before = feed.reads;
    live.notifyStored(['1']);
    await settle();
    expect(feed.reads).toBe(before);
  });
});
