// The PBX's jitter buffer for calls that the gateway dials: no line of the dialplan sets it for them.

import { expect, it } from 'vitest';
import { dial, table } from '../ari-harness.ts';

const BUFFER = Object.fromEntries([['JITTERBUFFER(adaptive)', 'default']]);

it.each([
  ['a media websocket', {}, BUFFER],
  ['AudioSocket', { media: 'audiosocket' }, BUFFER],
  ['a media websocket, with early media', { early_media: true }, BUFFER],
  ['RTP, which has timestamps', { media: 'rtp' }, {}],
])('%s', async (_, credentials, variables) => {
  const at = await table({ credentials });
  await dial(at, 'PJSIP/noanswer@loop');
  const made = at.asterisk.requests.find(({ path }) => /^channels(\/create)?$/.test(path));
  expect(made?.body).toEqual({ variables });
});

it('RTP of an Asterisk without media websockets', async () => {
  const at = await table({ asterisk: { version: '18.20.0' } });
  await dial(at, 'PJSIP/noanswer@loop');
  const made = at.asterisk.requests.find(({ path }) => path === 'channels');
  expect(made?.body).toEqual({ variables: {} });
});
