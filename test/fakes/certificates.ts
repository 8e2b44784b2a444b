// Certificates for TLS on loopback, made when they are needed: X.509 v3, P-256, as small as OpenSSL accepts
// them. Source: RFC 5280 §4, X.690.

import { generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';

export interface Certificate {
  /** PEM. */
  cert: string;
  key: string;
}

export interface Authority extends Certificate {
  name: string;
}

export interface CertificateFacts {
  /** Names and IPv4 addresses that it is for; the first is its common name. */
  names: readonly [string, ...string[]];
  /** Undefined: it signs itself. */
  authority?: Authority;
  /** Years in which it holds, both within 1950 to 2049. */
  from?: number;
  until?: number;
}

export function makeAuthority(name: string): Authority {
  return { name, ...make({ names: [name] }, true) };
}

export function makeCertificate(facts: CertificateFacts): Certificate {
  return make(facts, false);
}

function make(facts: CertificateFacts, isAuthority: boolean): Certificate {
  const { names, authority, from = 2_020, until = 2_049 } = facts;
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const content = sequence(
    element(0xa0, integer(Buffer.of(2))), // v3
    integer(Buffer.concat([Buffer.of(1), randomBytes(8)])),
    ECDSA_SHA256,
    nameOf(authority?.name ?? names[0]),
    sequence(year(from), year(until)),
    nameOf(names[0]),
    publicKey.export({ type: 'spki', format: 'der' }),
    element(0xa3, sequence(isAuthority ? IS_AUTHORITY : namesOf(names))),
  );
  const signer = authority?.key ?? privateKey;
  const whole = sequence(content, ECDSA_SHA256, bits(sign('sha256', content, signer)));
  const key = privateKey as KeyObject; // The overload for PEM strings does not apply.
  return {
    cert: pem(whole),
    key: String(key.export({ type: 'pkcs8', format: 'pem' })),
  };
}

function element(tag: number, ...content: readonly Buffer[]): Buffer {
  const body = Buffer.concat(content);
  const length = body.length;
  const head =
    length < 0x80 ? Buffer.of(tag, length) : Buffer.of(tag, 0x82, length >> 8, length & 0xff);
  return Buffer.concat([head, body]);
}

const sequence = (...content: readonly Buffer[]): Buffer => element(0x30, ...content);
const integer = (value: Buffer): Buffer => element(0x02, value);
const bits = (value: Buffer): Buffer => element(0x03, Buffer.of(0), value);
const bytes = (value: Buffer): Buffer => element(0x04, value);
const identifier = (hex: string): Buffer => element(0x06, Buffer.from(hex, 'hex'));

const ECDSA_SHA256 = sequence(identifier('2a8648ce3d040302'));
const COMMON_NAME = identifier('550403');
const BASIC_CONSTRAINTS = identifier('551d13');
const ALTERNATIVE_NAMES = identifier('551d11');
const IS_AUTHORITY = sequence(
  BASIC_CONSTRAINTS,
  element(0x01, Buffer.of(0xff)),
  bytes(sequence(element(0x01, Buffer.of(0xff)))),
);

function nameOf(name: string): Buffer {
  return sequence(element(0x31, sequence(COMMON_NAME, element(0x0c, Buffer.from(name)))));
}

/** The first second of it, in UTC. */
function year(year: number): Buffer {
  return element(0x17, Buffer.from(`${String(year).slice(2)}0101000000Z`));
}

function namesOf(names: readonly string[]): Buffer {
  const general = names.map((name) =>
    /^[\d.]+$/.test(name)
      ? element(0x87, Buffer.from(name.split('.').map(Number)))
      : element(0x82, Buffer.from(name)),
  );
  return sequence(ALTERNATIVE_NAMES, bytes(sequence(...general)));
}

function pem(der: Buffer): string {
  const lines = der.toString('base64').match(/.{1,64}/g) ?? [];
  return ['-----BEGIN CERTIFICATE-----', ...lines, '-----END CERTIFICATE-----', ''].join('\n');
}
