// Seals secrets before they are stored: AES-256-GCM, bound to the organization and the field, so that sealed text in
// another row or field cannot be unsealed. Passwords and API keys are hashed instead. Source: NIST SP 800-38D (96-bit
// random nonce, 128-bit tag).

import { createCipheriv, createDecipheriv } from 'node:crypto';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Random } from '../../std/random.ts';
import type { SecretKey } from './secret-keys.ts';

const NONCE_BYTES = 12;
const TAG_BYTES = 16;
const SEALED = /^sealed:([0-9a-f]{8}):([A-Za-z0-9_-]+)$/;

/** The organization and field of a secret. */
export interface SecretContext {
  organizationId: string;
  field: string;
}

export class SecretBox {
  readonly #keys: ReadonlyMap<string, Buffer>;
  readonly #newest: SecretKey;
  readonly #random: Random;

  /** `keys`: at least one; the first seals. */
  constructor(keys: readonly [SecretKey, ...SecretKey[]], random: Random) {
    this.#keys = new Map(keys.map(({ id, key }) => [id, key]));
    this.#newest = keys[0];
    this.#random = random;
  }

  seal(text: string, place: SecretContext): string {
    const nonce = this.#random.bytes(NONCE_BYTES);
    const cipher = createCipheriv('aes-256-gcm', this.#newest.key, nonce);
    cipher.setAAD(boundTo(place));
    const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final()]);
    const bytes = Buffer.concat([sealed, cipher.getAuthTag()]);
    return `sealed:${this.#newest.id}:${bytes.toString('base64url')}`;
  }

  /** Unseals a text. Throws SECRET_KEY_MISSING, SECRET_UNREADABLE. */
  open(sealed: string, place: SecretContext): string {
    const [, keyId, body] = SEALED.exec(sealed) ?? [];
    if (keyId === undefined || body === undefined) throw unreadable(place);
    const key = this.#keys.get(keyId);
    if (key === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId });
    const bytes = Buffer.from(body, 'base64url');
    if (bytes.length < NONCE_BYTES + TAG_BYTES) throw unreadable(place);
    try {
      const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, NONCE_BYTES), {
        authTagLength: TAG_BYTES,
      });
      decipher.setAAD(boundTo(place));
      decipher.setAuthTag(bytes.subarray(-TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    } catch (error) {
      throw unreadable(place, error);
    }
  }

  /** Whether `sealed` was sealed by the newest key. */
  isNewest(sealed: string): boolean {
    return SEALED.exec(sealed)?.[1] === this.#newest.id;
  }
}

function boundTo({ organizationId, field }: SecretContext): Buffer {
  return Buffer.from(JSON.stringify([organizationId, field]));
}

function unreadable(place: SecretContext, cause?: unknown): GatewayError {
  return new GatewayError('SECRET_UNREADABLE', { field: place.field }, cause);
}
