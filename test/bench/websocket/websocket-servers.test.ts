// The comparison of websocket servers with few connections: that it measures what it says.

import { expect, it } from 'vitest';
import { costOf, mediaMessage } from './websocket-servers.ts';

it('is made with messages as Twilio sends them', () => {
  const { media } = JSON.parse(mediaMessage()) as { media: { payload: string } };
  expect(Buffer.from(media.payload, 'base64')).toHaveLength(160);
});

it.each([
  ['own', 'in'],
  ['own', 'out'],
  ['ws', 'in'],
  ['ws', 'out'],
] as const)(
  'counts the messages of %s, %s',
  async (kind, direction) => {
    const cost = await costOf(kind, direction, { connections: 5, seconds: 1, warmUpMs: 200 });
    expect(cost.messages).toBeGreaterThan(100); // 250 where the machine is quiet.
    expect(cost.messages).toBeLessThan(500);
    expect(cost.microseconds).toBeGreaterThan(0);
  },
  60_000,
);
