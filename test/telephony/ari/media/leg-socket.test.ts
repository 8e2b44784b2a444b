// The socket that a call has of its audio at an Asterisk, with the carrier's side of it played by hand.

import { describe, expect, it } from 'vitest';
import { LegSocket } from '../../../../src/telephony/ari/media/leg-socket.ts';
import type { MediaSocketListener } from '../../../../src/transport/media-socket.ts';

const FRAME = new Uint8Array(160);
const START = 'MEDIA_START channel_id:m-1 format:ulaw optimal_frame_size:160 ptime:20';

function carrier() {
  const texts: string[] = [];
  let bytes = 0;
  return {
    texts,
    asks: () => texts.filter((each) => each.includes('GET_STATUS')).length,
    bytes: () => bytes,
    socket: {
      open: true,
      bufferedBytes: 0,
      sendText: (message: string) => void texts.push(message),
      sendBinary: (message: Uint8Array) => {
        bytes += message.length;
      },
      close: () => undefined,
    },
  };
}

function leg() {
  const time = { nowMs: 0 };
  const queues: number[] = [];
  const socket = new LegSocket(
    {
      onClosed: () => undefined,
      onLost: () => undefined,
      onQueue: (frames) => void queues.push(frames),
    },
    () => time.nowMs,
  );
  const heard: string[] = [];
  socket.admit(() => ({
    onText: (message) => void heard.push(message),
    onBinary: () => undefined,
    onClose: () => undefined,
  }));
  const unplayed = () =>
    heard.filter((each) => each.includes('UNPLAYED')).map((each) => JSON.parse(each).unplayed_ms);
  const say = (frames: number): void => {
    for (let nth = 0; nth < frames; nth++) socket.sendBinary(FRAME);
  };
  return { socket, time, queues, heard, unplayed, say };
}

const status = (listener: MediaSocketListener, frames: number): void =>
  listener.onText(`STATUS channel_id:m-1 queue_length:${frames} queue_full:false`);

describe("a call's socket at an Asterisk", () => {
  it('asks how far it has come, and tells how much is not played', () => {
    const { socket, time, queues, say, unplayed } = leg();
    const { socket: inner, asks } = carrier();
    const listener = socket.attachTransport(inner);
    listener.onText(START);
    say(24);
    expect(asks()).toBe(0);
    say(6);
    expect(asks()).toBe(1);
    time.nowMs += 10;
    status(listener, 20);
    expect(unplayed()).toEqual([(20 + 5) * 20 - 10]);
    expect(queues).toEqual([20]);
  });

  it('tells nothing of answers to what was asked before a clear', () => {
    const { socket, say, unplayed } = leg();
    const listener = socket.attachTransport(carrier().socket);
    listener.onText(START);
    say(25);
    socket.sendText('{"command":"FLUSH_MEDIA"}');
    status(listener, 25);
    say(25);
    status(listener, 2);
    expect(unplayed()).toEqual([40]);
  });

  it('begins to count anew with the carrier that takes the place of another', () => {
    const { socket, say, unplayed, heard } = leg();
    const first = socket.attachTransport(carrier().socket);
    first.onText(START);
    say(60);
    const next = carrier();
    const second = socket.attachTransport(next.socket);
    status(first, 60);
    say(30);
    expect(next.asks()).toBe(0);
    second.onText(START);
    say(25);
    expect(next.asks()).toBe(1);
    status(second, 3);
    expect(unplayed()).toEqual([60]);
    expect(heard.filter((each) => each.startsWith('MEDIA_START'))).toHaveLength(1);
  });

  it('asks nothing of a carrier that has no queue', () => {
    const { socket, say } = leg();
    const { socket: inner, asks, bytes } = carrier();
    socket.attachTransport(inner).onText(JSON.stringify({ event: 'MEDIA_START', format: 'slin' }));
    say(500);
    expect(asks()).toBe(0);
    expect(bytes()).toBe(500 * 160);
  });
});
