// Who knows the name of an account, which is in its webhooks, must not use up the requests of its owner with a secret that
// is wrong: hang-ups would wait behind them. Cloudonix' domains: cloudonix/budget.

import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { hostedRow } from '../../fakes/hosted/hosted-rows.ts';
import { type RestServer, startRestServer } from '../provider/rest-server.ts';

const { signal } = new AbortController();

let server: RestServer;
beforeAll(async () => {
  server = await startRestServer();
});
beforeEach(() => {
  server.asked.length = 0;
  server.answer = { status: 204, body: '' };
});
afterAll(() => server.close());

describe.each([
  { name: 'plivo', secret: 'auth_token', requestsMax: 300 },
  { name: 'vonage', secret: 'api_secret', requestsMax: 15 },
])('the requests of an account of $name', ({ name, secret, requestsMax }) => {
  const row = hostedRow(name);

  it('are not used up by a sender without its secret', async () => {
    const { control } = row.create({ clock: new FakeClock() });
    const owner = row.configuration(server.url);
    const stranger = { ...owner, [secret]: 'a-guess' };
    // A hang-up may use the whole budget.
    for (let i = 0; server.asked.length < requestsMax; i += 1) {
      await control.hangUp(stranger, `call-${i}`, signal);
    }
    const before = server.asked.length;
    await control.hangUp(owner, 'call', signal);
    expect(server.asked.length).toBeGreaterThan(before);
  });
});
