// The account at a provider that a measurement has: its REST interface (a fake), the configuration for the gateway, and
// what the calls' webhooks are signed with.

import { generateKeyPairSync } from 'node:crypto';
import { hostedRow } from '../fakes/hosted/hosted-rows.ts';
import { startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { startCallRest } from './call-rest.ts';
import type { Account, HostedName } from './wires/wire.ts';

const LOOPBACK = '127.0.0.1';
/** Bytes of an Ed25519 key's SPKI before the key (RFC 8410). */
const SPKI_HEAD_BYTES = 12;

export interface AccountOptions {
  provider: HostedName;
  gatewayUrl: string;
  number: string;
  /** Number of the measurement. */
  series: number;
  /** This machine as the gateway reaches it. */
  providerHost: string;
}

export interface LoadAccount {
  account: Account;
  /** As the gateway stores it. */
  configuration: Record<string, unknown>;
  close(): Promise<void>;
}

export async function startAccount(options: AccountOptions): Promise<LoadAccount> {
  const { provider, gatewayUrl, number, providerHost } = options;
  const host = providerHost === LOOPBACK ? LOOPBACK : '0.0.0.0';
  if (provider === 'twilio') return await twilioAccount(options, host);
  const row = hostedRow(provider);
  const fake = await row.startFake({ gatewayUrl, numbers: [number], host });
  const rest = await startCallRest({ restUrl: fake.baseUrl, host });
  const restUrl = `http://${LOOPBACK}:${rest.port}`;
  const own = provider === 'telnyx' ? telnyxKeys() : undefined;
  const configuration = {
    ...row.configuration(reachable(restUrl, providerHost)),
    ...(own && { ['webhook_public_key']: own.publicKey }),
  };
  const credentials = {
    ...textsOf(configuration),
    ...(own && { ['private_key']: own.privateKey }),
    ['commands_url']: `${restUrl}/commands`,
  };
  const close = async (): Promise<void> => {
    await rest.close();
    await fake.close();
  };
  return { account: { provider, credentials }, configuration, close };
}

/** The fake's private key stays in its process: the load process signs as well. */
function telnyxKeys(): { publicKey: string; privateKey: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ed25519');
  const spki = publicKey.export({ type: 'spki', format: 'der' });
  return {
    publicKey: spki.subarray(SPKI_HEAD_BYTES).toString('base64'),
    privateKey: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  };
}

/** An account of each measurement's own. */
async function twilioAccount(
  { gatewayUrl, number, series, providerHost }: AccountOptions,
  host: string,
): Promise<LoadAccount> {
  const accountSid = `AC${series.toString(16).padStart(32, '5')}`;
  const authToken = `load-${series}`;
  const fake = await startFakeTwilio({
    accountSid,
    authToken,
    publicWebhookBase: gatewayUrl,
    numbers: [number],
    host,
  });
  const credentials = { ['account_sid']: accountSid, ['auth_token']: authToken };
  const restUrl = reachable(fake.baseUrl, providerHost);
  const configuration = { provider: 'twilio', ...credentials, ['api_base_url']: restUrl };
  const account: Account = { provider: 'twilio', credentials };
  return { account, configuration, close: () => fake.close() };
}

function reachable(baseUrl: string, host: string): string {
  const url = new URL(baseUrl);
  url.hostname = host;
  return url.href.replace(/\/$/, '');
}

function textsOf(fields: Record<string, unknown>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(fields).filter((each): each is [string, string] => typeof each[1] === 'string'),
  );
}
