// A stream over time: signs of life, a client that does not read, and the end of a long one.

import { IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { Writable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { EventStream } from '../../../src/api/http/event-streams.ts';
import type { EventFeed, FeedMessage } from '../../../src/call/events/event-feeds.ts';
import { LiveWatchers } from '../../../src/call/events/live-watchers.ts';
import type { FeedbackItem } from '../../../src/call/events/realtime-feedback.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

/** Emits what a test puts into it. */
class Queue implements EventFeed {
  readonly waiting: FeedMessage[] = [];
  readonly runIds = ['1'];
  place = '1:0';
  isOver = false;
  isReported = true;
  reads = 0;

  read(): Promise<FeedMessage[]> {
    this.reads += 1;
    const messages = this.waiting.splice(0);
    this.place = messages.at(-1)?.id ?? this.place;
    return Promise.resolve(messages);
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

function begin(lifeMs = 3_600_000, areOthersReporting?: () => boolean) {
  const clock = new FakeClock();
  const feed = new Queue();
  const live = new LiveWatchers();
  const { wire, response } = responseOf();
  const stream = new EventStream({ clock, live, lifeMs, areOthersReporting }, feed, response);
  const over = stream.run([], true);
  return { clock, feed, live, wire, response, stream, over };
}

const STAMP = '2026-01-15T09:00:00.000+00:00';
const message = (n: number, more = ''): FeedMessage => ({
  id: `1:${n}`,
  event: null,
  data: { type: 'rtf-bot-text', payload: { n, more }, timestamp: STAMP },
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
    expect(wire.text).toContain(
      `id: 1:1\ndata: {"type":"rtf-bot-text","payload":{"n":1,"more":""},"timestamp":"${STAMP}"}\n\n`,
    );
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

  it('reads every second, and every ten while other gateways report and nothing happens', async () => {
    const at = { areReporting: false };
    const { clock, feed, live } = begin(3_600_000, () => at.areReporting);
    const readsIn = async (ms: number): Promise<number> => {
      const before = feed.reads;
      await pass(clock, ms);
      return feed.reads - before;
    };
    expect(await readsIn(20_000)).toBe(20);
    at.areReporting = true;
    expect(await readsIn(20_000)).toBeLessThanOrEqual(3);
    feed.waiting.push(message(1));
    live.notifyStored(['1']);
    expect(await readsIn(2_000)).toBeGreaterThanOrEqual(3); // The message, what follows it, and once more.
    feed.isReported = false; // New calls begin without a report.
    await pass(clock, 10_000);
    expect(await readsIn(20_000)).toBe(20);
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
    expect(closedIn(wire.text)).toMatchObject({ type: 'closed', payload: { reason: 'slow' } });
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
    expect(closedIn(wire.text)).toEqual({
      type: 'closed',
      payload: { reason: 'lifetime' },
      timestamp: expect.stringMatching(/^\d{4}-.*\+00:00$/),
      reason: 'lifetime',
    });
    expect(wire.text).toContain('id: 1:0\nevent: closed\n');
  });

  it('repeats the last id with what is not stored, which moves nobody on', async () => {
    const { clock, feed, live, wire } = begin();
    feed.waiting.push(message(1));
    await pass(clock, 500);
    live.emit('1', { type: 'rtf-user-mute-started', payload: {}, timestamp: STAMP });
    await pass(clock, 500);
    expect(wire.text).toContain('id: 1:1\ndata: {"type":"rtf-user-mute-started"');
  });

  // What was read and not written would never be sent.
  it('closes with the id of the last message that was written', async () => {
    const { clock, feed, stream, wire, over } = begin();
    await settle();
    wire.isReading = false;
    for (let n = 0; n < 50; n++) feed.waiting.push(message(n, 'x'.repeat(1_000)));
    await pass(clock, 2_000);
    stream.close('closing');
    wire.isReading = true;
    wire.resume();
    await over;
    const told = [...wire.text.matchAll(/id: (1:\d+)\n/g)].map(([, id]) => id);
    expect(told.length).toBeLessThan(50);
    expect(told.at(-1)).toBe(told.at(-2));
    expect(wire.text).toContain(`id: ${told.at(-1)}\nevent: closed\n`);
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

/** Data of the message that ends the stream. */
function closedIn(text: string): unknown {
  return JSON.parse(/event: closed\ndata: (.*)\n\n$/.exec(text)?.[1] ?? 'null');
}
