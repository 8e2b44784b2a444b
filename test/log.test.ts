import { describe, expect, it } from 'vitest';
import { GatewayError } from '../src/errors/gateway-error.ts';
import { createLog, type Log } from '../src/log.ts';

function start(pii = false): { log: Log; text: () => string; lines: () => unknown[] } {
  const written: string[] = [];
  const log = createLog(
    { level: 'trace', pii },
    { write: (line: string) => void written.push(line) },
  );
  return {
    log,
    text: () => written.join(''),
    lines: () => written.map((line) => JSON.parse(line)),
  };
}

it('without a level writes info and above where no terminal is', () => {
  const written: string[] = [];
  const to = { write: (line: string) => void written.push(line) };
  const log = createLog({ level: undefined, pii: false }, to);
  log.debug('no');
  log.info('yes');
  expect(written.map((line) => JSON.parse(line).msg)).toEqual(['yes']);
});

/** Where what people say could be put. */
const places: [string, (log: Log) => void][] = [
  ['a field', (log) => log.info({ 'pii.text': 'SAID' }, 'turn ended')],
  ['a field of a field', (log) => log.info({ turn: { 'pii.text': 'SAID' } }, 'turn ended')],
  ['a list', (log) => log.info({ turns: [{ 'pii.text': 'SAID' }] }, 'turns')],
  ['an error', (log) => log.error({ err: Object.assign(new Error(), { 'pii.text': 'SAID' }) })],
];

/** Where a secret could be put. */
const secrets: [string, (log: Log) => void][] = [
  ['a field', (log) => log.info({ auth_token: 'SECRET' }, 'a')],
  [
    'credentials',
    (log) => log.info({ configuration: { credentials: { api_key: 'SECRET' } } }, 'a'),
  ],
  ['an account', (log) => log.info({ credentials: { account_sid: 'SECRET' } }, 'a')],
  [
    'headers',
    (log) => log.info({ headers: { authorization: 'SECRET', 'x-api-key': 'SECRET' } }, 'a'),
  ],
  ['a child logger', (log) => log.child({ token: 'SECRET' }).info('a')],
  [
    'facts of an error',
    (log) => log.error({ err: new GatewayError('LLM_AUTH', { apiKey: 'SECRET' }) }),
  ],
];

describe('the log', () => {
  it.each(places)('leaves out personal data in %s', (_where, write) => {
    const { log, text } = start();
    write(log);
    expect(text()).toContain('[redacted]');
    expect(text()).not.toContain('SAID');
  });

  it.each(places)('writes it in %s where the setting allows it', (_where, write) => {
    const { log, text } = start(true);
    write(log);
    expect(text()).toContain('SAID');
  });

  it.each(secrets)('never writes a secret in %s', (_where, write) => {
    const { log, text } = start(true);
    write(log);
    expect(text()).toContain('[redacted]');
    expect(text()).not.toContain('SECRET');
  });

  it('does not write to the objects that it is given', () => {
    const { log } = start();
    const fields = { turn: { 'pii.text': 'SAID' }, auth_token: 'SECRET' };
    log.info(fields, 'turn ended');
    expect(fields).toEqual({ turn: { 'pii.text': 'SAID' }, auth_token: 'SECRET' });
  });

  it('is one JSON object a line with level, time and message', () => {
    const { log, lines } = start();
    log
      .child({ runId: '7' })
      .warn({ code: 'MEDIA_FLOOD' }, 'media socket closed because of a fault');
    expect(lines()).toEqual([
      {
        level: 'warn',
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        runId: '7',
        code: 'MEDIA_FLOOD',
        msg: 'media socket closed because of a fault',
      },
    ]);
  });

  it('names the code of an error and what caused it', () => {
    const { log, lines } = start();
    log.error({ err: new GatewayError('STORE_FULL', {}, new Error('ENOSPC')) }, 'not stored');
    expect(lines()).toMatchObject([
      { err: { type: 'GatewayError', code: 'STORE_FULL', message: 'The disk is full: ENOSPC' } },
    ]);
  });

  it.each<[string, Error, boolean]>([
    ['an operating error', new GatewayError('STORE_FULL', {}, errno('ENOSPC')), false],
    ['one without a cause', new GatewayError('PBX_CALL_GONE'), false],
    [
      'one whose cause is a fault of ours',
      new GatewayError('STORE_FULL', {}, new TypeError('x')),
      true,
    ],
    ['a failed assertion in it', new GatewayError('STORE_FULL', {}, errno('ERR_ASSERTION')), true],
    ...[
      ...['ERR_INVALID_STATE', 'ERR_INVALID_CHAR', 'ERR_OUT_OF_RANGE', 'ERR_HTTP_HEADERS_SENT'],
      ...['ERR_STREAM_WRITE_AFTER_END', 'ERR_BUFFER_OUT_OF_BOUNDS', 'ERR_UNKNOWN_ENCODING'],
    ].map((code): [string, Error, boolean] => [
      ...([`${code} in it`, new GatewayError('STORE_FULL', {}, errno(code)), true] as const),
    ]),
    [
      'a connection that ended in it',
      new GatewayError('STORE_FULL', {}, errno('ERR_STREAM_PREMATURE_CLOSE')),
      false,
    ],
    ['an error that nobody foresaw', new RangeError('x'), true],
    ['one of the system that nobody wrapped', errno('EPIPE'), true],
  ])('shows a stack for faults of our own code alone: %s', (_, err, hasStack) => {
    const { log, lines } = start();
    log.error({ err }, 'failed');
    const [line] = lines() as { err: object }[];
    expect('stack' in (line?.err ?? {})).toBe(hasStack);
  });
});

function errno(code: string): Error {
  return Object.assign(new Error(code), { code });
}
