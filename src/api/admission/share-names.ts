// Whose share of the API a request takes before its key has been checked: that of the organization whose key it was
// before, or that of its address. A name is no proof: the key is checked all the same.

import { createHash } from 'node:crypto';
import type { FastifyRequest } from 'fastify';
import { clientName } from '../../std/client-address.ts';
import { organizationShare } from '../../std/work-share.ts';

/** Keys that are kept, the least recently used removed first; each is a hash and an id. */
const KEYS_MAX = 10_000;
/** Longer ones are no keys. */
const KEY_LENGTH_MAX = 4_096;

export class ShareNames {
  readonly #organizations = new Map<string, string>();

  nameOf(request: FastifyRequest): string {
    if (request.principal !== null) return organizationShare(request.principal.organizationId).name;
    const key = keyOf(request);
    const organization = key === undefined ? undefined : this.#organizations.get(key);
    return organization ?? `address ${clientName(request.ip)}`;
  }

  /** A request was answered: the check of its key is known then, and the organization of a valid one. */
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

/** A hash: what is remembered is no secret. */
function keyOf({ headers }: FastifyRequest): string | undefined {
  const key = headers['x-api-key'] ?? headers.authorization;
  if (typeof key !== 'string' || key === '' || key.length > KEY_LENGTH_MAX) return undefined;
  return createHash('sha256').update(key).digest('base64');
}
