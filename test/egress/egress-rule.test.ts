// The egress rule while sign-up is closed and while it is open, for literal addresses in every notation, for names, and
// at each connection (DNS rebinding).

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Agent, request } from 'undici';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createEgress, type Resolve } from '../../src/egress/egress-rule.ts';
import { codeOf } from '../../src/errors/gateway-error.ts';

/** What names resolve to. */
const names = new Map<string, { address: string; family: number }[]>();
const resolve: Resolve = (host, _options, done) => {
  const known = names.get(host);
  const missing = Object.assign(new Error('not found'), { code: 'ENOTFOUND' });
  done(known === undefined ? missing : null, known ?? []);
};

const closed = createEgress({ isSignUpOpen: false, allowed: [] }, resolve);
const open = createEgress({ isSignUpOpen: true, allowed: [] }, resolve);

beforeEach(() => {
  names.set('metadata.google.internal', [{ address: '169.254.169.254', family: 4 }]);
  names.set('pbx.lan', [{ address: '10.0.0.5', family: 4 }]);
  names.set('both.example.com', [
    { address: '8.8.8.8', family: 4 },
    { address: '::ffff:a9fe:a9fe', family: 6 },
  ]);
});
afterEach(() => names.clear());

const refusal = (check: () => void): string | undefined => {
  try {
    check();
    return undefined;
  } catch (error) {
    return codeOf(error);
  }
};

/** One address in the notations that URLs and resolvers understand. */
const METADATA = [
  'http://169.254.169.254/latest/meta-data',
  'http://2852039166/',
  'http://0xa9fea9fe/',
  'http://0xa9.0xfe.0xa9.0xfe/',
  'http://0251.0376.0251.0376/',
  'http://169.254.43518/',
  'http://169.254.169.254./',
  'http://[::ffff:169.254.169.254]/',
  'http://[::ffff:a9fe:a9fe]/',
  'http://[64:ff9b::a9fe:a9fe]/',
  'http://[2002:a9fe:a9fe::]/',
  'http://[fe80::1]/',
  'http://[fd00:ec2::254]/',
  'http://100.100.100.200/',
  'http://0.0.0.0:8000/',
];

describe('while sign-up is closed, the egress rule', () => {
  it.each(METADATA)('refuses %s', (url) => {
    expect(refusal(() => closed.check(url))).toBe('OUTSIDE_FORBIDDEN');
  });

  it.each(['http://10.0.0.5:8088', 'http://127.0.0.1', 'http://[fd00::1]', 'https://8.8.8.8'])(
    'allows %s',
    (url) => {
      expect(refusal(() => closed.check(url))).toBeUndefined();
    },
  );

  it('refuses a metadata address that the operator names', () => {
    const named = createEgress({ isSignUpOpen: false, allowed: ['169.254.0.0/16', 'fe80::/10'] });
    expect(named.allows('169.254.169.254', 'x')).toBe(false);
    expect(named.allows('fe80::1', 'x')).toBe(false);
  });
});

describe('while sign-up is open, the egress rule', () => {
  it.each([
    ...METADATA,
    'http://10.0.0.5:8088',
    'http://127.0.0.1',
    'http://127.1',
    'http://[::1]',
  ])('refuses %s', (url) => {
    expect(refusal(() => open.check(url))).toBe('OUTSIDE_FORBIDDEN');
  });

  it.each([
    [['10.1.0.0/16'], '10.1.255.3', 'crm', true],
    [['10.1.0.0/16'], '10.2.0.1', 'crm', false],
    [['10.1.2.3'], '10.1.2.3', 'crm', true],
    [['10.1.2.3'], '10.1.2.4', 'crm', false],
    [['crm.internal'], '10.1.2.3', 'CRM.internal', true],
    [['crm.internal'], '10.1.2.3', 'other.internal', false],
    [['crm.internal'], '169.254.169.254', 'crm.internal', false],
    [['fd00::/8'], 'fd12::1', 'crm', true],
    [['fd00::/8'], 'fd00:ec2::254', 'crm', false],
    [['fd00::/8'], 'fe80::1', 'crm', false],
    [['::1'], '::1', 'localhost', true],
    [['127.0.0.1'], '::ffff:127.0.0.1', 'localhost', true],
    [[], '10.1.2.3', 'crm', false],
    [[], '8.8.8.8', 'dns', true],
    [['crm'], 'no address', 'crm', false],
  ])('with %j named, allows %s of %s: %s', (allowed, address, host, passes) => {
    expect(createEgress({ isSignUpOpen: true, allowed }).allows(address, host)).toBe(passes);
  });
});

describe('a name', () => {
  const outcome = (rule: typeof open, url: string) =>
    rule.checkResolved(url).then(
      () => 'passes',
      (error: unknown) => codeOf(error),
    );

  it.each([
    ['http://metadata.google.internal/', 'OUTSIDE_FORBIDDEN', 'OUTSIDE_FORBIDDEN'],
    ['http://pbx.lan:8088', 'passes', 'OUTSIDE_FORBIDDEN'],
    ['http://both.example.com', 'OUTSIDE_FORBIDDEN', 'OUTSIDE_FORBIDDEN'],
    ['http://nobody.example.com', 'passes', 'passes'],
  ])('%s: closed %s, open %s', async (url, whenClosed, whenOpen) => {
    expect(await outcome(closed, url)).toBe(whenClosed);
    expect(await outcome(open, url)).toBe(whenOpen);
  });
});

describe('a connection', () => {
  const server = createServer((_, response) => response.end('secret'));
  const agents: Agent[] = [];
  const agent = (rule: typeof open): Agent => {
    const made = new Agent({ connect: rule.connect });
    agents.push(made);
    return made;
  };
  beforeEach(() => new Promise<void>((done) => void server.listen(0, '127.0.0.1', done)));
  afterEach(async () => {
    await Promise.all(agents.splice(0).map((each) => each.destroy()));
    await new Promise((done) => server.close(done));
  });

  const answerOf = (url: string, dispatcher: Agent) =>
    request(url, { dispatcher }).then(
      ({ body }) => body.text(),
      (error: unknown) => codeOf(error),
    );

  it('is refused once a name that was checked leads elsewhere', async () => {
    const { port } = server.address() as AddressInfo; // Of a TCP server.
    const url = `http://rebound.example.com:${port}/`;
    names.set('rebound.example.com', [{ address: '8.8.8.8', family: 4 }]);
    await open.checkResolved(url);
    names.set('rebound.example.com', [{ address: '127.0.0.1', family: 4 }]);
    expect(await answerOf(url, agent(open))).toBe('OUTSIDE_FORBIDDEN');
    expect(await answerOf(url, agent(closed))).toBe('secret');
  });

  it('to a literal address is refused without a check before', async () => {
    const { port } = server.address() as AddressInfo; // Of a TCP server.
    expect(await answerOf(`http://127.0.0.1:${port}/`, agent(open))).toBe('OUTSIDE_FORBIDDEN');
    expect(await answerOf('http://[::ffff:a9fe:a9fe]/', agent(closed))).toBe('OUTSIDE_FORBIDDEN');
  });
});
