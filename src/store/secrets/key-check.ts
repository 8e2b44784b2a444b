// Checks that this node has the key with which the secrets in a shared database are sealed. The first node stores a
// proof of its key there; a node with other keys, such as its own data folder's, must not start.

import { type Kysely, sql } from 'kysely';
import { GatewayError } from '../../errors/gateway-error.ts';
import { deriveKey, type SecretKey } from './secret-keys.ts';

interface KeyProof {
  keyId: string;
  proof: string;
}

/** Checks the keys against the stored proof. Throws SECRET_KEYS_DIFFER. */
export async function checkSecretKeys<T>(
  db: Kysely<T>,
  keys: readonly [SecretKey, ...SecretKey[]],
): Promise<void> {
  const own = proofOf(keys[0]);
  await sql`
    insert into secret_key_check (key_id, proof) values (${own.keyId}, ${own.proof})
    on conflict do nothing`.execute(db);
  const { rows } = await sql<KeyProof>`
    select key_id as "keyId", proof from secret_key_check`.execute(db);
  for (const { keyId, proof } of rows) {
    if (keys.some((key) => proofOf(key).proof === proof)) continue;
    throw new GatewayError('SECRET_KEYS_DIFFER', { keyId });
  }
}

/** Stores that every secret is sealed with this key, which nodes need from now on. */
export async function noteSealingKey<T>(db: Kysely<T>, key: SecretKey): Promise<void> {
  const { keyId, proof } = proofOf(key);
  await sql`
    update secret_key_check set key_id = ${keyId}, proof = ${proof}
    where proof <> ${proof}`.execute(db);
}

function proofOf(key: SecretKey): KeyProof {
  return { keyId: key.id, proof: deriveKey(key, 'key check').toString('hex') };
}
