// Verifies that a webhook comes from Telnyx: Ed25519 over the time and the body. The URL is not covered: webhook.ts
// compares the run in its path with that in the body. Source: providers §2.5, RFC 8032.

import { createPublicKey, type KeyObject, verify } from 'node:crypto';
import type { ProviderRequest } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';

/** Largest age of a webhook, and largest lead over our clock, in seconds. */
const TOLERANCE_S = 300;
const KEY_BYTES = 32;
const SIGNATURE_BYTES = 64;
/** SubjectPublicKeyInfo of an Ed25519 key, before the key itself (RFC 8410). */
const SPKI_HEAD = Buffer.from('302a300506032b6570032100', 'hex');

/** Whether the account's key signed the request, within five minutes of `nowMs`. */
export function isSigned(
  { headers, rawBody }: ProviderRequest,
  credentials: ProviderCredentials,
  nowMs: number,
): boolean {
  const timestamp = headers['telnyx-timestamp'];
  const given = headers['telnyx-signature-ed25519'];
  const key = publicKeyOf(credentials['webhook_public_key']);
  if (key === undefined || given === undefined || timestamp === undefined) return false;
  if (!/^\d{1,12}$/.test(timestamp)) return false;
  if (Math.abs(nowMs / 1_000 - Number(timestamp)) > TOLERANCE_S) return false;
  const signature = Buffer.from(given, 'base64');
  if (signature.length !== SIGNATURE_BYTES) return false;
  return verify(null, Buffer.concat([Buffer.from(`${timestamp}|`), rawBody]), key, signature);
}

function publicKeyOf(value: unknown): KeyObject | undefined {
  if (typeof value !== 'string') return undefined;
  const raw = Buffer.from(value, 'base64');
  if (raw.length !== KEY_BYTES) return undefined;
  return createPublicKey({ key: Buffer.concat([SPKI_HEAD, raw]), format: 'der', type: 'spki' });
}
