// Telnyx' signatures: Ed25519 over time and body, five minutes long. Vectors: fixtures/wire/telnyx.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isSigned } from '../../../src/telephony/telnyx/webhook.ts';
import { jsonPost } from '../provider/provider-request.ts';

interface Case {
  name: string;
  public_key: string;
  timestamp: string;
  body: string;
  signature: string;
  valid: boolean;
}
const vectors: { now: number; cases: Case[] } = JSON.parse(
  readFileSync('fixtures/wire/telnyx/webhook-signatures.json', 'utf8'),
);
const [good] = vectors.cases as [Case];
const nowMs = vectors.now * 1_000;

function request({ timestamp, body, signature }: Case, more: Record<string, string> = {}) {
  const headers = {
    ['telnyx-timestamp']: timestamp,
    ['telnyx-signature-ed25519']: signature,
    ...more,
  };
  return jsonPost('https://gw.example.com/api/v1/telephony/telnyx/events/1', body, headers);
}

describe("Telnyx' signature", () => {
  it.each(vectors.cases)("has the SDK's verdict: $name", (each) => {
    const credentials = { webhook_public_key: each.public_key };
    expect(isSigned(request(each), credentials, nowMs)).toBe(each.valid);
  });

  it('is good for five minutes, both ways, and no longer', () => {
    const credentials = { webhook_public_key: good.public_key };
    const at = (seconds: number) => isSigned(request(good), credentials, nowMs + seconds * 1_000);
    expect([-301, -300, 0, 300, 301].map(at)).toEqual([false, true, true, true, false]);
  });

  it.each([null, undefined, '', 'short', '11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo='])(
    'is never right with the key %j',
    (key) => {
      expect(isSigned(request(good), { webhook_public_key: key }, nowMs)).toBe(false);
    },
  );

  it.each([
    { ['telnyx-timestamp']: '1795199439' },
    { ['telnyx-timestamp']: 'soon' },
    { ['telnyx-timestamp']: '-1' },
    { ['telnyx-signature-ed25519']: '' },
    { ['telnyx-signature-ed25519']: 'AAAA' },
    { ['telnyx-signature-ed25519']: Buffer.alloc(64).toString('base64') },
  ])('is not right with %j', (headers) => {
    const credentials = { webhook_public_key: good.public_key };
    expect(isSigned(request(good, headers), credentials, nowMs)).toBe(false);
  });

  it('is over the bytes of the body, not what they mean', () => {
    const credentials = { webhook_public_key: good.public_key };
    const same = { ...good, body: JSON.stringify(JSON.parse(good.body), null, 1) };
    expect(isSigned(request(same), credentials, nowMs)).toBe(false);
  });
});
