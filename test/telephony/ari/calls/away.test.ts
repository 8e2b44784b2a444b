// A call whose audio cannot be opened says why, and its caller goes on in the dialplan at `away`. Source: asterisk §4.3.

import { describe, expect, it } from 'vitest';
import { systemRandom } from '../../../../src/std/random.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import { ask } from '../../../fakes/asterisk/scenarios/ari-session.ts';
import {
  dial,
  gateway,
  isUp,
  kill,
  nothingLeft,
  patient,
  restart,
  rings,
  type Table,
  table,
  until,
} from '../ari-harness.ts';

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
  it('goes on in the dialplan at `away`, and no other part hangs it up', async () => {
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

describe('a caller who may have gone on', () => {
  const withVoicemail: Dialplan = {
    'pbx-in': {
      '_X.': [
        { app: 'Stasis', args: ['inbound', '%'] },
        { app: 'Hangup', cause: 16 },
        { app: 'Record', ms: 30_000, label: 'away' },
        { app: 'Hangup', cause: 41 },
      ],
    },
  };

  /** Audio is refused, and `continue` is never answered. `isDone`: though it is carried out. */
  function losesAnswer(at: Table, { isDone }: { isDone: boolean }): void {
    const account = { url: at.asterisk.url, user: 'admin', password: 'admin' };
    at.asterisk.users['admin'] = { password: 'admin' };
    let isForwarded = !isDone;
    at.asterisk.faults.rest = ({ method, path, query }) => {
      if (path.endsWith('externalMedia')) return { status: 501, body: null };
      if (!path.endsWith('/continue')) return undefined;
      if (isForwarded) return isDone ? undefined : 'hang';
      isForwarded = true;
      void ask(account, { method, path, query: { label: query.get('label') ?? '' } });
      return 'hang';
    };
  }

  it('is not hung up where the answer of the PBX is lost', async () => {
    const at = await table({ asterisk: { dialplan: withVoicemail } });
    losesAnswer(at, { isDone: true });
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    expect(await phone.ended).toMatchObject({ cause: 41 });
    await nothingLeft(at);
  });

  it('is hung up if they wait in our application', async () => {
    const at = await table({ asterisk: { dialplan: withVoicemail } });
    losesAnswer(at, { isDone: false });
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    expect(await phone.ended).toMatchObject({ cause: 38 });
    await nothingLeft(at);
  });

  it('is hung up by the next connection if the PBX says nothing', async () => {
    const at = await table({ asterisk: { dialplan: withVoicemail } });
    losesAnswer(at, { isDone: false });
    const { rest } = at.asterisk.faults;
    let looks = 0;
    at.asterisk.faults.rest = (request) => {
      const isLook = request.method === 'GET' && request.path.startsWith('channels/');
      if (!isLook) return rest(request);
      looks += 1;
      return { status: 503, body: null };
    };
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    await until(() => looks === 3, 'three looks');
    at.asterisk.faults.rest = () => undefined;
    await at.asterisk.loseNetwork();
    await at.asterisk.restoreNetwork();
    await phone.ended;
    expect(at.clock.monotonicMs()).toBeLessThan(60_000);
    await nothingLeft(at);
  });

  it('is hung up once the PBX can be asked again, also if its events were never lost', async () => {
    const at = await table({ asterisk: { dialplan: withVoicemail } });
    const { call, phone } = await rings(at);
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('/answer') ? undefined : { status: 503, body: null };
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    await at.clock.advanceAsync(120_000, 500);
    expect(phone.isOver).toBe(false);
    at.asterisk.faults.rest = () => undefined;
    expect(await phone.ended).toMatchObject({ cause: 38 });
    expect(at.harness.states).toHaveLength(1);
    await nothingLeft(at);
  });

  it('is not hung up by a gateway that was started after it', async () => {
    const at = await table({ asterisk: { dialplan: withVoicemail } });
    refuses(at, 'externalMedia', 501);
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    await until(() => at.asterisk.requests.some(({ path }) => path.endsWith('/continue')));
    await kill(at);
    const next = await restart(at);
    await next.provider.control.hangUp(next.credentials, call.callId, patient);
    expect(await phone.ended).toMatchObject({ cause: 41 });
  });

  it('and one who waits for that gateway is hung up', async () => {
    const at = await table({ asterisk: { dialplan: withVoicemail } });
    const { call, phone } = await rings(at);
    const { control } = ariProvider.create({ clock: at.clock, random: systemRandom });
    await control.hangUp(at.credentials, call.callId, patient);
    await phone.ended;
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

  it('and no password that the address has', async () => {
    const at = await table();
    await at.connection.close();
    const address = at.asterisk.url.replace('//', '//admin:geheim@');
    const own = gateway(at.clock, { ...at.credentials, ari_endpoint: address });
    await isUp(own);
    at.asterisk.faults.rest = ({ path }) => {
      if (path.endsWith('externalMedia')) at.asterisk.faults.upgrade = 404;
      return undefined;
    };
    const { call } = await rings({ asterisk: at.asterisk, harness: own.harness });
    const error: unknown = await own.connection
      .openMedia(call.callId, patient)
      .catch((reason: unknown) => reason);
    expect(String(error)).toContain('404');
    expect(String(error)).not.toContain('geheim');
  });
});
