// Password hashing by scrypt (RFC 7914) off the main thread, a few at a time. A stored hash has its parameters, so that
// they can be raised: `scrypt$<log2 N>$<r>$<p>$<salt>$<hash>`, base64url.

import { scrypt, timingSafeEqual } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Random } from '../../std/random.ts';

export interface PasswordCost {
  /** Base-2 logarithm of N. A hash needs 128 bytes times r times N. */
  log2N: number;
  r: number;
  p: number;
}

/** Cost of a hash: 32 MiB and about 0.2 s of one core; one of the settings that OWASP's cheat sheet lists as equal. */
const COST: PasswordCost = { log2N: 15, r: 8, p: 3 };
const SALT_BYTES = 16;
const HASH_BYTES = 32;
/** Concurrent hashes: they use libuv's four threads, which file access shares. */
const AT_ONCE_MAX = 2;
/** Waiting hashes: a further one would wait for more than two seconds. */
const WAITING_MAX = 20;

interface Stored {
  cost: PasswordCost;
  salt: Buffer;
  hash: Buffer;
}

export class Passwords {
  readonly #random: Random;
  readonly #cost: PasswordCost;
  /** Hash that is checked for a user that does not exist. */
  readonly #decoy: Stored;
  readonly #waiting: (() => void)[] = [];
  #running = 0;

  constructor(random: Random, cost: PasswordCost = COST) {
    this.#random = random;
    this.#cost = cost;
    this.#decoy = { cost, salt: random.bytes(SALT_BYTES), hash: random.bytes(HASH_BYTES) };
  }

  /** Throws QUEUE_FULL. */
  async hash(password: string): Promise<string> {
    const salt = this.#random.bytes(SALT_BYTES);
    const hash = await this.#derive(password, { cost: this.#cost, salt });
    const { log2N, r, p } = this.#cost;
    const bytes = [salt, hash].map((each) => each.toString('base64url'));
    return ['scrypt', log2N, r, p, ...bytes].join('$');
  }

  /** Whether `password` matches the hash `stored`. Without a stored hash returns false, after the same work. Throws
   *  QUEUE_FULL. */
  async verify(password: string, stored: string | undefined): Promise<boolean> {
    const known = stored === undefined ? undefined : parse(stored);
    const { hash, ...means } = known ?? this.#decoy;
    const given = await this.#derive(password, means);
    return timingSafeEqual(given, hash) && known !== undefined;
  }

  async #derive(password: string, { cost, salt }: Omit<Stored, 'hash'>): Promise<Buffer> {
    await this.#enter();
    try {
      return await derive(password.normalize('NFKC'), cost, salt);
    } finally {
      this.#leave();
    }
  }

  async #enter(): Promise<void> {
    if (this.#running < AT_ONCE_MAX) {
      this.#running += 1;
      return;
    }
    if (this.#waiting.length >= WAITING_MAX) {
      throw new GatewayError('QUEUE_FULL', { queue: 'of passwords' });
    }
    await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }

  /** Passes the place to the next waiting hash, if there is one. */
  #leave(): void {
    const next = this.#waiting.shift();
    if (next === undefined) this.#running -= 1;
    else next();
  }
}

function derive(password: string, { log2N, r, p }: PasswordCost, salt: Buffer): Promise<Buffer> {
  const blockBytes = 128 * r;
  const options = { N: 2 ** log2N, r, p, maxmem: 2 * blockBytes * (2 ** log2N + p) };
  return new Promise((resolve, reject) => {
    scrypt(password, salt, HASH_BYTES, options, (error, hash) => {
      if (error === null) resolve(hash);
      else reject(error);
    });
  });
}

/** Parses a stored hash; undefined if it has another format. */
function parse(text: string): Stored | undefined {
  const parts = /^scrypt\$(\d{1,2})\$(\d{1,2})\$(\d{1,2})\$([\w-]+)\$([\w-]+)$/.exec(text);
  if (parts === null) return undefined;
  const [log2N = 0, r = 0, p = 0] = parts.slice(1, 4).map(Number);
  const hash = Buffer.from(parts[5] ?? '', 'base64url');
  if (hash.length !== HASH_BYTES) return undefined;
  return { cost: { log2N, r, p }, salt: Buffer.from(parts[4] ?? '', 'base64url'), hash };
}
