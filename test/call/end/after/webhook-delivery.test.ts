// One attempt to deliver a webhook, at a receiver on loopback. Source: contract §8.10, appendix B.

import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { deliverWebhook, retryMs } from '../../../../src/call/end/after/webhook-delivery.ts';
import { createGuardedHttp } from '../../../../src/egress/guarded-http.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import type { Delivery } from '../../../../src/store/deliveries/webhook-deliveries.ts';
import { openSignUpEgress } from '../../../fakes/egress.ts';
import { withStore } from '../../../store/engines.ts';
import { completedRun, ground, webhook } from '../../../store/runs/completed-runs.ts';
import { type RestServer, startRestServer } from '../../../telephony/provider/rest-server.ts';

const at = withStore();
const loopback = createGuardedHttp();
const never = new AbortController().signal;
let receiver: RestServer;

beforeAll(async () => {
  receiver = await startRestServer();
});
beforeEach(() => {
  receiver.asked.length = 0;
  receiver.answer = { status: 200, body: { got: 'it' } };
});
afterAll(async () => {
  await loopback.close();
  await receiver.close();
});

function deps(credential: Record<string, string> = {}) {
  return {
    store: at.store,
    clock: at.clock,
    log: at.log,
    outside: loopback,
    credentialHeaders: () => Promise.resolve(credential),
  };
}

async function made(more = {}): Promise<void> {
  const run = await completedRun(at, await ground(at));
  await at.store.afterworks.finish(run.id, [webhook({ url: `${receiver.url}/hook?a=1`, ...more })]);
}

async function claimed(): Promise<Delivery> {
  const claim = { limit: 1, except: [], leaseMs: 60_000, attemptsMax: 5 };
  const [delivery] = await at.store.deliveries.claim(claim);
  if (delivery === undefined) throw new Error('nothing is due');
  return delivery;
}

async function stored(): Promise<Delivery> {
  const page = { limit: 1, offset: 0 };
  const [delivery] = (await at.store.deliveries.list(at.owner.organizationId, page)).deliveries;
  if (delivery === undefined) throw new Error('no delivery');
  return delivery;
}

