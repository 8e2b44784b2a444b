// The bounded share that each organization and address has of the API.

import { EventEmitter, once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { beforeEach, describe, expect, it, vi } from 'vitest';
import { RequestAdmission } from '../../../src/api/admission/admission.ts';
import type { QueueLimits } from '../../../src/api/admission/fair-queue.ts';
import { namedOperations } from '../../../src/api/admission/route-admissions.ts';
import { admissionSeconds, admissionsWaiting } from '../../../src/metrics/api-metrics.ts';
import { deferred } from '../../fakes/deferred.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { operationsOf } from '../operations.ts';
import { smallWorkflow, withApi } from '../served.ts';

const queue = (limits: Partial<QueueLimits>): QueueLimits => ({
  max: 4,
  ofNameMax: 4,
  waitingMax: 4,
  waitingOfNameMax: 4,
  waitMsMax: 60_000,
  ...limits,
});
const CALL = { phone_number: '+14155550100' };
const CONTEXT = { ...CALL, initial_context: { text: 'x'.repeat(40_000) } };

describe('an organization with as many requests as it may have', () => {
  const served = withApi(() => ({
    queues: {
      outside: queue({ max: 3, ofNameMax: 2, waitingOfNameMax: 1 }),
      outsideLarge: queue({ max: 2, ofNameMax: 1, waitingOfNameMax: 0 }),
    },
  }));
  let held = deferred();
  let otherKey = '';

  beforeEach(async () => {
    otherKey = (await served.stranger()).apiKey;
    held = deferred();
    served.callService.untilStarted = held.promise;
  });

  const start = (key: string, body: unknown = CALL) =>
    served.call('POST', '/api/v1/public/agent/some-uuid', { key, body });
  /** Once that many have reached the handler. */
  const started = async (count: number): Promise<void> => {
    while (served.callService.started.length < count) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
  };

  it('waits for its own, while another is served', async () => {
    const own = served.test.apiKey;
    const two = [start(own), start(own)];
    await started(2);
    const third = start(own);
    const other = start(otherKey);
    await started(3);
    expect(served.callService.started.map(({ organizationId }) => organizationId)).toEqual([
      served.test.owner.organizationId,
      served.test.owner.organizationId,
      expect.not.stringMatching(new RegExp(`^${served.test.owner.organizationId}$`)),
    ]);
    held.resolve();
    const answers = await Promise.all([...two, third, other]);
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  });

  it('gets 429 with a retry time, in the form of every error, when too many wait', async () => {
    const own = served.test.apiKey;
    const two = [start(own), start(own)];
    await started(2);
    const both = [start(own), start(own)];
    const refused = await Promise.race(both);
    expect(refused.status).toBe(429);
    expect(refused.headers['retry-after']).toBe('2');
    expect(refused.body).toEqual({
      detail:
        'Too many requests of this organization or address wait already. Send fewer at once, and try again in 2 s',
      code: 'TOO_MANY_REQUESTS',
      retry_after: 2,
    });
    held.resolve();
    const answers = await Promise.all([...two, ...both]);
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 429]);
  });

  it('has fewer places for large requests', async () => {
    const own = served.test.apiKey;
    const large = start(own, CONTEXT);
    await started(1);
    expect((await start(own, CONTEXT)).status).toBe(429);
    const small = start(own);
    await started(2);
    held.resolve();
    expect((await Promise.all([large, small])).map(({ status }) => status)).toEqual([200, 200]);
  });
});

describe('a gateway without room for an ordinary request', () => {
  const none = queue({ max: 0, ofNameMax: 0, waitingMax: 0, waitingOfNameMax: 0 });
  const served = withApi(() => ({
    queues: { ordinary: none, heavy: none, file: none, outside: none, outsideLarge: none },
  }));

  it.each([
    ['POST', '/api/v1/telephony/inbound/run'],
    ['POST', '/api/v1/telephony/inbound/fallback'],
    ['POST', '/api/v1/telephony/twilio/status-callback/1'],
    ['GET', '/api/v1/health'],
    ['GET', '/live'],
    ['GET', '/ready'],
    ['GET', '/metrics'],
  ] as const)('answers %s %s', async (method, path) => {
    expect((await served.call(method, path, { key: null })).status).toBe(200);
  });

  it.each([
    ['GET', '/api/v1/workflow/summary'],
    ['GET', '/api/v1/organizations/usage/runs/report'],
    ['POST', '/api/v1/workflow/create/definition'],
    ['POST', '/api/v1/campaign/create'],
    ['POST', '/api/v1/auth/login'],
  ] as const)('refuses %s %s without checking its key', async (method, path) => {
    const body = method === 'POST' ? { body: {} } : {};
    expect((await served.call(method, path, { key: 'nobody', ...body })).status).toBe(429);
  });
});

