// What the doctor finds at every hosted provider, and how inbound calls are pointed here: against each fake, with faults.

import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { addressOutcome } from '../../../src/telephony/doctor/address-checks.ts';
import {
  examineHosted,
  type HostedExamination,
} from '../../../src/telephony/doctor/hosted-doctor.ts';
import { applyRouting, planRouting } from '../../../src/telephony/doctor/routing.ts';
import type { Finding } from '../../../src/telephony/provider/pbx.ts';
import { missingWebhookKey } from '../../../src/telephony/registry/configuration.ts';
import { makeAuthority, makeCertificate } from '../../fakes/certificates.ts';
import { freePort } from '../../fakes/free-port.ts';
import type { HostedFake } from '../../fakes/hosted/hosted-fake.ts';
import { hostedRows } from '../../fakes/hosted/hosted-rows.ts';
import { quietLog } from '../../fakes/quiet-log.ts';

const NUMBER = '+14155550100';
const ELSEWHERE = 'https://another.system.invalid/answer';
const { signal } = new AbortController();

/** The gateway behind its public address, or what stands in its place. */
let gateway: Server;
let publicUrl = '';
let mode: 'ours' | 'other' | 'no-websockets' = 'ours';

beforeAll(async () => {
  gateway = createServer((_request, response) => {
    const body = mode === 'other' ? { hello: 'world' } : { backend_api_endpoint: publicUrl };
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(body));
  });
  gateway.on('upgrade', (_request, socket) => {
    const isOurs = mode === 'ours';
    socket.end(
      isOurs
        ? 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n'
        : 'HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n',
    );
  });
  await new Promise<void>((resolve) => gateway.listen(0, '127.0.0.1', resolve));
  publicUrl = `http://127.0.0.1:${(gateway.address() as AddressInfo).port}`;
});
afterAll(() => new Promise((resolve) => gateway.close(resolve)));
beforeEach(() => {
  mode = 'ours';
});

