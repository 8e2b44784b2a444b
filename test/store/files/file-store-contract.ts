// What every file store does, whatever holds its files. The keys are those that need care in a URL, too.

import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { FileStore } from '../../../src/store/files/file-store.ts';

export async function codeFrom(work: Promise<unknown>): Promise<string | undefined> {
  return work.then(
    () => undefined,
    (error: unknown) => codeOf(error) ?? String(error),
  );
}

export async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const each of texts) yield Buffer.from(each);
}

/** Defines the tests. Each has files of its own in the store. */
export function isFileStore(open: () => FileStore): void {
  let files: FileStore;
  let folder = 0;
  const key = (name: string): string => `campaigns/${folder}/${name}`;
  const begin = (): void => {
    files = open();
    folder += 1;
  };

  it.each(['a.txt', '1 a+b(ü).txt', 'März @ (1)-2.csv'])(
    'gives back what was written under %j, whole and in part',
    async (name) => {
      begin();
      await files.write(key(name), Buffer.from('hello world'));
      expect((await files.readAll(key(name))).toString()).toBe('hello world');
      expect(await text(await files.read(key(name)))).toBe('hello world');
      expect(await text(await files.read(key(name), { start: 6, end: 8 }))).toBe('wor');
      const status = await files.stat(key(name));
      expect(status?.size).toBe(11);
      expect(Math.abs((status?.modifiedAt.getTime() ?? 0) - Date.now())).toBeLessThan(60_000);
    },
  );

  it('replaces a file by `write`, which changes its ETag', async () => {
    begin();
    await files.write(key('a'), Buffer.from('one'));
    const first = await files.stat(key('a'));
    expect(await files.stat(key('a'))).toEqual(first);
    await files.write(key('a'), Buffer.from('three'));
    expect((await files.readAll(key('a'))).toString()).toBe('three');
    expect((await files.stat(key('a')))?.etag).not.toBe(first?.etag);
    expect(first?.etag).toMatch(/^"[^"]+"$/);
  });

  it('has empty files', async () => {
    begin();
    await files.write(key('empty'), Buffer.alloc(0));
    expect((await files.stat(key('empty')))?.size).toBe(0);
    expect(await files.readAll(key('empty'))).toHaveLength(0);
  });

  it('stores a file that is sent, once', async () => {
    begin();
    await files.receive(key('list.csv'), pieces('one,', 'two'), 7);
    expect((await files.readAll(key('list.csv'))).toString()).toBe('one,two');
    const again = files.receive(key('list.csv'), pieces('other'), 7);
    expect(await codeFrom(again)).toBe('FILE_EXISTS');
    expect((await files.readAll(key('list.csv'))).toString()).toBe('one,two');
  });

  it('stores nothing of a file that is longer than announced or breaks off', async () => {
    begin();
    const long = files.receive(key('long.csv'), pieces('12345', '67'), 6);
    expect(await codeFrom(long)).toBe('FILE_OVERSIZED');
    async function* broken(): AsyncGenerator<Uint8Array> {
      yield Buffer.from('half');
      throw new Error('the line is dead');
    }
    expect(await codeFrom(files.receive(key('half.csv'), broken(), 100))).toMatch(/line is dead/);
    for (const name of ['long.csv', 'half.csv']) {
      expect(await files.stat(key(name))).toBeUndefined();
    }
  });

  it('says what does not exist', async () => {
    begin();
    expect(await files.stat(key('none'))).toBeUndefined();
    expect(await codeFrom(files.readAll(key('none')))).toBe('FILE_NOT_FOUND');
    expect(await codeFrom(files.read(key('none')))).toBe('FILE_NOT_FOUND');
    await files.remove(key('none'));
    await files.write(key('some'), Buffer.from('x'));
    await files.remove(key('some'));
    expect(await files.stat(key('some'))).toBeUndefined();
  });

  it.each(['', '/etc/passwd', '../x', 'a//b', '.hidden', 'a\\b'])(
    'refuses the key %j',
    async (bad) => {
      begin();
      const works = [
        files.write(bad, Buffer.alloc(1)),
        files.receive(bad, pieces('x'), 1),
        files.stat(bad),
        files.read(bad),
        files.readAll(bad),
        files.remove(bad),
      ];
      const codes = await Promise.all(works.map(codeFrom));
      expect(codes).toEqual(works.map(() => 'FILE_KEY_INVALID'));
    },
  );
}
