// Keys that seal stored secrets: from the configuration, or from a file that is created at the first start. The first
// key seals, every key unseals; for rotation, put a new key before the old one.

import { createHash, hkdfSync } from 'node:crypto';
import {
  chmodSync,
  existsSync,
  linkSync,
  lstatSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Random } from '../../std/random.ts';

const KEY_BYTES = 32;
/** Most keys, more than any rotation needs; a longer list is a mistake. */
const KEYS_MAX = 16;

export interface SecretKey {
  /** Eight hex digits derived from the key, which identify the key that sealed a text. */
  id: string;
  key: Buffer;
}

/** Parses keys of 32 bytes, as 64 hex digits or base64, with commas or white space between them. Throws CONFIG_INVALID,
 *  which never quotes a key. */
export function parseSecretKeys(text: string): SecretKey[] {
  const words = text.split(/[\s,]+/).filter((word) => word !== '');
  if (words.length === 0 || words.length > KEYS_MAX) {
    throw invalid(`give 1 to ${KEYS_MAX} secret keys`);
  }
  return words.map((word, index) => {
    const key = Buffer.from(word, /^[0-9a-f]{64}$/i.test(word) ? 'hex' : 'base64');
    if (key.length !== KEY_BYTES) throw invalid(`secret key ${index + 1} is not 32 bytes`);
    return { id: createHash('sha256').update(key).digest('hex').slice(0, 8), key };
  });
}

/** Derives a 32-byte key for one purpose, the same at every start; it reveals nothing about `key`. */
export function deriveKey({ key }: SecretKey, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', key, '', `patchbay ${purpose}`, KEY_BYTES));
}

/** The keys in the file at `path`, which is created if it is missing. Throws CONFIG_INVALID if other users may
 *  read it. */
export function readKeyFile(path: string, random: Random): SecretKey[] {
  if (!existsSync(path)) makeKeyFile(path, random);
  const status = lstatSync(path);
  if (!status.isFile()) throw invalid(`${path} is not a file`);
  if (process.platform !== 'win32' && (status.mode & 0o077) !== 0) {
    throw invalid(`others may read ${path}; run: chmod 600 ${path}`);
  }
  return parseSecretKeys(readFileSync(path, 'utf8'));
}

/** Creates the file completely or not at all, and never over one that another process has just created. */
function makeKeyFile(path: string, random: Random): void {
  const unfinished = `${path}.${random.uuid()}`;
  writeFileSync(unfinished, `${random.bytes(KEY_BYTES).toString('hex')}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  });
  chmodSync(unfinished, 0o600);
  try {
    linkSync(unfinished, path);
  } catch (error) {
    if (!existsSync(path)) throw error;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function invalid(problems: string): GatewayError {
  return new GatewayError('CONFIG_INVALID', { problems });
}
