// The account at the fake Vonage: its keys, and how each side signs.

import {
  createHash,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  randomUUID,
} from 'node:crypto';
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { jwtVerify, SignJWT } from 'jose';

export const API_KEY = 'a1b2c3d4';
export const API_SECRET = 'Sa1b2c3d4e5f6g7h';
export const SIGNATURE_SECRET = 'ZYSdwJNefCNAGTHSmqj5xaDJcF2rDmCn';
export const APPLICATION_ID = 'aaaaaaaa-bbbb-4ccc-8ddd-0123456789ab';

/** The application's key: one for all processes of a machine, which may play different sides. */
const KEY_FILE = join(tmpdir(), 'patchbay-fake-vonage.pem');
export const PRIVATE_KEY_PEM = privateKeyPem();
const publicKey: KeyObject = createPublicKey(PRIVATE_KEY_PEM);
export const PUBLIC_KEY_PEM = publicKey.export({ type: 'spki', format: 'pem' }).toString();

function privateKeyPem(): string {
  if (!existsSync(KEY_FILE)) {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2_048 });
    const own = `${KEY_FILE}.${randomUUID()}`;
    writeFileSync(own, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
    // Into place in one step; of several processes the first one's stays.
    try {
      linkSync(own, KEY_FILE);
    } catch {
      // Another process was faster.
    }
    rmSync(own);
  }
  return readFileSync(KEY_FILE, 'utf8');
}

/** Whether the gateway's request is signed as the Voice API wants it. */
export async function isSignedByGateway(authorization: string): Promise<boolean> {
  try {
    const { payload } = await jwtVerify(authorization.replace(/^Bearer /, ''), publicKey, {
      algorithms: ['RS256'],
      requiredClaims: ['iat', 'exp', 'jti'],
    });
    return payload['application_id'] === APPLICATION_ID;
  } catch {
    return false;
  }
}

/** The header of a signed webhook. */
export async function webhookToken(body: string, secret = SIGNATURE_SECRET): Promise<string> {
  const token = await new SignJWT({
    ['payload_hash']: createHash('sha256').update(body).digest('hex'),
    ['api_key']: API_KEY,
    ['application_id']: APPLICATION_ID,
  })
    .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
    .setIssuer('Vonage')
    .setIssuedAt()
    .setJti(randomUUID())
    .sign(Buffer.from(secret));
  return `Bearer ${token}`;
}
