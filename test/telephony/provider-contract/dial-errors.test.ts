// How a dial fails at every hosted provider: by the provider's word, by silence, by a broken connection.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { freePort } from '../../fakes/free-port.ts';
import { hostedRows } from '../../fakes/hosted/hosted-rows.ts';
import { type RestServer, startRestServer } from '../provider/rest-server.ts';

const { signal } = new AbortController();
let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.asked.length = 0;
});
afterAll(() => server.close());

describe.each(hostedRows)('a dial over $name', (row) => {
  const clock = new FakeClock();
  const provider = row.create({ clock });
  const request: DialRequest = {
    runId: '7',
    from: provider.formatAddress('+14155550100'),
    to: provider.formatAddress('+14155550101'),
    answerUrl: 'https://gw.example.com/answer/7',
    statusUrl: 'https://gw.example.com/status/7',
    answeredByUrl: 'https://gw.example.com/answered-by/7',
    ringS: 30,
    callS: 300,
  };
  const dial = (url = server.url) => provider.control.dial(row.configuration(url), request, signal);
  const failure = (dialling: Promise<unknown>): Promise<unknown> =>
    dialling.then(
      () => 'succeeded',
      (error: unknown) => error,
    );

  it('names the call', async () => {
    server.answer = { status: row.dialled.status, body: row.dialled.body };
    expect(await dial()).toMatchObject({ callId: row.dialled.callId });
    expect(server.asked).toHaveLength(1);
  });

  it.each(row.refusals)('is $code for $status, in words', async ({ status, body, code, words }) => {
    server.answer = { status, body };
    const error = await failure(dial());
    expect(codeOf(error)).toBe(code);
    expect((error as Error).message).toContain(words);
    expect((error as { facts: Record<string, unknown> }).facts['reason']).toBe(words);
    expect(server.asked).toHaveLength(1);
  });

  it('is uncertain after a fault of the provider, and after an answer that is none', async () => {
    server.answer = { status: 503, body: {} };
    expect(codeOf(await failure(dial()))).toBe('PROVIDER_UNCERTAIN');
    server.answer = { status: row.dialled.status, body: '<html>' };
    expect(codeOf(await failure(dial()))).toBe('PROVIDER_UNCERTAIN');
    server.answer = { status: row.dialled.status, body: {} };
    expect(codeOf(await failure(dial()))).toBe('PROVIDER_UNCERTAIN');
  });

  it('is uncertain when the connection breaks, and certainly not placed without one', async () => {
    server.answer = 'reset';
    expect(codeOf(await failure(dial()))).toBe('PROVIDER_UNCERTAIN');
    const port = await freePort();
    expect(codeOf(await failure(dial(`http://127.0.0.1:${port}`)))).toBe('PROVIDER_FAILED');
  });

  it('waits for no answer for longer than ten seconds', async () => {
    server.answer = 'hang';
    const asked = server.next();
    const dialling = failure(dial());
    await asked;
    clock.advance(10_000);
    expect(codeOf(await dialling)).toBe('PROVIDER_TIMEOUT');
  });

  it('shows no secret in its error', async () => {
    const configuration = row.configuration(server.url);
    const secrets = Object.keys(row.wrongSecret).map((field) => String(configuration[field]));
    server.answer = { status: 401, body: { message: `bad key ${secrets.join(' ')}` } };
    const error = await failure(dial());
    for (const secret of secrets) expect(JSON.stringify(error)).not.toContain(secret);
  });
});
