// Descriptions of services: what they may have, and what is refused.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  recognizerDescription,
  requestVoiceDescription,
  voiceDescription,
} from '../../src/model/speech-services/description.ts';
import {
  addressOf,
  filled,
  headersOf,
  matches,
  messageOf,
  valueAt,
} from '../../src/speech/service/description/template.ts';

const audio = { format: 'ulaw8' };

describe('the description of a service', () => {
  it.each([
    ['a header of the connection itself', { headers: { host: 'other' } }],
    ['a header that is none', { headers: { 'a b': 'c' } }],
    ['an unknown field', { script: 'x' }],
    ['a path that is code', { results: [{ when: [{ path: 'a' }], is: 'final', text: 'a[0]()' }] }],
    ['too many messages', { open: Array.from({ length: 9 }, () => ({})) }],
    ['a message that is too long', { open: [{ x: 'x'.repeat(9_000) }] }],
    [
      'a message that is nested too deeply',
      { open: [JSON.parse(`${'['.repeat(12)}${']'.repeat(12)}`)] },
    ],
    ['an unknown kind of fault', { closes: { '4001': 'strange' } }],
    ['packets of a second', { audio: { ...audio, packet_ms: 1_000 } }],
  ])('refuses %s', (_, more) => {
    expect(recognizerDescription.safeParse({ audio, ...more }).success).toBe(false);
    expect(recognizerDescription.safeParse({ audio }).success).toBe(true);
  });

  it('has defaults that are enough for a plain voice', () => {
    const done = { when: [{ path: 'done', equals: true }], per: 'text' };
    const plain = { format: 's16@24000', text: '{text}', done };
    expect(voiceDescription.parse(plain)).toMatchObject({ headers: {}, open: [], errors: [] });
    const body = { text: '{text}' };
    const request = { body, audio: { in: 'body', format: 's16@16000' } };
    expect(requestVoiceDescription.safeParse(request).success).toBe(true);
  });
});

describe('a template', () => {
  it('takes values of any type, and leaves out what has none', () => {
    const template = { a: '{list}', b: ['{none}', 'x {text}'], c: '{none}', d: 'a {none}', e: 1 };
    const values = { list: ['y'], text: '{list}', none: undefined };
    expect(filled(template, values)).toEqual({ a: ['y'], b: ['x {list}'], e: 1 });
    expect(messageOf('finalize', {})).toBe('finalize');
    expect(messageOf('', {})).toBe('');
    expect(messageOf('{unknown}', {})).toBe('{unknown}');
  });

  it('does not read what is in a prototype', () => {
    expect(filled('{constructor}', {})).toBe('{constructor}');
    expect(valueAt({}, 'constructor.name')).toBeUndefined();
    expect(valueAt({ a: [1, { b: 2 }] }, 'a.-1.b')).toBe(2);
  });

  it('encodes names in an address, and lines in no header', () => {
    const values = { voice: 'a/../b?c', key: 'k' };
    const of = { path: '/v1/{voice}', query: { v: '{voice}', w: ['{key}', 'x'], n: '{none}' } };
    expect(addressOf('wss://a.example/', of, { ...values, none: undefined })).toBe(
      'wss://a.example/v1/a%2F..%2Fb%3Fc?v=a%2F..%2Fb%3Fc&w=k&w=x',
    );
    expect(
      headersOf({ 'X-A': 'Bearer {key}', 'X-B': '{none}' }, { ...values, none: undefined }),
    ).toEqual({
      'x-a': 'Bearer k',
    });
  });

  it('is filled and matched without an error, whatever the values and messages are', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), fc.string(), (template, message, path) => {
        filled(template, { text: message, key: 'k' });
        valueAt(message, path);
        matches(message, [
          { path: 'a.b', not: 1 },
          { path, in: ['x'] },
        ]);
      }),
    );
  });
});
