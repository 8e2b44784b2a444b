// What the doctor says of connections that do not come about, by the words of the system and of TLS.

import { describe, expect, it } from 'vitest';
import { createEgress } from '../../../../src/egress/egress-rule.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../../src/std/clock.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import { RefusedConnections } from '../../../../src/telephony/ari/connection/refused-connections.ts';
import { TestCalls } from '../../../../src/telephony/ari/connection/test-calls.ts';
import { examineLink } from '../../../../src/telephony/ari/doctor/connection-checks.ts';
import { type AriAnswer, createAriClient } from '../../../../src/telephony/ari/rest/client.ts';
import { accountOf } from '../../../../src/telephony/ari/rest/config.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

/** `answer`: of every request, or why there is none. */
async function findingsOf(answer: AriAnswer | Error, endpoint = 'https://pbx.example.com:8089') {
  const account = accountOf({ ari_endpoint: endpoint, app_name: 'gw', app_password: 'secret-1' });
  const { findings } = await examineLink({
    account,
    client: createAriClient(() => ({
      send: () => (answer instanceof Error ? Promise.reject(answer) : Promise.resolve(answer)),
    })),
    numbers: [],
    publicUrl: 'https://gw.example.com',
    live: undefined,
    testCalls: new TestCalls(systemClock),
    refused: new RefusedConnections(systemClock, undefined),
    egress: createEgress(),
    clock: systemClock,
    random: systemRandom,
    log: quietLog().log,
    signal: new AbortController().signal,
  });
  return Object.fromEntries(findings.map((finding) => [finding.key, finding]));
}

/** As telephony/provider/rest-client throws it. */
function failure(code: string): GatewayError {
  const system = Object.assign(new Error('system'), { code });
  const facts = { provider: 'ari', action: 'info', reason: code };
  return new GatewayError('PROVIDER_FAILED', facts, system);
}

describe('a connection that does not come about', () => {
  it.each([
    ['DEPTH_ZERO_SELF_SIGNED_CERT', 'signed by an authority that', 'NODE_EXTRA_CA_CERTS'],
    ['SELF_SIGNED_CERT_IN_CHAIN', 'signed by an authority that', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'signed by an authority that', 'intermediate ones'],
    ['UNABLE_TO_GET_ISSUER_CERT_LOCALLY', 'signed by an authority that', 'public authority'],
    ['CERT_HAS_EXPIRED', 'has expired', 'Renew it'],
    ['CERT_NOT_YET_VALID', 'not valid yet', 'clocks'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'for another name', 'name that is in the certificate'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS', 'give http://'],
    ['EPROTO', 'does not speak TLS', 'give http://'],
    ['ERR_SSL_NO_PROTOCOLS_AVAILABLE', 'No TLS connection', 'TLS 1.2'],
  ])('%s is a fault of TLS', async (code, message, advice) => {
    const { http, tls, user, rights } = await findingsOf(failure(code));
    expect(http?.verdict).toBe('pass');
    expect(tls).toMatchObject({ verdict: 'fail', message: expect.stringContaining(message) });
    expect(tls?.advice).toContain(advice);
    expect([user?.verdict, rights?.verdict]).toEqual(['skip', 'skip']);
  });

  it.each([
    ['ECONNREFUSED', 'Nothing listens', 'bindaddr in http.conf'],
    ['ENOTFOUND', 'is not known', 'Correct the address'],
    ['EAI_AGAIN', 'cannot be looked up', 'Correct the address'],
    ['ECONNRESET', 'closes the connection', 'https://'],
    ['UND_ERR_SOCKET', 'closes the connection', 'https://'],
    ['UND_ERR_CONNECT_TIMEOUT', 'does not answer', 'firewall'],
    ['EHOSTUNREACH', 'cannot be reached', 'http show status'],
    ['ESOMETHING', 'cannot be reached', 'http show status'],
  ])('%s is a fault of HTTP', async (code, message, advice) => {
    const { http, tls } = await findingsOf(failure(code));
    expect(http).toMatchObject({ verdict: 'fail', message: expect.stringContaining(message) });
    expect(http?.advice).toContain(advice);
    expect(tls?.verdict).toBe('skip');
  });

  it('a local address is the machine of the gateway', async () => {
    const { http } = await findingsOf(failure('ECONNREFUSED'), 'http://127.0.0.1:8088');
    expect(http?.advice).toContain('(or the container) of the gateway itself');
  });

  it.each([
    ['http://10.1.2.3:8088', 'pass'],
    ['http://192.168.0.9:8088', 'pass'],
    ['http://172.20.0.2:8088', 'pass'],
    ['http://pbx:8088', 'pass'],
    ['http://pbx.lan:8088', 'pass'],
    ['http://[fd00::1]:8088', 'pass'],
    ['http://172.32.0.2:8088', 'warn'],
    ['http://203.0.113.5:8088', 'warn'],
    ['http://pbx.example.com:8088', 'warn'],
    ['https://pbx.example.com:8089', 'pass'],
  ])('plain HTTP to %s: %s', async (endpoint, verdict) => {
    const { tls } = await findingsOf({ status: 401, body: {} }, endpoint);
    expect(tls?.verdict).toBe(verdict);
  });

  it('says what a proxy makes of DELETE', async () => {
    const body = { system: { version: '22.10.1' } };
    expect((await findingsOf({ status: 200, body }))['rights']).toMatchObject({ verdict: 'warn' });
  });

  it.each([
    ['http://gw:secret-1@pbx.example.com:8088', 'warn', 'a user or a password'],
    ['http://secret-1@pbx.example.com:8088', 'warn', 'a user or a password'],
    ['http://pbx.example.com:8088/?api_key=secret-1', 'fail', 'a query or a fragment'],
    ['http://pbx.example.com:8088/#secret-1', 'fail', 'a query or a fragment'],
  ])(
    'the address %s has too much in it, and is not repeated',
    async (endpoint, verdict, message) => {
      const findings = await findingsOf({ status: 404, body: {} }, endpoint);
      expect(findings['address']).toMatchObject({
        verdict,
        message: expect.stringContaining(message),
      });
      expect(JSON.stringify(findings)).not.toContain('secret-1');
    },
  );

  it('reveals no password', async () => {
    const all = JSON.stringify(await findingsOf({ status: 401, body: {} }));
    expect(all).not.toContain('secret-1');
  });
});
