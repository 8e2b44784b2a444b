// What no provider sends on its media socket: text that is not JSON, and binary messages where audio comes in text. The
// peer is another program, so that its socket is closed at the first such message. JSON that does not fit is tolerated for
// a while (media-session.test.ts).

import { expect, it } from 'vitest';
import type { MediaEvent } from '../../../src/telephony/provider/media-session.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import { CLOSE, type MediaSocket } from '../../../src/transport/media-socket.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { protocolOf, streamOf } from '../../load/gateway-end.ts';
import { HOSTED, type HostedName } from '../../load/wires/wire.ts';

/** A session whose stream has begun, what its call is told, and how its socket is closed. */
function begun(provider: HostedName) {
  const clock = new FakeClock();
  const closed: [number, string][] = [];
  const events: MediaEvent[] = [];
  const socket: MediaSocket = {
    open: true,
    bufferedBytes: 0,
    sendText: () => undefined,
    sendBinary: () => undefined,
    close: (code, reason) => void closed.push([code, reason]),
  };
  const protocol = protocolOf(provider);
  const session = new SocketMediaSession({ socket, protocol, clock, log: quietLog().log });
  session.attach({ onAudio: () => undefined, onEvent: (event) => void events.push(event) });
  for (const message of streamOf(provider).opening()) session.onText(message);
  expect(events.map(({ type }) => type)).toEqual(['started']);
  return { session, events, closed, clock };
}

const ended = { type: 'closed', reason: 'fault', error: { code: 'MEDIA_MALFORMED' } };
const WITH_TEXT = HOSTED.filter((provider) => provider !== 'vonage');

it.each(HOSTED)('%s: text that is not JSON closes the socket with 1003 at once', (provider) => {
  for (const text of ['hello', '', '{"event":"media"', 'GET / HTTP/1.1']) {
    const { session, events, closed, clock } = begun(provider);
    session.onText(text);
    session.onText('more');
    expect(closed, text).toEqual([[CLOSE.unsupported, 'protocol']]);
    expect(events.slice(1)).toMatchObject([ended]);
    expect(clock.timers).toBe(0);
  }
});

it.each(WITH_TEXT)('%s: a binary message closes the socket with 1003 at once', (provider) => {
  const { session, events, closed } = begun(provider);
  session.onBinary(new Uint8Array(160));
  session.onBinary(new Uint8Array(160));
  expect(closed).toEqual([[CLOSE.unsupported, 'protocol']]);
  expect(events.slice(1)).toMatchObject([ended]);
});

it.each(HOSTED)('%s: JSON that does not fit is dropped, and the stream goes on', (provider) => {
  const { session, events, closed } = begun(provider);
  for (const text of ['[]', 'null', '"hello"', '{"event":7}']) session.onText(text);
  expect(closed).toEqual([]);
  expect(events).toHaveLength(1);
});

it('text that is not JSON before the stream begins closes the socket too', () => {
  const closed: number[] = [];
  const socket: MediaSocket = {
    open: true,
    bufferedBytes: 0,
    sendText: () => undefined,
    sendBinary: () => undefined,
    close: (code) => void closed.push(code),
  };
  const parts = { protocol: protocolOf('twilio'), clock: new FakeClock(), log: quietLog().log };
  new SocketMediaSession({ socket, ...parts }).onText('SSH-2.0-OpenSSH_9.2');
  expect(closed).toEqual([CLOSE.unsupported]);
});
