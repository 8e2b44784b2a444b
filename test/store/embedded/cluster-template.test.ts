// New databases as copies of a template.

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { prepareCluster, TEMPLATE_VERSION } from '../../../src/store/embedded/cluster-template.ts';

let root = '';
let made: string[] = [];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'patchbay-template-'));
  made = [];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

async function initialise(folder: string): Promise<void> {
  made.push(folder);
  mkdirSync(join(folder, 'base/1'), { recursive: true });
  writeFileSync(join(folder, 'PG_VERSION'), '18\n');
  writeFileSync(join(folder, 'base/1/112'), Buffer.alloc(8_192, 7));
}

function prepare(name: string, cacheFolder = join(root, 'cache')): Promise<string> {
  return prepareCluster({ folder: join(root, name), cacheFolder, initialise });
}

function isWhole(name: string): boolean {
  return readFileSync(join(root, name, 'base/1/112')).equals(Buffer.alloc(8_192, 7));
}

describe('a new cluster', () => {
  it('is made once and copied ever after', async () => {
    expect(await prepare('one')).toBe('new');
    expect(await prepare('two')).toBe('new');
    expect(made).toHaveLength(1);
    expect([isWhole('one'), isWhole('two')]).toEqual([true, true]);
  });

  it('is not touched when it is there', async () => {
    await prepare('one');
    writeFileSync(join(root, 'one/mine'), 'data');
    expect(await prepare('one')).toBe('existing');
    expect(existsSync(join(root, 'one/mine'))).toBe(true);
  });

  it('is started again when an earlier start was killed on the way', async () => {
    mkdirSync(join(root, 'one.new/base'), { recursive: true });
    writeFileSync(join(root, 'one.new/PG_VERSION'), '18\n');
    expect(await prepare('one')).toBe('new');
    expect(isWhole('one')).toBe(true);
    expect(readdirSync(root).sort()).toEqual(['cache', 'one']);
  });

  it('is made without a cache folder where none can be written', async () => {
    writeFileSync(join(root, 'cache'), 'a file');
    expect(await prepare('one')).toBe('new');
    expect(isWhole('one')).toBe(true);
  });

  it('is not copied from a template that lost a file', async () => {
    await prepare('one');
    const template = join(root, 'cache', `postgres-${TEMPLATE_VERSION}`);
    rmSync(join(template, 'cluster/base/1/112'));
    expect(await prepare('two')).toBe('new');
    expect(isWhole('two')).toBe(true);
    await prepare('three');
    expect(isWhole('three')).toBe(true);
    expect(made).toHaveLength(3);
  });

  it('belongs to the engine that is installed', () => {
    const text = readFileSync('node_modules/@electric-sql/pglite/package.json', 'utf8');
    expect(JSON.parse(text)).toMatchObject({ version: TEMPLATE_VERSION });
  });
});
