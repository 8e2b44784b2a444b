// A call's audio at an Asterisk, with the transport's side played by hand: one session for the whole call,
// whatever carries it. Source: asterisk §0.1, §0.10, §0.11, §2.3, §2.4.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { codeOf } from '../../../../src/errors/gateway-error.ts';
import { AriMediaSession } from '../../../../src/telephony/ari/media/ari-media-session.ts';
import { PACKET_TRAITS } from '../../../../src/telephony/ari/media/packet-transports.ts';
import { SOCKET_TRAITS } from '../../../../src/telephony/ari/media/websocket-transports.ts';
import type { MediaListener } from '../../../../src/telephony/provider/media-session.ts';
import {
  CLOSE,
  type MediaSocket,
  type MediaSocketListener,
} from '../../../../src/transport/media-socket.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

const CALL = '1795200436.103';
const MEDIA = 'pb01234567m00000000000000000000000000000000000';
const FRAME = new Uint8Array(160);
const START = `MEDIA_START channel_id:${MEDIA} format:ulaw optimal_frame_size:160 ptime:20`;

/** What carries the audio. */
class Transport implements MediaSocket {
  open = true;
  bufferedBytes = 0;
  readonly texts: string[] = [];
  readonly sizes: number[] = [];
  closed: { code: number; reason: string } | undefined;

  sendText(message: string): void {
    this.texts.push(message);
  }

  sendBinary(message: Uint8Array): void {
    this.sizes.push(message.length);
  }

  close(code: number, reason: string): void {
    this.closed ??= { code, reason };
  }

  get questions(): number {
    return this.texts.filter((each) => each.includes('GET_STATUS')).length;
  }
}

type Heard = [string, ...unknown[]];

function make(traits = SOCKET_TRAITS) {
  const news: string[] = [];
  const heard: Heard[] = [];
  const clock = new FakeClock();
  const session = new AriMediaSession({
    callId: CALL,
    traits,
    listener: {
      onClosed: () => void news.push('closed'),
      onLost: () => void news.push('lost'),
      onQueue: (frames) => void news.push(`queue ${frames}`),
    },
    clock,
    log: quietLog().log,
  });
  const listener: MediaListener = {
    onAudio: (payload, timestampMs) => void heard.push(['audio', payload.length, timestampMs]),
    onEvent: ({ type, ...facts }) => void heard.push([type, ...Object.values(facts)]),
  };
  const attach = (): void => session.attach(listener);
  const of = (type: string): unknown[] =>
    heard.flatMap(([each, ...facts]) => (each === type ? [facts] : []));
  const say = (frames: number): void => {
    for (let nth = 0; nth < frames; nth++) session.audio(FRAME);
  };
  return { session, news, heard, clock, attach, of, say };
}

function carried(session: AriMediaSession): { transport: Transport; from: MediaSocketListener } {
  const transport = new Transport();
  return { transport, from: session.attachTransport(transport) };
}

/** A session that has begun over one transport. */
function begun() {
  const made = make();
  const { transport, from } = carried(made.session);
  made.attach();
  from.onText(START);
  made.heard.splice(0);
  return { ...made, transport, from };
}

const played = (name: string): string =>
  JSON.stringify({ event: 'MEDIA_MARK_PROCESSED', correlation_id: name });
const status = (frames: number): string => `STATUS channel_id:m-1 queue_length:${frames}`;
const started = (codec: string): Heard => {
  const codecs = { codecIn: codec, codecOut: codec };
  return ['started', { callId: CALL, streamId: MEDIA, ...codecs, parameters: {} }];
};

/** What one message means to a session that has just begun, or the code of its fault. */
function meaning(message: string): Heard[] {
  const { session, heard, attach } = make();
  const { from } = carried(session);
  attach();
  from.onText(message);
  return heard.map(([type, ...facts]) =>
    type === 'closed' ? [type, facts[0], codeOf(facts[1])] : [type, ...facts],
  );
}

