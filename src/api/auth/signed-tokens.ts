// JSON Web Tokens of the gateway: signed by HS256, with a subject and an end, and not stored.

import { errors, type JWTPayload, jwtVerify, SignJWT } from 'jose';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Clock } from '../../std/clock.ts';

const ALGORITHM = 'HS256';
/** Longest token that is verified; ours have about 250 characters. */
const TOKEN_CHARACTERS_MAX = 4_096;

interface TokenKeys {
  clock: Clock;
  /** Keys of at least 32 bytes: the first one signs, all verify. */
  keys: readonly Uint8Array[];
}

/** Throws SECRET_KEY_MISSING. */
export async function signedToken(
  claims: JWTPayload & { sub: string },
  { clock, keys, lifeS }: TokenKeys & { lifeS: number },
): Promise<string> {
  const [newest] = keys;
  if (newest === undefined) throw new GatewayError('SECRET_KEY_MISSING', { keyId: 'any' });
  const issuedAt = Math.floor(clock.now() / 1_000);
  return new SignJWT(claims)
    .setProtectedHeader({ alg: ALGORITHM, typ: 'JWT' })
    .setIssuedAt(issuedAt)
    .setExpirationTime(issuedAt + lifeS)
    .sign(newest);
}

/** Claims of a token; undefined if it is not ours, forged or expired. */
export async function verifiedClaims(
  token: string,
  { clock, keys }: TokenKeys,
): Promise<JWTPayload | undefined> {
  if (token.length > TOKEN_CHARACTERS_MAX) return undefined;
  for (const key of keys) {
    try {
      const { payload } = await jwtVerify(token, key, {
        algorithms: [ALGORITHM],
        requiredClaims: ['sub', 'exp'],
        currentDate: new Date(clock.now()),
      });
      return payload;
    } catch (error) {
      // Another key may have signed the token; other faults are final.
      if (!(error instanceof errors.JWSSignatureVerificationFailed)) return undefined;
    }
  }
  return undefined;
}