describe('a webhook', () => {
  it('is sent with the body as it was rendered, under both spellings of the promised headers', async () => {
    await made();
    const delivery = await claimed();
    await deliverWebhook(deps(), delivery, never);
    const [asked] = receiver.asked;
    expect(asked).toMatchObject({ method: 'POST', path: '/hook?a=1', body: '{"run":"42"}' });
    for (const prefix of ['x-patchbay', 'x-dograh']) {
      expect(asked?.headers).toMatchObject({
        [`${prefix}-delivery-id`]: delivery.id,
        [`${prefix}-workflow-run-id`]: delivery.runId,
        [`${prefix}-delivery-attempt`]: '1',
      });
    }
    expect(asked?.headers).toMatchObject({ 'content-type': 'application/json', 'x-mine': 'yes' });
    const excerpt = '{"got":"it"}';
    expect(await stored()).toMatchObject({ state: 'delivered', responseExcerpt: excerpt });
  });

  // The receiver had taken it, and was sent it four times more.
  it.each([200, 400])('counts by its status %i, though the answer breaks off', async (status) => {
    const broken = createServer((_request, response) => {
      response.writeHead(status, { 'content-length': '100' });
      response.write('{"got"', () => setTimeout(() => response.destroy(), 20));
    });
    await new Promise<void>((resolve) => broken.listen(0, '127.0.0.1', resolve));
    await made({ url: `http://127.0.0.1:${(broken.address() as AddressInfo).port}/` });
    await deliverWebhook(deps(), await claimed(), never);
    const state = status === 200 ? 'delivered' : 'dead_letter';
    const expected = { state, responseStatus: status, responseExcerpt: '{"got"' };
    expect(await stored()).toMatchObject(expected);
    await new Promise((resolve) => broken.close(resolve));
  });

  it('is signed over moment and body by every secret in force', async () => {
    const { organizationId } = at.owner;
    await at.store.signingSecrets.inForce(organizationId);
    await at.store.signingSecrets.rotate(organizationId, 86_400_000);
    const secrets = await at.store.signingSecrets.inForce(organizationId);
    expect(secrets).toHaveLength(2);
    await made();
    await deliverWebhook(deps(), await claimed(), never);
    const seconds = Math.floor(at.clock.now() / 1_000);
    const values = secrets.map((secret) =>
      createHmac('sha256', secret).update(`${seconds}.{"run":"42"}`).digest('hex'),
    );
    expect(receiver.asked[0]?.headers['x-patchbay-signature']).toBe(
      `t=${seconds},v1=${values[0]},v1=${values[1]}`,
    );
  });

  it.each(['GET', 'DELETE'])('by %s has no body', async (method) => {
    await made({ method, body: null });
    await deliverWebhook(deps(), await claimed(), never);
    expect(receiver.asked[0]).toMatchObject({ method, body: '' });
    expect(receiver.asked[0]?.headers['content-type']).toBeUndefined();
    expect(receiver.asked[0]?.headers['x-patchbay-signature']).toMatch(/^t=\d+,v1=[0-9a-f]{64}$/);
  });

  it("carries the credential's headers, which are stored nowhere", async () => {
    await made({ credentialUuid: 'c1', headers: [['x-key', 'mine']] });
    await deliverWebhook(deps({ 'X-Key': 'hush-hush' }), await claimed(), never);
    expect(receiver.asked[0]?.headers['x-key']).toBe('hush-hush');
    expect(JSON.stringify(await at.sql('select * from deliveries'))).not.toContain('hush-hush');
    expect(JSON.stringify(at.lines())).not.toContain('hush-hush');
  });

  it('keeps the first 500 characters of the answer', async () => {
    receiver.answer = { status: 400, body: 'x'.repeat(5_000) };
    await made();
    await deliverWebhook(deps(), await claimed(), never);
    const { responseExcerpt, state } = await stored();
    expect(responseExcerpt).toHaveLength(500);
    expect(state).toBe('dead_letter');
  });

  it.each([408, 425, 429, 500, 502, 503, 504])('is sent again after %i', async (status) => {
    receiver.answer = { status, body: {} };
    await made();
    await deliverWebhook(deps(), await claimed(), never);
    const dueAt = new Date(at.clock.now() + 30_000);
    expect(await stored()).toMatchObject({ state: 'pending', responseStatus: status, dueAt });
  });

  it.each([301, 400, 401, 404, 410, 422, 501])('is a dead letter after %i', async (status) => {
    receiver.answer = { status, body: {} };
    await made();
    await deliverWebhook(deps(), await claimed(), never);
    expect(await stored()).toMatchObject({ state: 'dead_letter', responseStatus: status });
  });

  it('is sent again after a broken connection, and after 30 s without an answer', async () => {
    receiver.answer = 'reset';
    await made();
    await deliverWebhook(deps(), await claimed(), never);
    expect(await stored()).toMatchObject({ state: 'pending', responseStatus: null });
    receiver.answer = 'hang';
    at.clock.advance(30_000);
    const delivery = await claimed();
    const arrived = receiver.next();
    const sending = deliverWebhook(deps(), delivery, never);
    await arrived;
    at.clock.advance(29_999);
    expect((await stored()).state).toBe('sending');
    at.clock.advance(1);
    await sending;
    expect(await stored()).toMatchObject({
      state: 'pending',
      attempts: 2,
      dueAt: new Date(at.clock.now() + 60_000),
    });
  });

  it('is tried five times: after 30, 60, 120 and 240 seconds', async () => {
    receiver.answer = { status: 503, body: {} };
    await made();
    const waits: number[] = [];
    for (let attempt = 1; attempt <= 5; attempt++) {
      await deliverWebhook(deps(), await claimed(), never);
      const { dueAt } = await stored();
      if (dueAt === null) break;
      waits.push((dueAt.getTime() - at.clock.now()) / 1_000);
      at.clock.advance(dueAt.getTime() - at.clock.now());
    }
    expect(waits).toEqual([30, 60, 120, 240]);
    expect(receiver.asked.map(({ headers }) => headers['x-patchbay-delivery-attempt'])).toEqual([
      '1',
      '2',
      '3',
      '4',
      '5',
    ]);
    expect(new Set(receiver.asked.map(({ body }) => body)).size).toBe(1);
    expect(await stored()).toMatchObject({ state: 'dead_letter', attempts: 5 });
    expect([6, 7, 60].map(retryMs)).toEqual([600_000, 600_000, 600_000]);
  });

  it('that may not be sent at all is a dead letter; its error does not contain the address', async () => {
    await made({ url: 'http://10.0.0.1/token-123' });
    await deliverWebhook(
      { ...deps(), outside: createGuardedHttp(openSignUpEgress()) },
      await claimed(),
      never,
    );
    const { state, error } = await stored();
    expect(state).toBe('dead_letter');
    expect(error).not.toContain('token-123');
  });

  it('waits if the credential cannot be read just now', async () => {
    await made({ credentialUuid: 'c1' });
    const credentialHeaders = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    await deliverWebhook({ ...deps(), credentialHeaders }, await claimed(), never);
    expect(await stored()).toMatchObject({ state: 'pending', attempts: 1 });
    expect(receiver.asked).toEqual([]);
  });
});
