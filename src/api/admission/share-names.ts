// Names of the shares of requests whose key has not been checked yet: the organization that the key belonged to before,
// or the client's address. A name proves nothing: the key is checked all the same.

import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { clientName } from '../../std/client-address.ts';
import { organizationShare } from '../../std/work-share.ts';

/** Keys that are cached, as a hash and an id each; the least recently used is removed first. */
const KEYS_MAX = 10_000;
/** Longest text that counts as a key. */
const KEY_LENGTH_MAX = 4_096;

export class ShareNames {
  readonly #organizations = new Map<string, string>();

  nameOf(request: FastifyRequest): string {
    if (request.principal !== null) return organizationShare(request.principal.organizationId).name;
    const key = keyOf(request);
    const organization = key === undefined ? undefined : this.#organizations.get(key);
    return organization ?? `address ${clientName(request.ip)}`;
  }

  /** Caches the organization of the request's key, once the check of the key has answered. */
  learn(request: FastifyRequest): void {
    const key = keyOf(request);
    if (key === undefined) return;
    this.#organizations.delete(key);
    if (request.principal === null) return;
    this.#organizations.set(key, organizationShare(request.principal.organizationId).name);
    const [oldest] = this.#organizations.keys();
    if (this.#organizations.size > KEYS_MAX && oldest !== undefined) {
      this.#organizations.delete(oldest);
    }
  }
}

/** Hash of the request's key, so that no secret is kept. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key'] ?? headers.authorization;
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX) return undefined;
  return createHash('sha256').update(key).digest('base64');
}
