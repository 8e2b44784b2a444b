import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { IncomingSockets } from '../../../../src/telephony/ari/media/incoming-sockets.ts';
import type { MediaSocket, MediaSocketListener } from '../../../../src/transport/media-socket.ts';

class Peer implements MediaSocket {
  open = true;
  bufferedBytes = 0;
  readonly closes: number[] = [];
  sendText(): void {
    throw new Error('nothing is sent to a stranger');
  }
  sendBinary(): void {
    throw new Error('nothing is sent to a stranger');
  }
  close(code: number): void {
    this.open = false;
    this.closes.push(code);
  }
}

function hearing() {
  const heard: string[] = [];
  const listener: MediaSocketListener = {
    onText: (message) => heard.push(message),
    onBinary: (message) => heard.push(`${message.length} bytes`),
    onClose: (code) => heard.push(`closed ${code}`),
  };
  return { heard, listener };
}

const ID = 'pb01234567m00000000000000000000000000000000000';
const start = (id: string) =>
  JSON.stringify({ event: 'MEDIA_START', channel_id: id, format: 'ulaw' });
const NEVER = new AbortController().signal;

describe('the listener for sockets that Asterisk opens', () => {
  it('admits a socket whose first message names an expected channel, and only once', async () => {
    const door = new IncomingSockets();
    const { heard, listener } = hearing();
    const peer = new Peer();
    const expected = door.expect(ID, () => listener, NEVER);
    const socket = door.accept(peer);
    socket.onText(start(ID));
    socket.onBinary(new Uint8Array(160));
    socket.onClose(1000, '');
    await expected.arrived;
    expect(heard).toEqual([start(ID), '160 bytes', 'closed 1000']);
    const second = new Peer();
    door.accept(second).onText(start(ID));
    expect(second.closes).toEqual([4401]);
  });

  it('closes one with 1003 that sends binary before MEDIA_START, and takes nothing after it', () => {
    const door = new IncomingSockets();
    const { heard, listener } = hearing();
    door.expect(ID, () => listener, NEVER);
    const peer = new Peer();
    const socket = door.accept(peer);
    socket.onBinary(new Uint8Array(160));
    socket.onText(start(ID));
    socket.onBinary(new Uint8Array(160));
    expect(peer.closes).toEqual([1003]);
    expect(heard).toEqual([]);
  });

  it.each([
    ['another channel', start(ID.replace('1', '2'))],
    ['a longer id', start(`${ID}0`)],
    ['no id', JSON.stringify({ event: 'MEDIA_START', format: 'ulaw' })],
    ['another message', JSON.stringify({ event: 'STATUS', channel_id: ID })],
    ['garbage', 'hello'],
  ])('turns away %s', (_, message) => {
    const door = new IncomingSockets();
    const { heard, listener } = hearing();
    door.expect(ID, () => listener, NEVER);
    const peer = new Peer();
    door.accept(peer).onText(message);
    expect(peer.closes).toEqual([4401]);
    expect(heard).toEqual([]);
  });

  it('names possible causes when no socket comes, and removes the channel', async () => {
    const door = new IncomingSockets();
    const stop = new AbortController();
    const expected = door.expect(ID, () => hearing().listener, stop.signal);
    stop.abort();
    const error: unknown = await expected.arrived.catch((reason: unknown) => reason);
    expect(codeOf(error)).toBe('PBX_MEDIA');
    expect(String(error)).toContain('websocket_client.conf');
    expected.done();
    const late = new Peer();
    door.accept(late).onText(start(ID));
    expect(late.closes).toEqual([4401]);
  });

  it('keeps no more waiting than it can count', () => {
    const door = new IncomingSockets();
    for (let i = 0; i < 5_000; i++) door.expect(String(i), () => hearing().listener, NEVER);
    expect(() => door.expect('one more', () => hearing().listener, NEVER)).toThrow();
  });
});
