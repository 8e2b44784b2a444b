// Masks of services' secrets: what they show, and which stored secret they stand for.

import { describe, expect, it } from 'vitest';
import {
  maskedField,
  maskOf,
  maskServices,
  withStoredSecrets,
} from '../../../src/model/speech-services/service-masks.ts';

const KEY = 'sk-0123456789abcdef';
const OTHER = 'sk-another-key-9876';
const elsewhere = 'https://llm.example.com/v1';

function openai(fields: Record<string, unknown> = {}) {
  return { provider: 'openai', model: 'm', ...fields };
}

describe('a mask', () => {
  it('is of one length and shows the last four characters of a long secret', () => {
    expect(maskOf(KEY)).toBe('************cdef');
    expect(maskOf(`${KEY}${KEY}`)).toBe('************cdef');
    expect(maskOf('short')).toBe('****************');
  });

  it('covers every secret, in lists and objects too, and nothing else', () => {
    const masked = maskServices({
      llm: openai({ api_key: [KEY, OTHER], fallbacks: [openai({ api_key: KEY })] }),
      tts: { provider: 'google', credentials: { private_key: KEY }, voice: 'a' },
    });
    expect(masked).toEqual({
      llm: openai({
        api_key: ['************cdef', '************9876'],
        fallbacks: [openai({ api_key: '************cdef' })],
      }),
      tts: { provider: 'google', credentials: { private_key: '************cdef' }, voice: 'a' },
    });
  });

  it('is found by its stars, under the name of its field', () => {
    expect(maskedField({ llm: openai({ api_key: ['new', '***abcd'] }) })).toBe('api_key');
    expect(maskedField({ llm: openai({ api_key: KEY, model: '***' }) })).toBeUndefined();
  });
});

describe('the secrets of a service that comes back', () => {
  const merged = (sent: Record<string, unknown>, stored: Record<string, unknown>) =>
    withStoredSecrets('llm', openai(sent), [openai(stored)]);

  it('stay where they are left out or null', () => {
    expect(merged({}, { api_key: KEY })['api_key']).toBe(KEY);
    expect(merged({ api_key: null }, { api_key: KEY })['api_key']).toBe(KEY);
  });

  it.each([
    ['the mask of this gateway', maskOf(KEY)],
    ['the mask of the reference', `${'*'.repeat(KEY.length - 4)}cdef`],
  ])('are restored from %s', (_what, mask) => {
    expect(merged({ api_key: mask }, { api_key: KEY })['api_key']).toBe(KEY);
  });

  it('are restored element by element, in the order that was sent', () => {
    const sent = { api_key: [maskOf(OTHER), 'sk-new', maskOf(KEY)] };
    expect(merged(sent, { api_key: [KEY, OTHER] })['api_key']).toEqual([OTHER, 'sk-new', KEY]);
  });

  it('stay masks where they are masks of nothing that is stored', () => {
    expect(merged({ api_key: '************zzzz' }, { api_key: KEY })['api_key']).toContain('***');
    const twice = merged({ api_key: [maskOf(KEY), maskOf(KEY)] }, { api_key: KEY });
    expect(maskedField(twice)).toBe('api_key');
  });

  it('are not those of another provider', () => {
    const sent = { provider: 'groq', model: 'm', api_key: maskOf(KEY) };
    expect(withStoredSecrets('llm', sent, [openai({ api_key: KEY })])).toEqual(sent);
    const bare = { provider: 'groq', model: 'm' };
    expect(withStoredSecrets('llm', bare, [openai({ api_key: KEY })])).toEqual(bare);
  });

  it('do not go to another address', () => {
    expect(merged({ base_url: elsewhere }, { api_key: KEY })).not.toHaveProperty('api_key');
    const masked = merged({ base_url: elsewhere, api_key: maskOf(KEY) }, { api_key: KEY });
    expect(maskedField(masked)).toBe('api_key');
  });

  it('follow their account when fallbacks change places', () => {
    const stored = openai({
      api_key: KEY,
      fallbacks: [openai({ base_url: elsewhere, api_key: OTHER })],
    });
    const sent = openai({
      base_url: elsewhere,
      api_key: maskOf(OTHER),
      fallbacks: [openai({ api_key: null })],
    });
    expect(withStoredSecrets('llm', sent, [stored])).toEqual(
      openai({ base_url: elsewhere, api_key: OTHER, fallbacks: [openai({ api_key: KEY })] }),
    );
  });
});
