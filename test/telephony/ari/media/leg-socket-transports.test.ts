// The socket of a call's audio: the call room keeps one for the whole call, whatever carries it.

import { expect, it } from 'vitest';
import {
  command,
  markWords,
  parseControlMessage,
  startWords,
} from '../../../../src/telephony/ari/media/control-messages.ts';
import { LegSocket } from '../../../../src/telephony/ari/media/leg-socket.ts';
import {
  CLOSE,
  type MediaSocket,
  type MediaSocketListener,
} from '../../../../src/transport/media-socket.ts';

/** What carries the audio. */
class Carried implements MediaSocket {
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
}

function make() {
  const news: string[] = [];
  const heard: string[] = [];
  const clock = { ms: 0 };
  const socket = new LegSocket(
    {
      onClosed: () => void news.push('closed'),
      onLost: () => void news.push('lost'),
      onQueue: (frames) => void news.push(`queue ${frames}`),
    },
    () => clock.ms,
  );
  const listener: MediaSocketListener = {
    onText: (text) => void heard.push(text),
    onBinary: (bytes) => void heard.push(`${bytes.length} bytes`),
    onClose: (code) => void heard.push(`close ${code}`),
  };
  const admit = (): void => socket.admit(() => listener);
  return { socket, news, heard, clock, admit };
}

function carried(socket: LegSocket): { inner: Carried; from: MediaSocketListener } {
  const inner = new Carried();
  return { inner, from: socket.attachTransport(inner) };
}

const mark = (name: string): string => command('MARK_MEDIA', name) ?? '';
const marksIn = (heard: string[]): (string | undefined)[] =>
  heard.flatMap((text) => {
    const words = parseControlMessage(text);
    return words?.event === 'MEDIA_MARK_PROCESSED' ? [words.correlationId] : [];
  });
const START = startWords({ channelId: 'm1', format: 'ulaw' });

it('passes on what is said both ways', () => {
  const { socket, heard, clock, admit } = make();
  const { inner, from } = carried(socket);
  admit();
  clock.ms = 7;
  socket.sendBinary(new Uint8Array(160));
  socket.sendText('{"command":"GET_STATUS"}');
  from.onBinary(new Uint8Array(320));
  from.onText('{"event":"QUEUE_DRAINED"}');
  inner.bufferedBytes = 99;
  expect(inner.sizes).toEqual([160]);
  expect(inner.texts).toEqual(['{"command":"GET_STATUS"}']);
  expect(heard).toEqual(['320 bytes', '{"event":"QUEUE_DRAINED"}']);
  expect(socket.bufferedBytes).toBe(99);
  expect(socket.sentAtMs).toBe(7);
});

it('sends audio in messages that Asterisk reads in one piece', () => {
  const { socket } = make();
  const { inner } = carried(socket);
  socket.sendBinary(new Uint8Array(3_000));
  expect(inner.sizes).toEqual([1_280, 1_280, 440]);
});

it('keeps a few words for a listener that comes later, and drops audio', () => {
  const { socket, heard, admit } = make();
  const { from } = carried(socket);
  from.onText(START);
  from.onBinary(new Uint8Array(160));
  for (let nth = 0; nth < 40; nth++) socket.deliver(`key ${nth}`);
  expect(heard).toEqual([]);
  admit();
  expect(heard).toHaveLength(16);
  expect(heard.slice(0, 2)).toEqual([START, 'key 0']);
});

it('says nothing to nobody while nothing carries it', () => {
  const { socket } = make();
  socket.sendText('x');
  socket.sendBinary(new Uint8Array(160));
  expect(socket.bufferedBytes).toBe(0);
  expect(socket.open).toBe(true);
});

it('tells how much Asterisk has not played', () => {
  const { socket, news } = make();
  const { from } = carried(socket);
  from.onText('{"event":"STATUS","queue_length":31}');
  from.onText('STATUS channel_id:m1 queue_length:7 xon_level:800');
  from.onText('{"event":"STATUS"}');
  expect(news).toEqual(['queue 31', 'queue 7']);
});