describe('what Asterisk says', () => {
  it('begins with the format of the channel, in JSON and in plain text', () => {
    const formats = { ulaw: 'PCMU', alaw: 'PCMA', slin: 'L16', slin16: 'L16/16000', g722: 'G722' };
    for (const [format, codec] of Object.entries(formats)) {
      const json = { event: 'MEDIA_START', channel_id: MEDIA, format, optimal_frame_size: 160 };
      expect(meaning(JSON.stringify(json))).toEqual([started(codec)]);
      const plain = `MEDIA_START connection_id:media_gw channel:WebSocket/media_gw/0x7f channel_id:${MEDIA} format:${format} optimal_frame_size:160 ptime:20`;
      expect(meaning(plain)).toEqual([started(codec)]);
    }
  });

  it('begins without a word where the transport has none', () => {
    const { session, heard, attach } = make(PACKET_TRAITS);
    session.attachTransport(new Transport(), { channelId: MEDIA, format: 'slin' });
    attach();
    expect(heard).toEqual([started('L16')]);
  });

  it('ends the call if it is a format that we do not have', () => {
    const message = JSON.stringify({ event: 'MEDIA_START', channel_id: MEDIA, format: 'opus' });
    expect(meaning(message)).toEqual([['closed', 'fault', 'MEDIA_CODEC']]);
  });

  it.each([
    ['JSON', JSON.stringify({ event: 'MEDIA_MARK_PROCESSED', correlation_id: '1:2:3' })],
    ['plain text', 'MEDIA_MARK_PROCESSED 1:2:3'],
  ])('names the mark that was played, in %s', (_form, message) => {
    const { session, from, heard } = begun();
    session.mark('1:2:3');
    from.onText(message);
    expect(heard).toEqual([['mark', '1:2:3', 'played']]);
  });

  it('has each key once: by the event socket, not by the media', () => {
    const { session, from, heard } = begun();
    session.digit('5');
    from.onText(JSON.stringify({ event: 'DTMF_END', channel_id: MEDIA, digit: '5' }));
    from.onText(`DTMF_END digit:5 channel_id:${MEDIA}`);
    expect(heard).toEqual([['digit', '5']]);
  });

  it('is passed over where it says nothing new, known or not', () => {
    const { from, heard } = begun();
    for (const message of [
      'MEDIA_XOFF',
      'MEDIA_XON',
      'QUEUE_DRAINED',
      'MEDIA_BUFFERING_COMPLETED utt-1',
      JSON.stringify({ event: 'ERROR', channel_id: MEDIA, error_text: 'Unable to parse' }),
      JSON.stringify({ event: 'SOMETHING_NEW', value: [1] }),
      'MEDIA_MARK_PROCESSED nobody-sent-it',
      JSON.stringify({ event: 'UNPLAYED', unplayed_ms: 5 }),
      JSON.stringify({ event: 'DIGIT', digit: '5' }),
    ]) {
      from.onText(message);
    }
    expect(heard).toEqual([]);
  });

  it('is dropped where it is garbage, and ends the call after twenty-one times', () => {
    const { from, heard, news, transport } = begun();
    const garbage = ['', 'hello', '{', '[]', '{"event":5}', 'null', '\u0000\u0001'];
    for (let nth = 0; nth < 20; nth++) from.onText(garbage[nth % garbage.length] ?? '');
    from.onText('STATUS queue_length:none');
    from.onBinary(new Uint8Array(60_000));
    expect(heard).toEqual([['audio', 60_000, Number.NaN]]);
    from.onText('hello');
    expect(heard.at(-1)).toMatchObject(['closed', 'fault', { code: 'MEDIA_MALFORMED' }]);
    expect(news).toEqual(['closed']);
    expect(transport.closed).toEqual({ code: CLOSE.normal, reason: 'protocol' });
  });

  it('throws nothing, for any input', () => {
    const texts = fc.oneof(
      fc.string(),
      fc.json(),
      fc.string().map((each) => `MEDIA_START ${each}`),
    );
    fc.assert(
      fc.property(texts, (message) => {
        for (const [type, , code] of meaning(message)) {
          if (type === 'closed') expect(code).toMatch(/^MEDIA_(MALFORMED|CODEC)$/);
        }
      }),
    );
  });

  it('is audio without a time, in messages of any length', () => {
    const { from, heard } = begun();
    from.onBinary(Uint8Array.of(1, 2, 3));
    from.onBinary(new Uint8Array(0));
    expect(heard).toEqual([
      ['audio', 3, Number.NaN],
      ['audio', 0, Number.NaN],
    ]);
  });
});

describe('what Asterisk is sent', () => {
  it('is audio in messages that it reads in one piece', () => {
    const { session, transport, clock, from } = begun();
    clock.advance(7);
    session.audio(new Uint8Array(160));
    session.audio(new Uint8Array(3_000));
    transport.bufferedBytes = 99;
    expect(transport.sizes).toEqual([160, 1_280, 1_280, 440]);
    expect(session.bufferedBytes).toBe(99);
    expect(session.sentAtMs).toBe(7);
    from.onClose(1_006, '');
    session.audio(FRAME);
    session.mark('1');
    expect(session.bufferedBytes).toBe(0);
    expect(session.isOpen).toBe(true);
  });

  it('is commands in JSON of at most 128 bytes: Asterisk passes over what is longer', () => {
    const { session, transport } = begun();
    session.mark('12:3:4');
    session.mark('x'.repeat(200));
    session.clear();
    expect(transport.texts).toEqual([
      '{"command":"MARK_MEDIA","correlation_id":"12:3:4"}',
      '{"command":"FLUSH_MEDIA"}',
    ]);
  });

  it('is audio alone where packets pass straight through', () => {
    const { session, say } = make(PACKET_TRAITS);
    const transport = new Transport();
    session.attachTransport(transport, { channelId: MEDIA, format: 'slin' });
    say(500);
    session.mark('1');
    session.clear();
    expect(transport.texts).toEqual([]);
    expect(transport.sizes).toHaveLength(500);
    expect(session.traits.lead.maxMs).toBeLessThanOrEqual(60);
  });
});

