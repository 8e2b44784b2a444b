// How fast uploads are received, of one organization and of all.

import { Readable } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { UploadPace } from '../../../src/api/files/upload-routes.ts';
import { PieceCount } from '../../../src/api/http/piece-count.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';

const PIECE = 65_536;
const MEGABYTE = 1_048_576;

/** Sends pieces one after the other, as far as it may; says when all have come. */
async function send(pace: UploadPace, organization: string, bytes: number): Promise<void> {
  for (let sent = 0; sent < bytes; sent += PIECE) await pace.received(organization, PIECE);
}

/** How long `work` takes on this clock, to a tenth of a second. */
async function secondsOf(clock: FakeClock, work: Promise<unknown>): Promise<number> {
  let isOver = false;
  void work.then(() => {
    isOver = true;
  });
  let seconds = 0;
  for (await settle(); !isOver; await settle()) {
    clock.advance(100);
    seconds += 0.1;
  }
  return Math.round(seconds * 10) / 10;
}

describe('the pace of uploads', () => {
  it('lets a small file through at once', async () => {
    const clock = new FakeClock();
    expect(await secondsOf(clock, send(new UploadPace(clock), 'a', MEGABYTE))).toBe(0);
    expect(clock.timers).toBe(0);
  });

  it('holds an organization to four megabytes a second, in however many uploads', async () => {
    const clock = new FakeClock();
    const pace = new UploadPace(clock);
    const uploads = [1, 2, 3].map(() => send(pace, 'a', 7 * MEGABYTE));
    // 21 MB, the first of them at once.
    const seconds = await secondsOf(clock, Promise.all(uploads));
    expect(seconds).toBeGreaterThanOrEqual(4.9);
    expect(seconds).toBeLessThanOrEqual(5.5);
  });

  it("does not hold up an organization for another's uploads", async () => {
    const clock = new FakeClock();
    const pace = new UploadPace(clock);
    const many = Promise.all(Array.from({ length: 24 }, () => send(pace, 'a', 4 * MEGABYTE)));
    clock.advance(2_000);
    // Of the other's 96 MB nothing is before it but what has its turn.
    expect(await secondsOf(clock, send(pace, 'b', 5 * MEGABYTE))).toBeLessThanOrEqual(2);
    await secondsOf(clock, many);
  });

  it('holds all organizations to eight', async () => {
    const clock = new FakeClock();
    const pace = new UploadPace(clock);
    const uploads = Array.from({ length: 8 }, (_each, name) => send(pace, `${name}`, 4 * MEGABYTE));
    const seconds = await secondsOf(clock, Promise.all(uploads));
    expect(seconds).toBeGreaterThanOrEqual(3.8);
    expect(seconds).toBeLessThanOrEqual(5);
  });

  it('is divided between organizations, in however many uploads each sends', async () => {
    // It was divided between uploads: with 24 each, three organizations left a fourth the 73rd part.
    const clock = new FakeClock();
    const pace = new UploadPace(clock);
    const many = ['a', 'b', 'c'].flatMap((name) =>
      Array.from({ length: 24 }, () => send(pace, name, 4 * MEGABYTE)),
    );
    clock.advance(1_000);
    expect(await secondsOf(clock, send(pace, 'd', 5 * MEGABYTE))).toBeLessThanOrEqual(3);
    await secondsOf(clock, Promise.all(many));
  });

  it("is no other organization's when one has received far too much", async () => {
    const clock = new FakeClock();
    const pace = new UploadPace(clock);
    const flood = pace.received('a', 1_000 * MEGABYTE);
    expect(await secondsOf(clock, send(pace, 'b', 5 * MEGABYTE))).toBeLessThanOrEqual(2);
    await secondsOf(clock, flood);
  });
});

it('counts a piece as 2 kB at least, as the connection brings it', async () => {
  const body = new Readable({ read: () => undefined });
  const count = new PieceCount(body);
  for (let i = 0; i < 10; i += 1) body.push(Buffer.alloc(1));
  body.push(Buffer.alloc(PIECE));
  body.push(null);
  expect([count.pieces, count.bytes]).toEqual([11, 10 * 2_048 + PIECE]);
});
