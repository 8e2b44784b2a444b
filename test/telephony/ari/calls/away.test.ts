// A call whose audio cannot be opened says why, and its caller goes on in the dialplan at `away`. Source: asterisk §4.3.

import { describe, expect, it } from 'vitest';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import { dial, nothingLeft, patient, rings, type Table, table, until } from '../ari-harness.ts';

/** With the label, as the printed extensions.conf has it. */
const withAway: Dialplan = {
  'pbx-in': {
    '_X.': [
      { app: 'Stasis', args: ['inbound', '%'] },
      { app: 'Hangup', cause: 16 },
      { app: 'Playback', sound: 'vm-intro', label: 'away' },
      { app: 'Hangup', cause: 41 },
    ],
  },
};

const refuses = ({ asterisk }: Table, part: string, status: number): void => {
  asterisk.faults.rest = ({ method, path }) =>
    method === 'POST' && path.includes(part) ? { status, body: null } : undefined;
};

describe('a caller whose call gets no audio', () => {
  it('goes on in the dialplan at `away`, and is hung up by nobody else', async () => {
    const at = await table({ asterisk: { dialplan: withAway } });
    refuses(at, 'externalMedia', 501);
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
    });
    await until(() => phone.heard.some(({ pcm }) => pcm.some((each) => each !== 0)), 'the voice');
    // The call layer closes the run, and hangs its call up.
    await at.provider.control.hangUp(at.credentials, call.callId, patient);
    expect(phone.isOver).toBe(false);
    expect(await phone.ended).toMatchObject({ cause: 41 });
    expect(at.harness.of(call.callId)).toEqual(['in-progress']);
    await nothingLeft(at);
  });

  it('is hung up where the dialplan has no such label', async () => {
    const at = await table();
    refuses(at, 'externalMedia', 501);
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    expect(await phone.ended).toMatchObject({ cause: 38 });
    await nothingLeft(at);
  });

  it('and who hangs up meanwhile is sent nowhere', async () => {
    const at = await table({ asterisk: { dialplan: withAway } });
    at.asterisk.faults.rest = ({ path }) => (path.endsWith('externalMedia') ? 'hang' : undefined);
    const { call, phone } = await rings(at);
    const opening = at.connection.openMedia(call.callId, patient);
    opening.catch(() => undefined);
    await until(() => at.asterisk.requests.some(({ path }) => path.endsWith('externalMedia')));
    phone.hangUp();
    await expect(opening).rejects.toThrow();
    expect(at.asterisk.requests.some(({ path }) => path.endsWith('/continue'))).toBe(false);
    expect(at.harness.of(call.callId).at(-1)).toBe('completed');
  });

  it('and whom we have called is hung up', async () => {
    const at = await table({ asterisk: { dialplan: withAway } });
    refuses(at, 'externalMedia', 501);
    const callId = await dial(at, 'instant');
    await until(() => at.harness.answered.length > 0, 'the answer');
    await expect(at.connection.openMedia(callId, patient)).rejects.toThrow();
    await nothingLeft(at);
  });
});

describe('the reason names what to look at', () => {
  it.each([
    [501, 'websocket_server', 'chan_websocket.so'],
    [500, 'websocket_server', 'codec'],
  ])('status %i for %s: %s', async (status, media, words) => {
    const at = await table({ credentials: { media } });
    refuses(at, 'externalMedia', status);
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: expect.stringMatching(/PBX_MEDIA/),
      message: expect.stringContaining(words),
    });
  });

  it.each([[404], [502]])(
    'a media path that is answered with %i: path and address',
    async (code) => {
      const at = await table();
      at.asterisk.faults.rest = ({ path }) => {
        if (path.endsWith('externalMedia')) at.asterisk.faults.upgrade = code;
        return undefined;
      };
      const { call } = await rings(at);
      const message = expect.stringMatching(
        new RegExp(`${code}.*${new URL(at.asterisk.url).host}/media`),
      );
      await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
        message,
      });
    },
  );
});
