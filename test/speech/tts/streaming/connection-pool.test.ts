// The pool of a synthesiser's connections: which one the next utterance gets, and when one closes.

import { describe, expect, it } from 'vitest';
import {
  type ConnectionListener,
  ConnectionPool,
} from '../../../../src/speech/tts/streaming/connection-pool.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';

const AGE_MS = 60_000;
const IDLE_MS = 10_000;

function pooled() {
  const clock = new FakeClock();
  const opened: (ConnectionListener & { hasRoom: boolean; isIdle: boolean; isClosed: boolean })[] =
    [];
  const pool = new ConnectionPool({
    clock,
    idleMsMax: IDLE_MS,
    ageMsMax: AGE_MS,
    open(listener) {
      const connection = {
        ...listener,
        hasRoom: true,
        isIdle: false,
        isClosed: false,
        close() {
          connection.isClosed = true;
        },
      };
      opened.push(connection);
      return connection;
    },
  });
  const idle = (nth: number): void => {
    const connection = opened[nth];
    if (connection === undefined) throw new Error('no such connection');
    connection.isIdle = true;
    connection.onIdle();
  };
  return { clock, pool, opened, idle };
}

describe('a pool of connections', () => {
  it('gives the next utterance a connection with room, an idle one first', () => {
    const { pool, opened, idle } = pooled();
    const first = pool.take();
    expect(pool.take()).toBe(first);
    if (opened[0]) opened[0].hasRoom = false;
    const second = pool.take();
    expect(opened).toHaveLength(2);
    if (opened[0]) opened[0].hasRoom = true;
    idle(1);
    expect(pool.take()).toBe(second);
  });

  it('opens a new connection for a retry, whatever is idle, unless it is full', () => {
    const { pool, opened, idle } = pooled();
    const first = pool.take();
    idle(0);
    expect(pool.take(true)).not.toBe(first);
    for (let nth = 2; nth < 256; nth++) pool.take(true);
    expect(opened).toHaveLength(256);
    expect(pool.take(true)).toBe(first);
  });

  it('begins no utterance on a connection that is too old, though it has room', () => {
    const { clock, pool, opened } = pooled();
    const first = pool.take();
    clock.advance(AGE_MS - 1);
    expect(pool.take()).toBe(first);
    clock.advance(1);
    expect(pool.take()).not.toBe(first);
    expect(opened.map(({ isClosed }) => isClosed)).toEqual([false, false]);
  });

  it('closes a connection that is idle for long, or that becomes too old while it is idle', () => {
    const { clock, pool, opened, idle } = pooled();
    pool.take();
    idle(0);
    clock.advance(IDLE_MS - 1);
    expect(opened[0]?.isClosed).toBe(false);
    clock.advance(1);
    expect(opened[0]?.isClosed).toBe(true);
    pool.take();
    clock.advance(AGE_MS - 1_000);
    idle(1);
    clock.advance(999);
    expect(opened[1]?.isClosed).toBe(false);
    clock.advance(1);
    expect(opened[1]?.isClosed).toBe(true);
    expect([pool.isEmpty, clock.timers]).toEqual([true, 0]);
  });

  it('closes one whose last utterance ends after its age', () => {
    const { clock, pool, opened, idle } = pooled();
    pool.take();
    clock.advance(AGE_MS);
    idle(0);
    expect([opened[0]?.isClosed, pool.isEmpty]).toEqual([true, true]);
  });

  it('holds 256 connections at most, and opens another once one has ended', () => {
    const { pool, opened } = pooled();
    for (let nth = 0; nth < 256; nth++) {
      expect(pool.take()).toBeDefined();
      const last = opened.at(-1);
      if (last) last.hasRoom = false;
    }
    expect(pool.take()).toBeUndefined();
    opened[7]?.onEnd();
    expect(pool.take()).toBeDefined();
  });
});
