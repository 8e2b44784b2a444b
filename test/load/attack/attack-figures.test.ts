// What clients of an attacked API measure.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, vi } from 'vitest';
import { newHonestFigures, noteReply, pathLines } from './honest-clients.ts';
import { newCallFigures, runNewCalls } from './new-calls.ts';

it('has the p99 of replies that take longer than 2 s', () => {
  const calls = newCallFigures();
  for (const durations of [newHonestFigures().durations, calls.webhook, calls.upgrade]) {
    for (let reply = 1; reply <= 98; reply++) durations.add(reply);
    durations.add(12_345.6);
    durations.add(29_999.9);
    expect([durations.at(0.98), durations.at(0.99), durations.at(1)]).toEqual([
      98, 12_345.6, 29_999.9,
    ]);
  }
});

it('tells the durations of each page of a dashboard apart', () => {
  const figures = newHonestFigures();
  noteReply(figures, { path: '/calls/active', ms: 10, isOk: true });
  noteReply(figures, { path: '/calls/active', ms: 30, isOk: true });
  noteReply(figures, { path: '/workflow/summary', ms: 700, isOk: false });
  expect(pathLines(figures)).toEqual([
    '/calls/active 2 requests, 10, 30, 30 ms',
    '/workflow/summary 1 requests, 700, 700, 700 ms',
  ]);
  expect(figures).toMatchObject({ requests: 3, failed: 1 });
});

it('counts a call that fails for the measurement in which it began', async () => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  const asked = vi.fn();
  server.on('request', asked);
  await vi.waitFor(() => expect(server.address()).not.toBeNull());
  const { port } = server.address() as AddressInfo;
  const [first, next] = [newCallFigures(), newCallFigures()];
  let figures = first;
  const stop = new AbortController();
  const webhookUrl = `http://127.0.0.1:${port}/`;
  const credentials = { account_sid: `AC${'0'.repeat(32)}`, auth_token: 'token' };
  const options = {
    provider: 'twilio' as const,
    webhookUrl,
    credentials,
    to: '+15550100',
    series: 1,
  };
  const calls = runNewCalls({ ...options, figures: () => figures }, stop.signal);
  await vi.waitFor(() => expect(asked).toHaveBeenCalled());
  figures = next;
  stop.abort();
  server.closeAllConnections();
  await calls;
  server.close();
  expect(first).toMatchObject({
    calls: 1,
    failed: 1,
    failures: ['SocketError: other side closed'],
  });
  expect(next).toMatchObject({ calls: 0, failed: 0 });
});