describe.each(hostedRows)('$name', (row) => {
  const provider = row.create({ clock: systemClock });
  const hasApplication = provider.inspection.application !== null;
  let fake: HostedFake;

  beforeEach(async () => {
    fake = await row.startFake({ gatewayUrl: publicUrl, numbers: [NUMBER] });
  });
  afterEach(() => fake.close());

  const examination = (more: Partial<HostedExamination> = {}): HostedExamination => ({
    provider,
    configurationId: '7',
    publicUrl,
    signal,
    credentials: row.configuration(fake.baseUrl),
    numbers: [
      {
        address: NUMBER,
        providerAddress: provider.formatAddress(NUMBER),

        isInbound: true,
        isTelephone: true,
      },
    ],
    moreNumbers: 0,
    inboundUrl: `${publicUrl}/api/v1/telephony/inbound/run`,
    missingWebhookKey: undefined,
    clock: systemClock,
    log: quietLog().log,
    ...more,
  });
  /** Points everything here, as the first attached number does. */
  async function healthy(): Promise<void> {
    const wish = examination();
    await applyRouting(wish, await planRouting(wish));
  }
  async function findings(more: Partial<HostedExamination> = {}): Promise<Finding[]> {
    return examineHosted(examination(more));
  }
  async function verdicts(more: Partial<HostedExamination> = {}): Promise<Record<string, string>> {
    const all = await findings(more);
    return Object.fromEntries(all.map(({ key, verdict }) => [key, verdict]));
  }
  const find = (all: Finding[], key: string) => all.find((each) => each.key === key);

  it('is healthy once its calls come here; only an address without TLS is a fault', async () => {
    await healthy();
    const all = await findings();
    const faults = all.filter(({ verdict }) => verdict === 'fail' || verdict === 'warn');
    expect(faults.map(({ key }) => key)).toEqual(['public_url']);
    expect(await verdicts()).toMatchObject({
      credentials: 'pass',
      clock: 'pass',
      number: 'pass',
      reach: 'pass',
      websocket: 'pass',
      ...(hasApplication && { application: 'pass' }),
    });
    const secrets = JSON.stringify(row.configuration(''));
    for (const { message, advice } of all) {
      for (const [, secret = ''] of secrets.matchAll(/"((?=\w*\d)[\w+/=-]{24,})"/g)) {
        expect(`${message} ${advice}`).not.toContain(secret);
      }
    }
  });

  it('with wrong credentials is not asked further', async () => {
    const credentials = {
      ...row.configuration(fake.baseUrl),
      ...(row.wrongLogin ?? row.wrongSecret),
    };
    const all = await findings({ credentials });
    expect(find(all, 'credentials')).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining(provider.name),
      advice: expect.stringContaining('credentials'),
    });
    expect(find(all, 'numbers')?.verdict).toBe('skip');
    expect(all.map(({ key }) => key)).not.toContain('application');
  });

  it.runIf(hasApplication)('without its application is a fault that says so', async () => {
    await healthy();
    fake.pointApplication(null);
    expect(find(await findings(), 'application')).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining('no such application'),
    });
    const wish = examination();
    const changes = await planRouting(wish);
    expect(changes).toMatchObject([
      { kind: 'application', state: 'blocked' },
      { kind: 'number', state: 'blocked', to: wish.inboundUrl },
    ]);
  });

  it.runIf(hasApplication)(
    'whose application calls elsewhere is told to, and pointed here when asked',
    async () => {
      await healthy();
      fake.pointApplication(ELSEWHERE);
      const finding = find(await findings(), 'application');
      expect(finding).toMatchObject({
        verdict: 'fail',
        message: expect.stringContaining(ELSEWHERE),
        advice: expect.stringContaining('providers sync --config 7'),
      });
      const wish = examination();
      const planned = await planRouting(wish);
      expect(planned).toMatchObject([
        { kind: 'application', from: ELSEWHERE, to: wish.inboundUrl, state: 'planned' },
      ]);
      expect(find(await findings(), 'application')?.verdict).toBe('fail'); // A plan changes nothing.
      expect(await applyRouting(wish, planned)).toMatchObject([{ state: 'done' }]);
      expect(await planRouting(wish)).toEqual([]);
      expect((await verdicts())['application']).toBe('pass');
    },
  );

  it('finds a number that is led elsewhere, and shows what would change', async () => {
    await healthy();
    fake.moveNumber(NUMBER);
    expect(find(await findings(), 'number')).toMatchObject({
      title: `Number ${NUMBER}`,
      verdict: 'fail',
      message: expect.stringMatching(/^Its calls go to /),
    });
    // These two want the other application to give a number up first.
    const moved = row.name === 'cloudonix' || row.name === 'telnyx' ? 'blocked' : 'planned';
    const wish = examination();
    const [change, ...more] = await planRouting(wish);
    expect(more).toEqual([]);
    expect(change).toMatchObject({ kind: 'number', subject: NUMBER, state: moved });
    const [made] = await applyRouting(wish, change === undefined ? [] : [change]);
    if (moved === 'blocked') {
      expect(made).toMatchObject({ state: 'blocked', message: expect.stringMatching(/Remove/) });
    } else {
      expect(made).toMatchObject({ state: 'done' });
      expect(await planRouting(wish)).toEqual([]);
    }
  });

  it('that does not own the number says so, and one without an agent is left alone', async () => {
    const other = {
      address: '+14155550999',
      providerAddress: provider.formatAddress('+14155550999'),
      isTelephone: true,
    };
    const all = await findings({ numbers: [{ ...other, isInbound: true }] });
    expect(find(all, 'number')?.verdict).toBe('fail');
    const sip = { address: 'sip:agent@example.com', providerAddress: 'sip:agent@example.com' };
    const ofSip = { numbers: [{ ...sip, isInbound: true, isTelephone: false }] };
    expect(find(await findings(ofSip), 'number')?.verdict).not.toBe('pass');
    expect(find(await findings(ofSip), 'number')?.message).not.toContain('does not own');
    expect(find(await findings({ moreNumbers: 10 }), 'numbers')).toMatchObject({
      verdict: 'skip',
      message: expect.stringMatching(/^10 more numbers/),
    });
    const wish = examination({ numbers: [{ ...other, isInbound: false }] });
    expect(find(await examineHosted(wish), 'number')).toBeUndefined();
    expect((await verdicts({ numbers: [] }))['numbers']).toBe('warn');
  });

  it('with a clock five minutes away, or one, is a fault, or a warning', async () => {
    fake.state.skewMs = -300_000;
    expect(find(await findings(), 'clock')).toMatchObject({
      verdict: 'fail',
      message: expect.stringMatching(/clock is (299|30[0-9]) s ahead of the provider/),
    });
    fake.state.skewMs = 90_000;
    expect(find(await findings(), 'clock')).toMatchObject({
      verdict: 'warn',
      message: expect.stringContaining('behind'),
    });
  });

  it('without money, on trial or suspended is named where the provider says it', async () => {
    const told = find(await findings(), 'account');
    if (told?.message.includes('12.50') === true) {
      fake.state.balance = 0;
      expect(find(await findings(), 'account')).toMatchObject({
        verdict: 'fail',
        advice: expect.stringContaining('credit'),
      });
      fake.state.balance = 12.5;
    }
    const seen: string[] = [];
    for (const standing of ['trial', 'suspended'] as const) {
      fake.state.standing = standing;
      const { verdict = '', message = '' } = find(await findings(), 'account') ?? {};
      seen.push(`${verdict} ${message.split('.')[0]}`);
    }
    const unsaid = told?.verdict === 'skip' ? /^skip/ : /^(pass|skip)/;
    expect(seen[0]).toMatch(
      row.name === 'twilio' || row.name === 'plivo' ? /^warn It is a trial/ : unsaid,
    );
    expect(seen[1]).toMatch(
      row.name === 'twilio' || row.name === 'cloudonix' ? /^fail The account is not/ : unsaid,
    );
  });

  it.runIf(['telnyx', 'vonage', 'cloudonix'].includes(row.name))(
    'without the key that verifies webhooks is a fault',
    async () => {
      const configured = row.configuration(fake.baseUrl);
      expect(missingWebhookKey(row.name, configured)).toBeUndefined();
      const field = missingWebhookKey(row.name, {}) ?? '';
      expect(find(await findings({ missingWebhookKey: field }), 'webhook_key')).toMatchObject({
        verdict: 'fail',
        message: expect.stringContaining(field),
      });
    },
  );
});

