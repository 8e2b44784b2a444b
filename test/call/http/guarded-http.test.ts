// Requests to where an organization wants them: our own networks are out of reach. Source: contract §8.7
// (private networks are refused), IANA's special-purpose address registries.

import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createGuardedHttp,
  isPublicAddress,
  ssrfGuard,
} from '../../../src/call/http/guarded-http.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { type RestServer, startRestServer } from '../../telephony/provider/rest-server.ts';

const never = new AbortController().signal;
const outside = createGuardedHttp();
const loopback = createGuardedHttp(() => true);
let server: RestServer;

beforeAll(async () => {
  server = await startRestServer();
});
afterAll(async () => {
  await Promise.all([outside.close(), loopback.close(), server.close()]);
});

function get(url: string, by = outside) {
  return by.send({ method: 'GET', url, headers: {}, body: undefined }, never);
}

const refused = (url: string) => get(url).then(undefined, (error: unknown) => codeOf(error));

describe('a request to the outside', () => {
  it.each([
    'http://127.0.0.1/',
    'http://127.1/',
    'http://2130706433/',
    'http://0x7f.0.0.1/',
    'http://0/',
    'http://10.1.2.3/',
    'http://172.31.255.255/',
    'http://192.168.0.1/',
    'http://100.64.0.1/',
    'http://169.254.169.254/latest/meta-data',
    'http://[::1]/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:a00:1]/',
    'http://[fd00::1]/',
    'http://[fe80::1]/',
    'http://[64:ff9b::7f00:1]/',
    'http://[2002:7f00:1::]/',
    'http://localhost/',
    'http://user:pass@8.8.8.8/',
    'ftp://8.8.8.8/',
    'file:///etc/passwd',
    '/relative',
    'nonsense',
    '',
  ])('to %s is refused', async (url) => {
    expect(await refused(url)).toBe('OUTSIDE_FORBIDDEN');
  });

  it.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111'])(
    'may reach %s',
    (address) => {
      expect(isPublicAddress(address)).toBe(true);
    },
  );

  it('follows no redirect and takes any status for a reply', async () => {
    server.answer = { status: 302, body: { to: 'elsewhere' } };
    expect(await get(server.url, loopback)).toEqual({ status: 302, text: '{"to":"elsewhere"}' });
    expect(server.asked).toHaveLength(1);
  });

  it('reads no more of an answer than is asked for', async () => {
    server.answer = { status: 200, body: 'x'.repeat(3_000_000) };
    expect((await get(server.url, loopback)).text.length).toBe(262_144);
  });

  it('ends with its signal', async () => {
    server.answer = 'hang';
    const controller = new AbortController();
    const arrived = server.next();
    const request = { method: 'POST', url: server.url, headers: {}, body: '{}' };
    const sent = loopback.send(request, controller.signal);
    await arrived;
    controller.abort(new Error('enough'));
    await expect(sent).rejects.toThrow('enough');
  });
});

it('any text is an address to call, or refused', () => {
  fc.assert(
    fc.property(fc.oneof(fc.string(), fc.webUrl()), (text) => {
      try {
        outside.check(text);
        expect(new URL(text).protocol).toMatch(/^https?:$/);
      } catch (error) {
        expect(codeOf(error)).toBe('OUTSIDE_FORBIDDEN');
      }
    }),
  );
});

describe('an operator may open', () => {
  it.each([
    [['10.1.0.0/16'], '10.1.255.3', 'crm', true],
    [['10.1.0.0/16'], '10.2.0.1', 'crm', false],
    [['10.1.2.3'], '10.1.2.3', 'crm', true],
    [['10.1.2.3'], '10.1.2.4', 'crm', false],
    [['crm.internal'], '10.1.2.3', 'CRM.internal', true],
    [['crm.internal'], '10.1.2.3', 'other.internal', false],
    [['fd00::/8'], 'fd12::1', 'crm', true],
    [['fd00::/8'], 'fe80::1', 'crm', false],
    [['::1'], '::1', 'localhost', true],
    [['127.0.0.1'], '::ffff:127.0.0.1', 'localhost', true],
    [[], '10.1.2.3', 'crm', false],
    [[], '8.8.8.8', 'dns', true],
    [['crm'], 'no address', 'crm', false],
  ])('%j: %s of %s is allowed: %s', (opened, address, host, allowed) => {
    expect(ssrfGuard(opened)(address, host)).toBe(allowed);
  });
});