describe('a queue of one place', () => {
  const one = queue({ max: 1, ofNameMax: 1 });
  const served = withApi(() => ({
    queues: { ordinary: one, heavy: one, file: one, outside: one, outsideLarge: one },
  }));

  it('is given back by every kind of answer', async () => {
    const made = { name: 'a', workflow_definition: smallWorkflow };
    const { id } = await served.ok('POST', '/workflow/create/definition', made);
    const asked = [
      ['GET', '/workflow/summary', 200],
      ['GET', '/workflow/fetch/999', 404],
      ['POST', '/workflow/create/definition', 422],
      ['POST', `/workflow/${id}/validate`, 200],
      ['GET', `/workflow/${id}/report`, 200],
      ['GET', '/organizations/usage/runs/report', 200],
      ['GET', '/organizations/events?follow=false', 200],
      ['DELETE', '/user/api-keys/999', 404],
      ['GET', '/nothing', 404],
    ] as const;
    for (const round of [1, 2]) {
      for (const [method, path, status] of asked) {
        const body = method === 'POST' && status === 422 ? { body: '{' } : {};
        const answer = await served.call(method, `/api/v1${path}`, body);
        expect([round, path, answer.status]).toEqual([round, path, status]);
      }
    }
  });

  it('is not taken by a client that has not sent its body, nor by one that went away', async () => {
    const address = await served.api.listen({ host: '127.0.0.1', port: 0 });
    const { port } = served.api.server.address() as AddressInfo;
    const slow = connect(port, '127.0.0.1');
    const head = ['POST /api/v1/folder/ HTTP/1.1', 'Host: a', 'Content-Type: application/json'];
    const key = `X-API-Key: ${served.test.apiKey}`;
    slow.write(`${[...head, key, 'Content-Length: 1000'].join('\r\n')}\r\n\r\n{"name"`);
    await once(served.api.server, 'request');
    const ask = () =>
      fetch(`${address}/api/v1/workflow/summary`, {
        headers: { 'x-api-key': served.test.apiKey },
        signal: AbortSignal.timeout(5_000),
      });
    expect((await ask()).status).toBe(200);
    slow.destroy();
    expect((await ask()).status).toBe(200);
  });

  it('is shared by all who have no key that is known', async () => {
    expect((await served.call('GET', '/api/v1/workflow/summary', { key: 'nobody' })).status).toBe(
      401,
    );
    expect((await served.call('GET', '/api/v1/workflow/summary')).status).toBe(200);
  });
});

describe('a client that closes its connection', () => {
  const served = withApi(() => ({
    queues: { outside: queue({ max: 1, ofNameMax: 1 }) },
  }));

  it('is no error of the gateway while its request waits', async () => {
    const held = deferred();
    served.callService.untilStarted = held.promise;
    const first = served.call('POST', '/api/v1/public/agent/some-uuid', { body: CALL });
    while (served.callService.started.length < 1) {
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    await served.api.listen({ host: '127.0.0.1', port: 0 });
    const { port } = served.api.server.address() as AddressInfo;
    const client = connect(port, '127.0.0.1');
    const before = await countOf('gone');
    client.write(
      `POST /api/v1/auth/login HTTP/1.1\r\nHost: a\r\nX-API-Key: ${served.test.apiKey}\r\n` +
        'Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}',
    );
    while ((await waitingOutside()) < 1) await new Promise((resolve) => setTimeout(resolve, 2));
    client.destroy();
    while ((await waitingOutside()) > 0) await new Promise((resolve) => setTimeout(resolve, 2));
    held.resolve();
    expect((await first).status).toBe(200);
    expect(await countOf('gone')).toBe(before + 1);
    const logged = served.test.lines().filter(({ level }) => level === 'error' || level === 50);
    expect(logged).toEqual([]);
  });

  async function waitingOutside(): Promise<number> {
    const { values } = await admissionsWaiting.get();
    return values.find(({ labels }) => labels.class === 'outside')?.value ?? 0;
  }

  async function countOf(result: string): Promise<number> {
    const { values } = await admissionSeconds.get();
    const of = values.filter(({ labels }) => labels.result === result);
    return of.find(({ metricName }) => metricName?.endsWith('_count'))?.value ?? 0;
  }
});

it('gives the place of an answer back at once whose client has left while it was made', async () => {
  const clock = new FakeClock();
  const admission = new RequestAdmission(clock, {
    limits: { heavy: queue({ max: 1, ofNameMax: 1 }) },
  });
  const first = requestOf();
  const connection = new EventEmitter();
  await admission.begin(first, { raw: connection } as unknown as FastifyReply);
  connection.emit('close');
  const reply = { raw: connection } as unknown as FastifyReply;
  admission.end(first, reply, Readable.from(['report']));
  const second = requestOf();
  void admission.begin(second, { raw: new EventEmitter() } as unknown as FastifyReply);
  await new Promise((resolve) => setImmediate(resolve));
  expect(second.place?.isHeld).toBe(true);
});

it('refuses a large body before it is received if its line is full', async () => {
  const clock = new FakeClock();
  const heavy = queue({ max: 1, ofNameMax: 1, waitingOfNameMax: 1 });
  const admission = new RequestAdmission(clock, { limits: { heavy } });
  const header = vi.fn();
  const begin = (request: FastifyRequest) =>
    admission.begin(request, { raw: new EventEmitter(), header } as unknown as FastifyReply);
  await begin(requestOf());
  const waiting = begin(requestOf());
  const large = { 'content-length': '40000' };
  await expect(begin(requestOf(large))).rejects.toMatchObject({ code: 'TOO_MANY_REQUESTS' });
  // The body went on being received on a connection that was kept.
  expect(header.mock.calls).toEqual([['Connection', 'close']]);
  await begin({ ...requestOf(large), ip: '192.0.2.2' } as FastifyRequest);
  clock.advance(60_000);
  await expect(waiting).rejects.toMatchObject({ code: 'API_BUSY' });
  await begin(requestOf(large));
});

/** What is read of a request for a report. */
function requestOf(headers: Record<string, string> = {}): FastifyRequest {
  return {
    headers,
    principal: null,
    ip: '192.0.2.1',
    place: null,
    share: { name: 'a' },
    rawBody: Buffer.alloc(0),
    routeOptions: { config: { admission: 'heavy' } },
  } as unknown as FastifyRequest;
}

describe('the table of what operations need', () => {
  const served = withApi();

  it('names operations that exist', async () => {
    const document = await served.ok('GET', '/openapi.json');
    const known = operationsOf(document).map(({ operationId }) => operationId);
    expect(namedOperations.filter((each) => !known.includes(each))).toEqual([]);
  });
});