it('goes on over another carrier, and returns the marks of what is not played any more', () => {
  const { socket, news, heard, admit } = make();
  const first = carried(socket);
  admit();
  first.from.onText(START);
  for (const name of ['a', 'b', 'c']) socket.sendText(mark(name));
  first.from.onText(markWords('a'));
  first.from.onClose(1_006, '');
  expect(news).toEqual(['lost']);
  expect(socket.open).toBe(true);
  const second = carried(socket);
  second.from.onText(startWords({ channelId: 'm2', format: 'ulaw' }));
  expect(marksIn(heard)).toEqual(['a', 'b', 'c']);
  expect(heard.filter((text) => text.includes('MEDIA_START'))).toEqual([START]);
  // The first has no say any more.
  first.from.onText('{"event":"QUEUE_DRAINED"}');
  first.from.onBinary(new Uint8Array(1));
  first.from.onClose(1_006, '');
  expect(heard).toHaveLength(4);
  expect(news).toEqual(['lost']);
  socket.sendText('x');
  expect(second.inner.texts).toEqual(['x']);
});

it('closes a carrier that another takes the place of', () => {
  const { socket } = make();
  const { inner } = carried(socket);
  carried(socket);
  expect(inner.closed).toEqual({ code: CLOSE.normal, reason: '' });
});

it('forgets the marks of what is taken back', () => {
  const { socket, heard, admit } = make();
  carried(socket);
  admit();
  socket.sendText(mark('a'));
  socket.flush();
  expect(marksIn(heard)).toEqual(['a']);
  socket.sendText(mark('b'));
  socket.sendText(command('FLUSH_MEDIA') ?? '');
  carried(socket);
  expect(marksIn(heard)).toEqual(['a']);
});

it('keeps account of the youngest marks, however many were lost', () => {
  const { socket, heard, admit } = make();
  carried(socket);
  admit();
  const names = Array.from({ length: 1_000 }, (_, nth) => `m${nth}`);
  for (const name of names) socket.sendText(mark(name));
  expect(heard).toEqual([]);
  carried(socket);
  expect(marksIn(heard)).toEqual(names.slice(-256));
});

it('waits for no mark that is lost once a later one has come', () => {
  const { socket, heard, admit } = make();
  const { from } = carried(socket);
  admit();
  for (const name of ['a', 'b', 'c']) socket.sendText(mark(name));
  from.onText(markWords('b'));
  expect(marksIn(heard)).toEqual(['a', 'b']);
  from.onText(markWords('unknown'));
  from.onText(markWords('c'));
  carried(socket);
  expect(marksIn(heard)).toEqual(['a', 'b', 'unknown', 'c']);
});

it('is closed by the call room once, with what carries it', () => {
  const { socket, news, heard, admit } = make();
  const { inner, from } = carried(socket);
  admit();
  socket.close(CLOSE.internal, 'why');
  socket.close(CLOSE.normal, '');
  socket.end(CLOSE.normal, '');
  from.onClose(1_000, '');
  expect(news).toEqual(['closed']);
  expect(heard).toEqual([`close ${CLOSE.internal}`]);
  expect(inner.closed).toEqual({ code: CLOSE.normal, reason: 'why' });
  expect(socket.open).toBe(false);
  expect(carried(socket).inner.closed).toBeDefined();
});

it('is ended by the leg without being asked whether', () => {
  const { socket, news, heard, admit } = make();
  carried(socket);
  admit();
  socket.end(CLOSE.internal, 'lost');
  expect(news).toEqual([]);
  expect(heard).toEqual([`close ${CLOSE.internal}`]);
});

it('tells a listener that comes too late that it is over', () => {
  const { socket, heard, admit } = make();
  socket.end(CLOSE.normal, '');
  admit();
  expect(heard).toEqual([`close ${CLOSE.normal}`]);
});
