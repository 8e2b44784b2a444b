// Calls that are placed beside a measurement: in an open loop at a provider that accepts every dial at once.

import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { startAcceptingTwilio } from '../../fakes/twilio/accepting-twilio.ts';
import { OpenLoopStarts } from './open-loop-starts.ts';
import { latenessOf } from './outbound-client.ts';

const PER_SECOND = 100;
const HELD = 20;

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

/** An API that answers its first HELD requests together. */
async function heldApi(status: number): Promise<{ url: string; allHeld: Promise<void> }> {
  const held: ServerResponse[] = [];
  const reply = (response: ServerResponse): void => {
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end('{}');
  };
  let noteAll: () => void = () => undefined;
  const allHeld = new Promise<void>((resolve) => {
    noteAll = resolve;
  });
  const server = createServer((request, response) => {
    request.resume();
    if (held.push(response) > HELD) reply(response);
    if (held.length !== HELD) return;
    for (const each of held) reply(each);
    noteAll();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  return { url: `http://127.0.0.1:${port}`, allHeld };
}

async function startsAt(status: number) {
  const { url, allHeld } = await heldApi(status);
  const options = { apiKey: 'k', agentUuid: 'a', configurationId: '1', perSecond: PER_SECOND };
  const starts = new OpenLoopStarts({ url, ...options });
  starts.measure();
  await allHeld;
  return starts.finish();
}

describe('starts in an open loop', () => {
  it('are sent at their rate while none is answered, and each counts from when it was due', async () => {
    const { starts, startsFailed, startP99Ms } = await startsAt(200);
    expect(starts).toBeGreaterThanOrEqual(HELD);
    expect(startsFailed).toBe(0);
    expect(startP99Ms).toBeGreaterThan(((HELD - 2) * 1_000) / PER_SECOND);
  });

  it('that are refused count as failed, with what was said', async () => {
    const { starts, startsFailed, startFailures, startsPerSecond } = await startsAt(429);
    expect([startsFailed, startsPerSecond]).toEqual([starts, 0]);
    expect(startFailures[0]).toContain('429');
  });
});

describe('a provider that accepts every dial', () => {
  it('notes the number, answers with a new call each time, and lists its own number', async () => {
    const dialled: string[] = [];
    const provider = await startAcceptingTwilio('+15550100999', (to) => void dialled.push(to));
    closing.push(() => void provider.close());
    const dial = async (): Promise<unknown> => {
      const body = new URLSearchParams('To=%2B14155550100&From=%2B15550100999');
      const reply = await fetch(`${provider.url}/Accounts/AC1/Calls.json`, {
        method: 'POST',
        body,
      });
      expect(reply.status).toBe(201);
      return ((await reply.json()) as { sid: string }).sid;
    };
    expect(await dial()).not.toBe(await dial());
    expect(dialled).toEqual(['+14155550100', '+14155550100']);
    const numbers = await fetch(`${provider.url}/Accounts/AC1/IncomingPhoneNumbers.json`);
    expect(await numbers.text()).toContain('+15550100999');
  });
});

describe('the dials of a campaign', () => {
  it('are late against the turns of their contacts, as far as these are known', () => {
    const turns = new Map([
      ['+1', 1_000],
      ['+2', 1_010],
    ]);
    const dials = [
      { to: '+1', atMs: 1_004 },
      { to: '+2', atMs: 1_030 },
      { to: '+3', atMs: 9_000 },
    ];
    expect(latenessOf(dials, turns)).toEqual({
      dialLateP50Ms: 4,
      dialLateP99Ms: 20,
      dialLateMaxMs: 20,
    });
  });
});