describe('requests', () => {
  let server: RestServer;
  beforeAll(async () => {
    server = await startRestServer();
  });
  afterAll(() => server.close());

  it('reach a host that is opened by its name, and no other name of that address', async () => {
    const outside = createGuardedHttp(ssrfGuard(['localhost']));
    const get = (url: string) =>
      outside.send({ method: 'GET', url, headers: {}, body: undefined }, never);
    const byName = server.url.replace('127.0.0.1', 'localhost');
    expect((await get(byName)).status).toBe(200);
    const refused = await get(server.url).catch((error: unknown) => codeOf(error));
    expect(refused).toBe('OUTSIDE_FORBIDDEN');
    await outside.close();
  });
});

/** First and last of every IPv4 network that is not of the public internet, as whole numbers. */
const NETWORKS = [
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/3',
].map((text) => {
  const [address = '', bits = ''] = text.split('/');
  const first = address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0);
  return { first, last: first + 2 ** (32 - Number(bits)) - 1 };
});
const EDGES = NETWORKS.flatMap(({ first, last }) => [first - 1, first, last, last + 1]).filter(
  (value) => value >= 0 && value < 2 ** 32,
);
const ipv4 = fc.oneof(fc.integer({ min: 0, max: 2 ** 32 - 1 }), fc.constantFrom(...EDGES));
const dotted = (value: number): string =>
  [24, 16, 8, 0].map((shift) => Math.floor(value / 2 ** shift) % 256).join('.');

describe('public addresses', () => {
  it('of IPv4 are all but the special networks, to their edges', () => {
    fc.assert(
      fc.property(ipv4, (value) => {
        const isSpecial = NETWORKS.some(({ first, last }) => value >= first && value <= last);
        expect(isPublicAddress(dotted(value))).toBe(!isSpecial);
      }),
    );
  });

  it('are none that carry an IPv4 address inside', () => {
    fc.assert(
      fc.property(ipv4, fc.constantFrom('::ffff:', '::', '64:ff9b::', '2002:'), (value, prefix) => {
        const hex = value.toString(16).padStart(8, '0');
        const pair = `${hex.slice(0, 4)}:${hex.slice(4)}`;
        const whole = prefix === '2002:' ? `2002:${pair}::1` : `${prefix}${pair}`;
        expect(isPublicAddress(whole)).toBe(false);
      }),
    );
  });

  it('of IPv6 are in 2000::/3 alone, without tunnels, benchmarks and documentation', () => {
    const groups = fc.array(fc.integer({ min: 0, max: 0xffff }), { minLength: 8, maxLength: 8 });
    const first = fc.constantFrom(0x2001, 0x2002, 0x3fff, 0x2000, 0x4000, 0xfe80, 0xfd00, 0xff02);
    fc.assert(
      fc.property(fc.option(first), groups, (start, rest) => {
        const [a = 0, b = 0, ...more] = start === null ? rest : [start, ...rest.slice(1)];
        const text = [a, b, ...more].map((group) => group.toString(16)).join(':');
        const isGlobal = a >= 0x2000 && a <= 0x3fff;
        const isSpecial =
          (a === 0x2001 && (b < 0x200 || b === 0xdb8)) ||
          a === 0x2002 ||
          (a === 0x3fff && b < 0x1000);
        expect(isPublicAddress(text), text).toBe(isGlobal && !isSpecial);
      }),
    );
  });

  it('are no other text', () => {
    fc.assert(
      fc.property(fc.string(), (text) => {
        if (isPublicAddress(text)) expect(text).toMatch(/^[0-9a-f.:%]+$/i);
      }),
    );
  });
});
