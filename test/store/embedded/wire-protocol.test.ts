// Cutting a stream into frontend messages. Source: PostgreSQL documentation, message formats.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FrontendMessages,
  fatal,
  queryMessage,
  statusAfter,
  syncMessage,
  welcome,
} from '../../../src/store/embedded/wire-protocol.ts';

/** Everything that can be cut off now. */
function drain(messages: FrontendMessages): (Buffer | null)[] {
  const taken: (Buffer | null)[] = [];
  for (let next = messages.next(); next !== undefined; next = messages.next()) {
    taken.push(next);
    if (next === null) break;
  }
  return taken;
}

describe('frontend messages', () => {
  it('come out whole and in order, however the stream was cut', () => {
    const texts = fc.array(fc.string({ maxLength: 50 }), { maxLength: 8 });
    const cuts = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 });
    fc.assert(
      fc.property(texts, cuts, (sent, sizes) => {
        const stream = Buffer.concat(sent.map((text) => queryMessage(text)));
        const messages = new FrontendMessages();
        const received: (Buffer | null)[] = [];
        for (let at = 0, i = 0; at < stream.length; i++) {
          const size = sizes[i % sizes.length] ?? 1;
          messages.push(stream.subarray(at, at + size));
          at += size;
          received.push(...drain(messages));
        }
        expect(received.map((each) => each?.toString('hex'))).toEqual(
          sent.map((text) => queryMessage(text).toString('hex')),
        );
        expect(messages.bytes).toBe(0);
      }),
    );
  });

  it('are a message, a fault or not complete, for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const messages = new FrontendMessages();
        messages.push(Buffer.from(bytes));
        for (const message of drain(messages)) {
          if (message !== null) expect(message.readInt32BE(1)).toBe(message.length - 1);
        }
        const starting = new FrontendMessages();
        starting.push(Buffer.from(bytes));
        const startup = starting.startup();
        if (startup === undefined) return;
        expect(['start', 'encrypt', 'cancel', 'malformed']).toContain(startup.kind);
      }),
    );
  });

  it('are refused when they claim to be larger than 64 MB', () => {
    const messages = new FrontendMessages();
    messages.push(Buffer.from('Q\x7f\xff\xff\xff', 'latin1'));
    expect(messages.next()).toBeNull();
  });

  it('begin with settings', () => {
    const messages = new FrontendMessages();
    const body = Buffer.from('\0\x03\0\0user\0postgres\0application_name\0psql\0\0');
    const length = Buffer.alloc(4);
    length.writeInt32BE(4 + body.length);
    messages.push(Buffer.concat([length, body, syncMessage()]));
    expect(messages.startup()).toEqual({
      kind: 'start',
      settings: new Map([
        ['user', 'postgres'],
        ['application_name', 'psql'],
      ]),
    });
    expect(messages.next()).toEqual(syncMessage());
  });
});

describe('answers', () => {
  it.each([
    ['5a0000000549', 'idle'],
    ['430000000d53454c45435420310000005a0000000554'.replace('0000005a', '005a'), 'open'],
    ['5a0000000545', 'failed'],
    ['3100000004', undefined],
    ['', undefined],
  ])('%s leave the transaction %s', (hex, status) => {
    expect(statusAfter(Buffer.from(hex, 'hex'))).toBe(status);
  });

  it('say welcome with a ready at the end, and goodbye with a reason', () => {
    expect(statusAfter(welcome())).toBe('idle');
    expect(fatal('53300', 'too many connections').toString('latin1')).toContain('C53300\0M');
  });
});
