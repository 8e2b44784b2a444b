// Questions about services that their rows answer: what may be stored, which fields are secret, which accounts are one.

import { describe, expect, it } from 'vitest';
import {
  isSameAccount,
  isServiceSecret,
  storableService,
} from '../../../src/model/speech-services/service-rows.ts';

describe('a service as it is stored', () => {
  it('has the defaults of its row, no nulls and no unknown fields', () => {
    const sent = { provider: 'openai', api_key: 'sk-a', model: 'm', base_url: null, colour: 'red' };
    expect(storableService('llm', sent)).toEqual({
      service: {
        provider: 'openai',
        api_key: 'sk-a',
        model: 'm',
        base_url: 'https://api.openai.com/v1',
      },
    });
  });

  it('keeps a list of keys', () => {
    const stored = storableService('llm', { provider: 'openai', api_key: ['a', 'b'] });
    expect(stored).toMatchObject({ service: { api_key: ['a', 'b'] } });
  });

  it.each([
    ['no keys', []],
    ['an empty key', ['a', '']],
    ['no text', [1]],
    ['a key with a line break', ['a', 'sk-a\nb']],
    ['33 keys', Array.from({ length: 33 }, (_, nth) => `key-${nth}`)],
  ])('is refused with a list of %s', (_what, keys) => {
    expect(storableService('llm', { provider: 'openai', api_key: keys })).toEqual({
      problem: expect.stringMatching(/^api_key: /),
    });
  });

  it.each([
    ['typographic quotes', '“sk-abcdef”'],
    ['a line break', 'sk-abc\ndef'],
    ['an invisible space', 'sk-abc\u200bdef'],
    ['a space', 'sk-abc def'],
  ])('is refused with a key that has %s, which no header carries', (_what, key) => {
    const fallible = [
      storableService('llm', { provider: 'anthropic', api_key: key }),
      storableService('stt', { provider: 'deepgram', api_key: key }),
      storableService('tts', { provider: 'elevenlabs', api_key: key, voice: 'v' }),
      storableService('tts', { provider: 'lmnt', api_key: key }),
    ];
    for (const refused of fallible) {
      expect(refused).toEqual({ problem: expect.stringMatching(/^api_key: .*copy the key again/) });
    }
    const pasted = storableService('stt', { provider: 'deepgram', api_key: ' sk-abc\n' });
    expect(pasted).toMatchObject({ service: { api_key: 'sk-abc' } });
  });

  it('keeps words of a vocabulary that read like the begin of a header with a key', () => {
    const keyterms = ['Basic plan', 'Key West', 'token ring', 'bearer bond'];
    const sent = { provider: 'deepgram', api_key: 'k', keyterms };
    expect(storableService('stt', sent)).toMatchObject({ service: { keyterms } });
  });

  it('is refused with the schemes of its address, where it has another one or none', () => {
    const problemOf = (provider: string, baseUrl: string) =>
      storableService('stt', { provider, api_key: 'k', base_url: baseUrl });
    for (const address of ['http://localhost:10300', 'localhost:10300', '']) {
      expect(problemOf('wyoming', address)).toEqual({
        problem: 'base_url: is not an address that begins with tcp://',
      });
    }
    expect(problemOf('deepgram', 'tcp://localhost')).toEqual({
      problem: 'base_url: is not an address that begins with ws://, wss://, http:// or https://',
    });
  });

  it('is refused without a field that it needs, in words', () => {
    expect(storableService('stt', { provider: 'deepgram' })).toEqual({
      problem: 'api_key: is missing',
    });
    expect(storableService('tts', { provider: 'openai_compatible' })).toEqual({
      problem: 'base_url: is missing',
    });
  });

  it('is refused under a name of another job', () => {
    expect(storableService('stt', { provider: 'flite' })).toEqual({
      problem: expect.stringMatching(
        /^Unknown provider: flite\. There are: pocketsphinx, deepgram, /,
      ),
    });
  });
});

describe('secret fields', () => {
  it.each(['api_key', 'credentials', 'aws_access_key', 'aws_secret_key', 'qa_api_key'])(
    '%s is one',
    (name) => expect(isServiceSecret(name)).toBe(true),
  );

  it.each(['provider', 'model', 'voice', 'base_url', 'language', 'keyterms'])(
    '%s is none',
    (name) => expect(isServiceSecret(name)).toBe(false),
  );
});

describe('an account', () => {
  const account = (job: 'llm' | 'tts', fields: Record<string, unknown>) => ({
    job,
    service: { provider: 'openai', ...fields },
  });

  it('is the same with the default address given or not', () => {
    const given = account('llm', { base_url: 'https://api.openai.com/v1' });
    expect(isSameAccount(account('llm', {}), given)).toBe(true);
  });

  it.each(['base_url', 'endpoint', 'url', 'uri', 'host'])(
    'is another one with another %s',
    (name) => {
      const other = account('llm', { [name]: 'https://other.example.com' });
      expect(isSameAccount(account('llm', {}), other)).toBe(false);
    },
  );
});
