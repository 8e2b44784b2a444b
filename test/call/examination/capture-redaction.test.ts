// What a capture may not hold, wherever a provider writes it; and what must stay, so that it can be read.

import { describe, expect, it } from 'vitest';
import { CallCapture } from '../../../src/call/examination/call-capture.ts';
import { CaptureRedaction } from '../../../src/call/examination/capture-redaction.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const KEY = 's3cret/with+signs==';
const PEM = `-----BEGIN PRIVATE KEY-----\n${'MIIEvQIBADANBgkqhkiG9w0BAQEFAASC'.repeat(2)}\n-----END PRIVATE KEY-----`;

function redaction(): CaptureRedaction {
  return new CaptureRedaction({
    credentials: {
      provider: 'twilio',
      auth_token: KEY,
      private_key: PEM,
      nested: { name: 'acme-corp' },
      api_base_url: 'https://api.acme.test:8443/v1',
    },
    numbers: ['+442071838750', '+14155550100'],
    publicUrl: 'https://voice.acme-gateway.net',
  });
}

function captureWith(redacted: CaptureRedaction): CallCapture {
  const about = { provider: 'twilio', gateway: '1' };
  return new CallCapture({ clock: new FakeClock(), redaction: redacted, about });
}

/** Processor time of this process in milliseconds; other programs of the machine do not count. */
function cpuMs(work: () => void): number {
  const before = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

function times(count: number, work: () => void): void {
  for (let nth = 0; nth < count; nth += 1) work();
}

describe('a capture', () => {
  it.each([
    ['a key as it is', KEY],
    ['a key in a URL', encodeURIComponent(KEY)],
    ['a key in base64', Buffer.from(KEY).toString('base64')],
    ['a line of a private key', PEM.split('\n')[1]],
    ['a value within the configuration', 'acme-corp'],
    ['the host of the gateway', 'voice.acme-gateway.net'],
    ['the host of the provider', 'api.acme.test'],
    ['a number', '+442071838750'],
    ['a number without its plus', '442071838750'],
    ['a national number', '02071838750'.slice(1)],
    ['a number with spaces', '+44 20 7183 8750'],
    ['a number that nobody configured', '+4915112345678'],
    ['a mailbox', 'jane.doe@mail.example.org'],
    ['a host in free text', 'pbx.customer.co.uk'],
    ['an address', '203.0.113.77'],
    ['an IPv6 address', '2a02:8108:1::7'],
    ['an IPv6 address in full', '2a02:8108:1:2:3:4:5:7'],
    ['a number of a tel address', 'tel:4915112345678'],
    ['the id of a call', 'CA0123456789abcdef0123456789abcdef'],
    ['a UUID', '63f61863-4a51-4f6b-86e1-46edebcf9356'],
  ])('has not %s', (_what, secret = '') => {
    const redacted = redaction();
    expect(redacted.text(`before ${secret} after`)).not.toContain(secret);
    expect(redacted.text(`https://other.net/x/${secret}?y`)).not.toContain(secret);
    const field = JSON.stringify(redacted.field('', { deep: [{ reason: `it is ${secret}` }] }));
    expect(field).not.toContain(secret);
  });

  it('has the same placeholder for the same value, in the form of the value', () => {
    const redacted = redaction();
    const number = redacted.text('+442071838750');
    expect(number).toMatch(/^\+15550\d{6}$/);
    expect(redacted.field('To', '442071838750')).toBe(number.slice(1));
    expect(redacted.field('from', { number: 442_071_838_750 })).toEqual({
      number: Number(number.slice(1)),
    });
    expect(redacted.text('sip:x@a.customer.io')).toBe(redacted.text('sip:x@a.customer.io'));
    expect(redacted.text(number)).toBe(number);
  });

  it('has the parameters of a query as fields, and reads as an address still', () => {
    const redacted = redaction();
    const given =
      'https://voice.acme-gateway.net/a/b?to=4915112345678&token=abc&caller_name=JANE+DOE';
    const url = new URL(
      redacted.url(`${given}&status=in-progress&at=2026-11-23T12%3A49%3A33.074Z`),
    );
    expect([url.host, url.pathname]).toEqual(['gateway.invalid', '/a/b']);
    expect(Object.fromEntries(url.searchParams)).toEqual({
      to: expect.stringMatching(/^15550\d{6}$/),
      token: 'id-1',
      caller_name: 'redacted',

      status: 'in-progress',
      at: '2026-11-23T12:49:33.074Z',
    });
    expect(redacted.url('https://voice.acme-gateway.net/a')).toBe('https://gateway.invalid/a');
  });

  it('has no header with the address of a client behind a proxy', () => {
    const headers = {
      'true-client-ip': 'a',
      'x-original-url': 'b',
      'x-envoy-peer': 'c',
      kept: 'd',
    };
    expect(redaction().headers(headers)).toEqual({ kept: 'd' });
  });

  it('has no proof in headers, and no name of a person or place', () => {
    const redacted = redaction();
    const headers = redacted.headers({
      'X-Twilio-Signature': 'abc=',
      authorization: 'Bearer short',
      host: 'a',
      'user-agent': 'b/1',
    });
    expect(headers).toEqual({
      'X-Twilio-Signature': 'id-1',
      authorization: 'Bearer id-2',
      'user-agent': 'b/1',
    });
    for (const name of ['CallerName', 'FromCity', 'caller_id_name']) {
      expect(redacted.field(name, 'JANE DOE')).toBe('redacted');
    }
  });

  it('keeps what parsers read: events, statuses, times, formats', () => {
    const redacted = redaction();
    const message = {
      event: 'start',
      event_type: 'call.machine.detection.ended',
      status: 'in-progress',

      timestamp: '2026-11-23T12:49:33.074Z',
      ['Timestamp']: 'Mon, 23 Nov 2026 12:49:29 GMT',

      at: 1_795_438_173_074,
      format: 'audio/l16;rate=8000',
      encoding: 'audio/x-mulaw',

      version: '1.0.0',
      digit: '1',
      code: '21211',
      answered: true,
      none: null,
    };
    expect(redacted.field('', message)).toEqual(message);
  });

  it('has the length of audio in its place, and counts what follows the first messages', () => {
    const clock = new FakeClock();
    const about = { provider: 'twilio', gateway: '1' };
    const capture = new CallCapture({ clock, redaction: redaction(), about });
    const payload = Buffer.alloc(160, 0x55).toString('base64');
    for (let nth = 0; nth < 50; nth++) {
      capture.message('provider', JSON.stringify({ event: 'media', media: { payload } }));
    }
    const lines = capture.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines[1]).toMatchObject({ json: { media: { payload: '<audio 160 bytes>' } } });
    expect(lines.slice(-1)).toMatchObject([{ kind: 'audio', messages: 45, bytes: 7_200 }]);
    expect(lines).toHaveLength(7);
  });

  it('keeps its lines beside SIP addresses and extensions of the configuration', () => {
    const redacted = new CaptureRedaction({
      credentials: {},
      publicUrl: 'https://voice.acme-gateway.net',
      numbers: ['sip:agent7@pbx.customer.io', '100', '+14155550100'],
    });
    const capture = captureWith(redacted);
    capture.closed(1_000, 'call 7 of 100 for agent7@pbx.customer.io ended');
    expect(capture.text).toContain('call 7 of 100 for');
    expect(capture.text).not.toMatch(/omitted|agent7|customer/);
    expect(redacted.field('code', 100)).toBe(100);
  });

  it('has no secret that follows a long private key', () => {
    const line = (nth: number) => `${String(nth).padStart(3, '0')}/${'Ab+/'.repeat(15)}`;
    const key = Array.from({ length: 100 }, (_, nth) => line(nth)).join('\n');
    const redacted = new CaptureRedaction({
      credentials: { private_key: key, api_secret: 'abcdefghijkl', other: 'words of a secret' },

      numbers: [],
      publicUrl: 'https://voice.acme-gateway.net',
    });
    redacted.addSecret('token-of-media', 'redacted-media-token');
    for (const secret of ['abcdefghijkl', 'words of a secret', 'token-of-media', line(99)]) {
      expect(redacted.text(`is ${secret} there`)).not.toContain(secret);
    }
  });

  it.each([
    ['without a mailbox', 'a-'],
    ['like a mailbox', 'a@b-'],
    ['like host names', 'a-.b_.'],
    ['like SIP addresses', 'sip:'],
    ['like numbers', '+1 5 '],
    ['like digits', '55 '],
    ['like IPv6 addresses', 'a::'],
  ])('takes a moment for a long text %s', (_what, part) => {
    const redacted = redaction();
    expect(cpuMs(() => redacted.text(part.repeat(120_000 / part.length)))).toBeLessThan(1_000);
  });

  it('takes a moment for the messages of a configuration with thousands of numbers', () => {
    const numbers = Array.from({ length: 5_000 }, (_, nth) => `+1415${5_550_000 + nth}`);
    const publicUrl = 'https://voice.acme-gateway.net';
    const redacted = new CaptureRedaction({ credentials: {}, numbers, publicUrl });
    const capture = captureWith(redacted);
    const start = { event: 'start', from: '+14155553333', note: 'of (415) 555-4321, 12 34' };
    const message = JSON.stringify(start);
    expect(cpuMs(() => times(20, () => capture.message('provider', message)))).toBeLessThan(1_000);
    expect(capture.text).not.toMatch(/555-?3333|555-?4321|omitted/);
    expect(capture.text).toContain(', 12 34');
  });

  it('reads no more of messages than a call has, and none that is longer than audio', () => {
    const capture = captureWith(redaction());
    capture.message('provider', JSON.stringify({ event: 'x', text: 'words '.repeat(3_000) }));
    expect(capture.text).toMatch(/"from":"provider","characters":18\d\d\d/);
    const audio = JSON.stringify({ media: { payload: Buffer.alloc(9_000).toString('base64') } });
    times(2_000, () => capture.message('provider', audio));
    expect(capture.text.trim().endsWith('{"kind":"full"}')).toBe(true);
    const before = capture.text;
    capture.message('provider', '{"event":"stop"}');
    expect(capture.text).toBe(before);
  });

  it('is bounded, and says that it is full', () => {
    const capture = captureWith(redaction());
    for (let nth = 0; nth < 5_000; nth++) capture.closed(1_000, 'x'.repeat(900));
    expect(capture.text.length).toBeLessThan(1_100_000);
    expect(capture.text.trim().split('\n').length).toBeLessThanOrEqual(2_001);
    expect(capture.text.trim().endsWith('{"kind":"full"}')).toBe(true);
  });
});
