// Lets a receiver know that a webhook is ours and fresh: HMAC-SHA256 over the moment and the body, one
// value per secret that is in force. The form is the one that payment services made common.

import { createHmac } from 'node:crypto';

export const SIGNATURE_HEADER = 'X-Patchbay-Signature';

/** `t=<unix seconds>,v1=<hex of HMAC(secret, "<t>.<body>")>`, one `v1` per secret, newest first. */
export function signatureOf(secrets: readonly string[], at: number, body: string): string {
  const seconds = Math.floor(at / 1_000);
  const values = secrets.map((secret) => {
    return `v1=${createHmac('sha256', secret).update(`${seconds}.${body}`).digest('hex')}`;
  });
  return [`t=${seconds}`, ...values].join(',');
}
