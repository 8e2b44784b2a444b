// Sealing and its keys. Source: NIST SP 800-38D; dependencies: key id, nonce, tag, bound to
// organization and field.

import {
  chmodSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { SecretBox } from '../../../src/store/secrets/secret-box.ts';
import {
  parseSecretKeys,
  readKeyFile,
  type SecretKey,
} from '../../../src/store/secrets/secret-keys.ts';

const PLACE = { organizationId: '7', field: 'auth_token' };
const [OLD, NEW] = parseSecretKeys(`${'11'.repeat(32)} ${'22'.repeat(32)}`) as [
  SecretKey,
  SecretKey,
];

function codeFrom(work: () => unknown): string | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return codeOf(error) ?? String(error);
  }
}

describe('sealing', () => {
  const box = new SecretBox([OLD], systemRandom);

  it('opens what it sealed, for any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), (text) => {
        expect(box.open(box.seal(text, PLACE), PLACE)).toBe(text);
      }),
    );
  });

  it('never gives the same sealed text twice, and none that holds the secret', () => {
    const sealed = [1, 2, 3].map(() => box.seal('hunter2hunter2', PLACE));
    expect(new Set(sealed).size).toBe(3);
    expect(sealed.join()).not.toContain('hunter2');
  });

  it('does not open in another organization or field', () => {
    const sealed = box.seal('secret', PLACE);
    for (const place of [
      { ...PLACE, organizationId: '8' },
      { ...PLACE, field: 'api_key' },
    ]) {
      expect(codeFrom(() => box.open(sealed, place))).toBe('SECRET_UNREADABLE');
    }
  });

  it('does not open when one character differs', () => {
    const sealed = box.seal('secret', PLACE);
    for (let i = 'sealed:00000000:'.length; i < sealed.length - 1; i++) {
      const other = sealed[i] === 'A' ? 'B' : 'A';
      const changed = sealed.slice(0, i) + other + sealed.slice(i + 1);
      expect(codeFrom(() => box.open(changed, PLACE))).toBe('SECRET_UNREADABLE');
    }
  });

  it('answers any text with its value or a code', () => {
    fc.assert(
      fc.property(
        fc.oneof(fc.string(), fc.stringMatching(/^sealed:[0-9a-f]{8}:[\w-]*$/)),
        (text) => {
          expect(['SECRET_UNREADABLE', 'SECRET_KEY_MISSING']).toContain(
            codeFrom(() => box.open(text, PLACE)),
          );
        },
      ),
    );
  });

  it('seals by the newest key and opens by all', () => {
    const sealed = box.seal('secret', PLACE);
    const rotated = new SecretBox([NEW, OLD], systemRandom);
    expect(rotated.open(sealed, PLACE)).toBe('secret');
    expect(rotated.isNewest(sealed)).toBe(false);
    const fresh = rotated.seal('secret', PLACE);
    expect(rotated.isNewest(fresh)).toBe(true);
    expect(codeFrom(() => box.open(fresh, PLACE))).toBe('SECRET_KEY_MISSING');
  });
});

describe('secret keys', () => {
  let folder = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'patchbay-keys-'));
  });
  afterEach(() => rmSync(folder, { recursive: true, force: true }));

  it('takes hex and base64, with commas or white space between', () => {
    const bytes = Buffer.alloc(32, 0xfb);
    const keys = parseSecretKeys(
      ` ${bytes.toString('hex')},${bytes.toString('base64')}\n${bytes.toString('base64url')} `,
    );
    expect(keys.map(({ key }) => key)).toEqual([bytes, bytes, bytes]);
    expect(new Set(keys.map(({ id }) => id)).size).toBe(1);
  });

  it.each(['', 'short', 'ab'.repeat(33), Array(17).fill('11'.repeat(32)).join()])(
    'refuses %j without quoting it',
    (text) => {
      let message = '';
      try {
        parseSecretKeys(text);
      } catch (error) {
        message = String(error);
      }
      expect(message).toContain('Configuration is invalid');
      if (text !== '') expect(message).not.toContain(text);
    },
  );

  it('makes a key file that only its owner may read, and keeps it', () => {
    const path = join(folder, 'secret.key');
    const made = readKeyFile(path, systemRandom);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readKeyFile(path, systemRandom)).toEqual(made);
    expect(readdirSync(folder)).toEqual(['secret.key']);
  });

  it('refuses a key file that others may read, or that is a link', () => {
    const path = join(folder, 'secret.key');
    readKeyFile(path, systemRandom);
    chmodSync(path, 0o640);
    expect(codeFrom(() => readKeyFile(path, systemRandom))).toBe('CONFIG_INVALID');
    const link = join(folder, 'link.key');
    writeFileSync(join(folder, 'target'), '11'.repeat(32), { mode: 0o600 });
    symlinkSync(join(folder, 'target'), link);
    expect(codeFrom(() => readKeyFile(link, systemRandom))).toBe('CONFIG_INVALID');
  });
});
