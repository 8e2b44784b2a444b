// The media seam's contract: for anything that a provider does with marks, clears and closing, the call has the same
// events. Kinds of provider: marks echoed after a clear in JSON text (Twilio), marks dropped by a clear with
// binary audio in frames of 20 ms at a rate of its own each way (as Vonage), and none at all.
// Source: providers §7.2.

import { beforeEach, describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { MediaProtocol } from '../../../src/telephony/provider/media-protocol.ts';
import type { MediaEvent, MediaListener } from '../../../src/telephony/provider/media-session.ts';
import { SocketMediaSession } from '../../../src/telephony/provider/socket-media-session.ts';
import { createTwilioMedia } from '../../../src/telephony/twilio/provider.ts';
import { CLOSE, type MediaSocket } from '../../../src/transport/media-socket.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const STREAM = 'MZ1';
const FRAME = new Uint8Array(160);
const OTHER_CODEC = '{"codec":"opus"}';

class Socket implements MediaSocket {
  readonly sent: (string | number)[] = [];
  closed: [number, string] | undefined;
  bufferedBytes = 0;
  open = true;

  sendText(message: string): void {
    this.sent.push(message);
  }
  sendBinary(message: Uint8Array): void {
    this.sent.push(message.length);
  }
  close(code: number, reason: string): void {
    this.closed ??= [code, reason];
  }
}

/** Text for events, binary for audio; what a provider of this kind needs beside the seam. */
function binaryMedia(marks: boolean): MediaProtocol {
  return {
    traits: { marks, lead: { aimMs: 100, maxMs: 200, stallMsMax: 160, stepMs: 20 } },
    decodeText(message, listener) {
      const [word = '', name = ''] = message.split(' ');
      const codecs = { codecIn: 'L16/16000', codecOut: 'PCMU' };
      const start = { callId: 'c', streamId: 's', ...codecs, parameters: {} };
      if (word === 'start') listener.onEvent({ type: 'started', start });
      else if (word === 'played') listener.onEvent({ type: 'mark', name, outcome: 'played' });
      else if (word === 'key') listener.onEvent({ type: 'digit', digit: name });
      else if (word === OTHER_CODEC) throw new GatewayError('MEDIA_CODEC', { encoding: 'opus' });
      else if (word === 'bug') throw new TypeError('ours');
      else throw new GatewayError('MEDIA_MALFORMED', { provider: 'test', bytes: message.length });
    },
    decodeBinary: (message, listener) => listener.onAudio(message, Number.NaN),
    encodeAudio: (payload) => payload,
    encodeMark: (name) => (marks ? `mark ${name}` : undefined),
    encodeClear: () => 'clear',
  };
}

let clock: FakeClock;
let socket: Socket;
let events: MediaEvent[];
let frames: number[];
let listener: MediaListener;
beforeEach(() => {
  clock = new FakeClock();
  socket = new Socket();
  events = [];
  frames = [];
  listener = {
    onAudio: (payload) => void frames.push(payload.length),
    onEvent: (event) => void events.push(event),
  };
});

function open(protocol: MediaProtocol): SocketMediaSession {
  return new SocketMediaSession({ socket, protocol, clock, log: quietLog().log });
}

function begun(protocol = binaryMedia(true)): SocketMediaSession {
  const session = open(protocol);
  session.attach(listener);
  session.onText('start');
  events.splice(0);
  return session;
}

const twilio = (message: object): string => JSON.stringify({ streamSid: STREAM, ...message });
const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
const twilioStart = twilio({ event: 'start', start: { callSid: 'CA1', mediaFormat } });
/** Each kind's words for its start, and for a mark that comes back. */
const kinds = [
  {
    kind: 'echoes marks after a clear',
    create: createTwilioMedia,
    start: twilioStart,
    mark: (name: string) => twilio({ event: 'mark', mark: { name } }),
    isEchoing: true,
  },
  {
    kind: 'drops marks with a clear',
    create: () => binaryMedia(true),
    start: 'start',
    mark: (name: string) => `played ${name}`,
    isEchoing: false,
  },
];
const marks = (): string[] =>
  events.flatMap((event) => (event.type === 'mark' ? [`${event.name} ${event.outcome}`] : []));

describe.each(kinds)('a provider that $kind', ({ create, start, mark, isEchoing }) => {
  function talking(): SocketMediaSession {
    const session = open(create());
    session.attach(listener);
    session.onText(start);
    return session;
  }

  it('returns each mark once: played, or dropped by a clear', () => {
    const session = talking();
    session.mark('a');
    session.audio(FRAME);
    session.mark('b');
    session.mark('c');
    session.onText(mark('a'));
    session.clear();
    expect(marks()).toEqual(['a played', 'b dropped', 'c dropped']);
    if (isEchoing) for (const name of ['b', 'c']) session.onText(mark(name));
    session.mark('d');
    session.onText(mark('d'));
    session.onText(mark('d'));
    session.onText(mark('nobody-sent-it'));
    expect(marks()).toEqual(['a played', 'b dropped', 'c dropped', 'd played']);
  });

  it('is not waited for where it loses a mark: a later one says that it was played', () => {
    const session = talking();
    for (const name of ['a', 'b', 'c']) session.mark(name);
    session.onText(mark('b'));
    expect(marks()).toEqual(['a played', 'b played']);
  });

  it('may lose any number of marks: of more than 256, the oldest are dropped', () => {
    const session = talking();
    for (let nth = 0; nth < 1_000; nth++) session.mark(`m${nth}`);
    expect(marks()).toEqual([]);
    session.clear();
    expect(marks()).toHaveLength(256);
    expect(marks()[0]).toBe('m744 dropped');
  });
});

describe('a provider without marks', () => {
  it('is sent none, and says nothing of a clear', () => {
    const session = begun(binaryMedia(false));
    session.mark('a');
    session.clear();
    expect(socket.sent).toEqual(['clear']);
    expect(events).toEqual([]);
    expect(session.traits.marks).toBe(false);
  });
});

describe('the start of a stream', () => {
  it('has codecs for both ways, and comes once', () => {
    const session = open(binaryMedia(true));
    session.attach(listener);
    session.onText('start');
    session.onText('start');
    expect(events).toMatchObject([
      { type: 'started', start: { codecIn: 'L16/16000', codecOut: 'PCMU' } },
    ]);
  });

  it('comes before anything else', () => {
    const session = open(binaryMedia(true));
    session.attach(listener);
    session.onBinary(FRAME);
    session.onText('key 5');
    expect([events, frames]).toEqual([[], []]);
    session.onText('start');
    session.onBinary(FRAME);
    session.onText('key 6');
    expect(frames).toEqual([160]);
    expect(events.at(-1)).toEqual({ type: 'digit', digit: '6' });
  });

  it('is kept for a call that attaches later, with a few keys, and audio is not', () => {
    const session = open(binaryMedia(true));
    session.onText('start');
    session.onBinary(FRAME);
    for (let nth = 0; nth < 40; nth++) session.onText(`key ${nth % 10}`);
    session.attach(listener);
    expect(events).toHaveLength(16);
    expect(events[0]?.type).toBe('started');
    expect(frames).toEqual([]);
    session.onBinary(FRAME);
    expect(frames).toEqual([160]);
  });

  it('is waited for ten seconds', () => {
    const session = open(binaryMedia(true));
    session.attach(listener);
    clock.advance(9_999);
    expect(events).toEqual([]);
    clock.advance(1);
    expect(events).toMatchObject([
      { type: 'closed', reason: 'inactive', error: { code: 'MEDIA_SILENT' } },
    ]);
    session.onText('start');
    session.onClose(1_000, '');
    expect(events).toHaveLength(1);
  });

  it('ends the wait', () => {
    begun();
    clock.advance(60_000);
    expect(events).toEqual([]);
    expect(clock.timers).toBe(0);
  });
});

describe('the end of a stream', () => {
  it.each([
    [1_000, '', 'ended', undefined],
    [CLOSE.broken, '', 'lost', undefined],
    [CLOSE.policy, 'something of theirs', 'ended', undefined],
    [CLOSE.policy, 'MEDIA_SILENT', 'inactive', 'MEDIA_SILENT'],
    [CLOSE.policy, 'MEDIA_MALFORMED', 'fault', 'MEDIA_MALFORMED'],
    [CLOSE.tooBig, 'MEDIA_OVERSIZED', 'fault', 'MEDIA_OVERSIZED'],
  ])('by the close code %i and "%s" is: %s', (code, reason, expected, error) => {
    const session = begun();
    session.onClose(code, reason);
    session.onClose(code, reason);
    expect(events).toMatchObject([
      {
        type: 'closed',
        reason: expected,
        ...(error === undefined ? {} : { error: { code: error } }),
      },
    ]);
  });

  it('by a fault of the socket says what failed', () => {
    const session = begun();
    session.onClose(CLOSE.internal, 'no memory');
    expect(events).toMatchObject([
      { type: 'closed', reason: 'fault', error: { message: 'the media socket failed: no memory' } },
    ]);
  });

  it.each([
    ['over', [CLOSE.normal, '']],
    ['unwanted', [CLOSE.goingAway, 'the call is over']],
  ] as const)('by our side (%s) brings no event, and nothing after it', (reason, closed) => {
    const session = begun();
    session.mark('a');
    session.close(reason);
    session.onText('played a');
    session.onBinary(FRAME);
    session.onClose(closed[0], closed[1]);
    expect(socket.closed).toEqual(closed);
    expect([events, frames]).toEqual([[], []]);
    expect(clock.timers).toBe(0);
  });

  it('is reported to a call that attaches later', () => {
    const session = open(binaryMedia(true));
    for (let nth = 0; nth < 40; nth++) session.onText(nth === 0 ? 'start' : 'key 1');
    session.onClose(CLOSE.broken, '');
    session.attach(listener);
    expect(events.at(-1)).toEqual({ type: 'closed', reason: 'lost' });
    session.onBinary(FRAME);
    expect(frames).toEqual([]);
    expect(clock.timers).toBe(0);
  });
});

describe('messages that cannot be read', () => {
  it('are dropped twenty times, and end the stream then', () => {
    const session = begun();
    for (let nth = 0; nth < 20; nth++) session.onText('{}');
    session.onText('key 1');
    expect(events).toEqual([{ type: 'digit', digit: '1' }]);
    session.onText('{}');
    session.onText('{}');
    expect(events.slice(1)).toMatchObject([
      { type: 'closed', reason: 'fault', error: { code: 'MEDIA_MALFORMED' } },
    ]);
    expect(socket.closed).toEqual([CLOSE.badRequest, 'protocol']);
  });

  it('for want of a codec end it at once', () => {
    const session = open(binaryMedia(true));
    session.attach(listener);
    session.onText(OTHER_CODEC);
    expect(events).toMatchObject([
      { type: 'closed', reason: 'fault', error: { code: 'MEDIA_CODEC' } },
    ]);
    expect(socket.closed).toEqual([CLOSE.badRequest, 'protocol']);
    expect(clock.timers).toBe(0);
  });

  it("because of a fault of our own are not taken for the far end's", () => {
    const session = begun();
    expect(() => session.onText('bug')).toThrow('ours');
    expect(events).toEqual([]);
  });
});

describe('audio', () => {
  it('goes out as the provider takes it: binary or text', () => {
    const session = begun();
    session.audio(FRAME);
    expect(socket.sent).toEqual([160]);
    const text = open(createTwilioMedia());
    text.attach(listener);
    text.onText(twilioStart);
    text.audio(FRAME);
    expect(String(socket.sent.at(-1))).toContain('"event":"media"');
  });

  it('comes in with no call between the protocol and the listener', () => {
    const seen: unknown[] = [];
    const session = begun({
      ...binaryMedia(true),
      decodeBinary: (_message, audio) => void seen.push(audio),
    });
    session.onBinary(FRAME);
    expect(seen).toEqual([listener]);
  });
});
