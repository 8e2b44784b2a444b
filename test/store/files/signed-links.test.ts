// Signed links to files.

import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  FileLinks,
  LINK_LIFE_S_MAX,
  type LinkedFile,
} from '../../../src/store/files/signed-links.ts';
import { parseSecretKeys } from '../../../src/store/secrets/secret-keys.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const [OLD, NEW] = ['11', '22'].map((byte) => parseSecretKeys(byte.repeat(32))) as [
  ReturnType<typeof parseSecretKeys>,
  ReturnType<typeof parseSecretKeys>,
];
const FILE: LinkedFile = { key: 'recordings/42.wav', inline: false, fileName: 'call 42.wav' };

function make(keys = OLD) {
  const clock = new FakeClock();
  return { clock, links: new FileLinks({ keys, clock, basePath: '/api/v1/files' }) };
}

/** What a server hands in for a link. */
function request(link: string, method = 'GET') {
  const url = new URL(link, 'http://gateway');
  const key = decodeURIComponent(url.pathname.slice('/api/v1/files/'.length));
  return { method, key, query: Object.fromEntries(url.searchParams) };
}

const INVALID = expect.objectContaining({ code: 'FILE_LINK_INVALID' });

describe('file links', () => {
  it('grants what was signed', () => {
    const { links } = make();
    fc.assert(
      fc.property(
        fc.record({
          key: fc.stringMatching(/^[a-z]{1,5}(\/[a-z0-9 ä]{1,9}){0,2}$/),
          inline: fc.boolean(),
          fileName: fc.option(fc.string({ unit: 'grapheme' })),
        }),
        (file) => {
          const link = links.sign({ ...file, expiresInS: 60 });
          expect(links.verify(request(link))).toEqual(file);
          expect(links.verify(request(link, 'HEAD'))).toEqual(file);
        },
      ),
    );
  });

  it('ends when its time is over', () => {
    const { clock, links } = make();
    const link = links.sign({ ...FILE, expiresInS: 60 });
    clock.advance(59_999);
    expect(links.verify(request(link))).toEqual(FILE);
    clock.advance(1);
    expect(() => links.verify(request(link))).toThrow(INVALID);
  });

  it('is valid for a week at most', () => {
    const { clock, links } = make();
    const link = links.sign({ ...FILE, expiresInS: 1e9 });
    clock.advance(LINK_LIFE_S_MAX * 1_000);
    expect(() => links.verify(request(link))).toThrow(INVALID);
  });

  it.each([
    ['another key', { key: 'recordings/43.wav' }],
    ['another method', { method: 'PUT' }],
  ])('grants nothing to %s', (_what, change) => {
    const { links } = make();
    const link = links.sign({ ...FILE, expiresInS: 60 });
    expect(() => links.verify({ ...request(link), ...change })).toThrow(INVALID);
  });

  it.each([
    ['a later end', { expires: '9999999999' }],
    ['another disposition', { inline: '1' }],
    ['another name', { name: 'other.exe' }],
    ['no signature', { signature: undefined }],
    ['two signatures', { signature: ['a', 'b'] }],
    ['a short signature', { signature: 'AAAA' }],
    ['an end that is no number', { expires: '1e9' }],
  ])('grants nothing with %s', (_what, change) => {
    const { links } = make();
    const { query, ...rest } = request(links.sign({ ...FILE, expiresInS: 60 }));
    expect(() => links.verify({ ...rest, query: { ...query, ...change } })).toThrow(INVALID);
  });

  it('grants the sending of one file of that type and size, and only that', () => {
    const { clock, links } = make();
    const upload = { key: 'campaigns/7/a.csv', contentType: 'text/csv', bytes: 10_000 };
    const { key, query } = request(links.signUpload({ ...upload, expiresInS: 60 }));
    expect(links.verifyUpload({ key, query })).toEqual(upload);
    const later = `${Number(query['expires']) + 1}`;
    for (const change of [
      { type: 'text/html' },
      { size: '10001' },
      { size: '1e9' },
      { expires: later },
    ]) {
      expect(() => links.verifyUpload({ key, query: { ...query, ...change } })).toThrow(INVALID);
    }
    expect(() => links.verifyUpload({ key: 'campaigns/8/a.csv', query })).toThrow(INVALID);
    for (const method of ['GET', 'HEAD', 'PUT']) {
      expect(() => links.verify({ method, key, query })).toThrow(INVALID);
    }
    clock.advance(60_000);
    expect(() => links.verifyUpload({ key, query })).toThrow(INVALID);
  });

  it('does not take a link to read for one to send', () => {
    const { links } = make();
    const { key, query } = request(links.sign({ ...FILE, expiresInS: 60 }));
    expect(() =>
      links.verifyUpload({ key, query: { ...query, type: 'text/csv', size: '1' } }),
    ).toThrow(INVALID);
  });

  it('takes links of the older key after a rotation, not of an unknown key', () => {
    const old = make(OLD).links.sign({ ...FILE, expiresInS: 60 });
    const { links } = make([...NEW, ...OLD]);
    expect(links.verify(request(old))).toEqual(FILE);
    expect(() => make(NEW).links.verify(request(old))).toThrow(INVALID);
  });

  it('answers any query with a code', () => {
    const { links } = make();
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.anything()), fc.string(), (query, key) => {
        expect(() => links.verify({ method: 'GET', key, query })).toThrow(INVALID);
        expect(() => links.verifyUpload({ key, query })).toThrow(INVALID);
      }),
    );
  });
});