describe('the public address', () => {
  const [row] = hostedRows.filter(({ name }) => name === 'twilio');
  async function verdictsAt(url: string): Promise<Record<string, Finding>> {
    if (row === undefined) throw new Error('no row');
    const fake = await row.startFake({ gatewayUrl: publicUrl, numbers: [] });
    try {
      const all = await examineHosted({
        provider: row.create({ clock: systemClock }),
        configurationId: '7',
        numbers: [],

        credentials: row.configuration(fake.baseUrl),
        publicUrl: url,
        inboundUrl: url,
        signal,
        moreNumbers: 0,

        clock: systemClock,
        log: quietLog().log,
        missingWebhookKey: undefined,
      });
      return Object.fromEntries(all.map((each) => [each.key, each]));
    } finally {
      await fake.close();
    }
  }

  it('behind which something else answers is a fault', async () => {
    mode = 'other';
    expect((await verdictsAt(publicUrl))['reach']?.verdict).toBe('fail');
  });

  it('whose proxy does not pass websockets on is a fault, with what to do', async () => {
    mode = 'no-websockets';
    const { reach, websocket } = await verdictsAt(publicUrl);
    expect(reach?.verdict).toBe('pass');
    expect(websocket).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining('400'),
      advice: expect.stringContaining('Upgrade'),
    });
  });

  it('without the certificates between its own and the authority is a fault', async () => {
    const { cert, key } = makeCertificate({
      names: ['127.0.0.1'],
      authority: makeAuthority('an authority'),
    });
    const server = createTlsServer({ cert, key }).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const url = `https://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { reach } = await verdictsAt(url);
    server.close();
    expect(reach).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining('UNABLE_TO_VERIFY'),
      advice: expect.stringContaining('chain'),
    });
  });

  it.each([
    ['http://127.0.0.1', 'cannot reach'],
    ['https://[fd00::1]', 'cannot reach'],
    ['https://100.64.1.1', 'cannot reach'],
    ['https://pbx.local', 'cannot reach'],
    ['http://8.8.8.8', 'no TLS'],
  ])('%s is a fault', (url, words) => {
    expect(addressOutcome(url)).toMatchObject({
      verdict: 'fail',
      message: expect.stringContaining(words),
    });
  });

  it('may begin like a private one', () => {
    expect(addressOutcome('https://10.example.com').verdict).toBe('pass');
  });

  it('that is not reached from here cannot be judged: many routers do not lead it back', async () => {
    const { reach, websocket } = await verdictsAt(`http://127.0.0.1:${await freePort()}`);
    for (const finding of [reach, websocket]) {
      expect(finding).toMatchObject({
        verdict: 'skip',
        message: expect.stringMatching(/^Cannot tell: .*ECONNREFUSED/),
        advice: expect.stringContaining('curl'),
      });
    }
  });
});
