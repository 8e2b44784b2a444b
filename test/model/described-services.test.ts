// Descriptions of services: what they may have, and what is refused.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  recognizerDescription,
  requestVoiceDescription,
  voiceDescription,
} from '../../src/model/speech-services/description.ts';
import { maskServices, withStoredSecrets } from '../../src/model/speech-services/service-masks.ts';
import { storableService } from '../../src/model/speech-services/service-rows.ts';
import {
  addressOf,
  filled,
  headersOf,
  meetsConditions,
  messageText,
  valueAt,
} from '../../src/speech/service/description/message-template.ts';

const audio = { format: 'ulaw8' };

describe('the description of a service', () => {
  it.each([
    ['a header of the connection itself', { headers: { host: 'other' } }],
    ['a header that is none', { headers: { 'a b': 'c' } }],
    ['a header with a line break', { headers: { 'x-a': 'b\r\nc: d' } }],
    ['a header with a typographic quote', { headers: { 'x-a': '“b”' } }],
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
    ['two channels of µ-law', { audio: { ...audio, channels: 2 } }],
    ['a path that is a part of the host', { path: '.thief.example/v1' }],
    ['a path after which the host is a user name', { path: '@thief.example/v1' }],
    ['a path that is a port', { path: ':8443/v1' }],
    ['parameters in the path', { path: '/v1?token=abc' }],
  ])('refuses %s', (_, more) => {
    expect(recognizerDescription.safeParse({ audio, ...more }).success).toBe(false);
    expect(recognizerDescription.safeParse({ audio }).success).toBe(true);
  });

  const Key = 'hunter2hunter2';
  it.each([
    ['headers.authorization', { headers: { authorization: `Bearer ${Key}` } }],
    ['headers.X-Api-Key', { headers: { 'X-Api-Key': Key } }],
    ['headers.cookie', { headers: { cookie: `session=${Key}` } }],
    ['headers.x-customer', { headers: { 'x-customer': 'sk-0123456789abcdef' } }],
    ['query.key', { query: { key: Key } }],
    ['query.access_token', { query: { access_token: Key } }],
    ['open.0.config.password', { open: [{ config: { user: 'u', password: Key } }] }],
    ['open.0', { open: [`Token ${Key}`] }],
    ['keepalive.message.token', { keepalive: { after_ms: 5_000, message: { token: Key } } }],
    ['close.auth', { close: { auth: Key } }],
  ])('refuses a key that is written out in %s, and says where it belongs', (place, more) => {
    const parsed = recognizerDescription.safeParse({ audio, ...more });
    const [issue] = parsed.error?.issues ?? [];
    expect([issue?.path.join('.'), issue?.message]).toEqual([
      place,
      expect.stringContaining('put it into api_key'),
    ]);
    expect(JSON.stringify(parsed.error?.issues)).not.toContain(Key);
  });

  it('has keys by their names', () => {
    const named = {
      headers: { authorization: 'Bearer {key}', 'x-api-key': '{key}', cookie: 'session={secret}' },
      query: { token: '{api_key}', model: 'sk-large', language: '{language}' },
      open: [{ api_key: '{key}', max_tokens: 5, tokens: ['a'], auth: '' }],
    };
    expect(recognizerDescription.safeParse({ audio, ...named }).error).toBeUndefined();
  });

  it('is read quickly, whatever its texts are', () => {
    const texts = ['eyJ-'.repeat(1_900), 'sk-'.repeat(2_500), `${'a-'.repeat(3_900)}key`];
    const before = process.cpuUsage();
    for (const text of texts) {
      const query = Object.fromEntries(texts.map((_, nth) => [`q${nth}`, text]));
      recognizerDescription.safeParse({ audio, query, open: [{ [text]: text.slice(0, 90) }] });
    }
    expect(process.cpuUsage(before).user / 1_000).toBeLessThan(2_000);
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

describe('the description of a voice by requests', () => {
  it.each(['json', 'events'] as const)('says where in the %s its audio is', (place) => {
    const audio = { in: place, format: 's16@16000' };
    const body = { text: '{text}' };
    const { error } = requestVoiceDescription.safeParse({ body, audio });
    expect(error?.issues).toMatchObject([{ path: ['audio', 'path'] }]);
    const whole = { body, audio: { ...audio, path: 'data.audio' } };
    expect(requestVoiceDescription.safeParse(whole).success).toBe(true);
  });
});

describe('a template', () => {
  it('takes values of any type, and leaves out what has none', () => {
    const template = { a: '{list}', b: ['{none}', 'x {text}'], c: '{none}', d: 'a {none}', e: 1 };
    const values = { list: ['y'], text: '{list}', none: undefined };
    expect(filled(template, values)).toEqual({ a: ['y'], b: ['x {list}'], e: 1 });
    expect(messageText('finalize', {})).toBe('finalize');
    expect(messageText('', {})).toBe('');
    expect(messageText('{unknown}', {})).toBe('{unknown}');
  });

  it('does not read what is in a prototype', () => {
    expect(filled('{constructor}', {})).toBe('{constructor}');
    const path = '/{constructor}/{__proto__}';
    expect(addressOf('wss://a.example', { path, query: {} }, {})).toBe(
      'wss://a.example/%22%22/%22%22',
    );
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
        meetsConditions(message, [
          { path: 'a.b', not: 1 },
          { path, in: ['x'] },
        ]);
      }),
    );
  });
});

describe('the address of a service', () => {
  it.each([
    ['wss://me:hunter2@stt.example', /api_key/],
    ['wss://hunter2@stt.example', /api_key/],
    ['wss://stt.example/v1?token=hunter2', /query of the description/],
    ['wss://stt.example/#x', /fragment/],
    [`wss://stt.example/${'/'.repeat(3_000)}a`, /2000/],
  ])('is not %s', (address, words) => {
    const row = { provider: 'websocket_stt', base_url: address, description: { audio } };
    const checked = storableService('stt', row);
    expect('problem' in checked && checked.problem).toMatch(words);
    expect(JSON.stringify(checked)).not.toContain('hunter2');
  });

  it('has no user name with any service', () => {
    const address = 'https://me:hunter2@llm.example/v1';
    for (const [job, provider, field] of [
      ['llm', 'openai', 'base_url'],
      ['llm', 'azure', 'endpoint'],
      ['stt', 'deepgram', 'base_url'],
      ['tts', 'elevenlabs', 'base_url'],
      ['tts', 'openai_compatible', 'base_url'],
    ] as const) {
      const checked = storableService(job, { provider, api_key: 'k', [field]: address });
      expect([provider, checked]).toEqual([
        ...[provider, { problem: expect.stringContaining(`${field}: must not have a user name`) }],
      ]);
    }
  });
});

describe('a stored description', () => {
  const description = { audio, open: [{ api_key: '{key}', token: 'x {key}' }] };
  const service = {
    provider: 'websocket_stt',
    base_url: 'wss://stt.example',
    description,

    api_key: 'key-0123456789',
    api_secret: 'secret-0123456789',
  };

  it('is shown as it is, with its keys masked, and comes back with them', () => {
    const shown = maskServices(service);
    expect(shown).toEqual({
      ...service,

      api_key: '************6789',
      api_secret: '************6789',
    });
    expect(withStoredSecrets('stt', shown as typeof service, [service])).toEqual(service);
  });
});