describe("Asterisk's queue", () => {
  it('is asked for, and what is not played is reported', () => {
    const { transport, clock, news, say, of, from } = begun();
    say(24);
    expect(transport.questions).toBe(0);
    say(6);
    expect(transport.questions).toBe(1);
    clock.advance(10);
    from.onText(status(20));
    from.onText('{"event":"STATUS"}');
    expect(of('unplayed')).toEqual([[(20 + 5) * 20 - 10]]);
    expect(news).toEqual(['queue 20']);
  });

  it('is reported to the leg in both forms', () => {
    const { news, from } = begun();
    from.onText('{"event":"STATUS","queue_length":31}');
    from.onText('STATUS channel_id:m1 queue_length:7 xon_level:800');
    expect(news).toEqual(['queue 31', 'queue 7']);
  });

  it('says nothing by answers to what was asked before a clear', () => {
    const { session, from, say, of } = begun();
    say(25);
    session.clear();
    from.onText(status(25));
    say(25);
    from.onText(status(2));
    expect(of('unplayed')).toEqual([[40]]);
  });

  it('is counted again with the transport that takes the place of another', () => {
    const { session, from, say, of, heard } = begun();
    say(60);
    const next = carried(session);
    from.onText(status(60));
    say(30);
    expect(next.transport.questions).toBe(0);
    next.from.onText(START);
    say(25);
    expect(next.transport.questions).toBe(1);
    next.from.onText(status(3));
    expect(of('unplayed')).toEqual([[60]]);
    expect(heard).toHaveLength(1);
  });

  it('is not asked for where there is none', () => {
    const { session, say } = make();
    const { transport, from } = carried(session);
    from.onText(JSON.stringify({ event: 'MEDIA_START', format: 'slin' }));
    say(500);
    expect(transport.questions).toBe(0);
    expect(transport.sizes).toHaveLength(500);
  });
});

describe('a session whose transport is replaced', () => {
  it('goes on, and drops the marks of what is not played any more', () => {
    const { session, news, heard, from, of } = begun();
    for (const name of ['a', 'b', 'c']) session.mark(name);
    from.onText(played('a'));
    from.onClose(1_006, '');
    expect(news).toEqual(['lost']);
    expect(session.isOpen).toBe(true);
    const second = carried(session);
    second.from.onText(START);
    const marks = [
      ['a', 'played'],
      ['b', 'dropped'],
      ['c', 'dropped'],
    ];
    expect(of('mark')).toEqual(marks);
    // The first has no say any more.
    from.onText(played('b'));
    from.onBinary(new Uint8Array(1));
    from.onClose(1_006, '');
    expect(heard).toHaveLength(3);
    expect(news).toEqual(['lost']);
    session.mark('d');
    expect(second.transport.texts).toHaveLength(1);
  });

  it('has the same start, whatever the next one says', () => {
    const { session, heard } = begun();
    const { from } = carried(session);
    from.onText(START);
    from.onText(JSON.stringify({ event: 'MEDIA_START', format: 'opus' }));
    expect(heard).toEqual([]);
  });

  it('closes the one that loses its place', () => {
    const { session } = make();
    const { transport } = carried(session);
    carried(session);
    expect(transport.closed).toEqual({ code: CLOSE.normal, reason: '' });
  });
});

describe('the end of a session', () => {
  it('comes once when the call closes it, with what carries it', () => {
    const { session, news, heard, transport, from } = begun();
    session.close('over');
    session.close('over');
    session.end();
    from.onText(played('a'));
    from.onClose(1_000, '');
    expect(news).toEqual(['closed']);
    expect(heard).toEqual([]);
    expect(transport.closed).toEqual({ code: CLOSE.normal, reason: '' });
    expect(session.isOpen).toBe(false);
    expect(carried(session).transport.closed).toBeDefined();
  });

  it('comes from the leg, with its reason', () => {
    const [over, lost] = [begun(), begun()];
    over.session.end();
    const why = new Error('lost');
    lost.session.end(why);
    expect([over.heard, lost.heard]).toEqual([[['closed', 'ended']], [['closed', 'fault', why]]]);
    expect([over.news, lost.news]).toEqual([[], []]);
  });

  it('is reported to a call that comes too late', () => {
    const { session, heard, attach } = make();
    session.end();
    attach();
    expect(heard).toEqual([['closed', 'ended']]);
  });
});

it('keeps the start and a few keys for a call that comes later, and drops audio', () => {
  const { session, heard, attach } = make();
  const { from } = carried(session);
  from.onText(START);
  from.onBinary(new Uint8Array(160));
  for (let nth = 0; nth < 40; nth++) session.digit(String(nth));
  expect(heard).toEqual([]);
  attach();
  expect(heard).toHaveLength(16);
  expect(heard.slice(0, 2)).toEqual([started('PCMU'), ['digit', '0']]);
});
