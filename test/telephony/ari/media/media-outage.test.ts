// Media that are lost and cannot be opened at once: a proxy is reloaded, a firewall drops its connections.
// Attempts with growing pauses for five seconds; music after two. Source: asterisk §0.17.

import { describe, expect, it } from 'vitest';
import type { FakeAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import {
  cut,
  legOf,
  nothingLeft,
  patient,
  type Table,
  table,
  talks,
  transferLeg,
  until,
} from '../ari-harness.ts';

const opensMedia = (method: string, path: string): boolean =>
  method === 'POST' && path.endsWith('externalMedia');

const REFUSED = { status: 500, body: null };

/** Media cannot be opened until this is taken back; the event connection works. */
function refuseMedia(asterisk: FakeAsterisk): () => void {
  asterisk.faults.rest = ({ method, path }) => (opensMedia(method, path) ? REFUSED : undefined);
  return () => {
    asterisk.faults.rest = () => undefined;
  };
}

const music = ({ asterisk }: Table): string[] =>
  asterisk.requests.filter(({ path }) => path.endsWith('/moh')).map(({ method }) => method);

async function passes({ clock }: Table, ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms;
  await until(() => clock.monotonicMs() >= untilMs, 'the time');
}

describe('a proxy that resets all sockets at once', () => {
  it.each([0, 500, 3_000])('and is back after %i ms ends no call', async (ms) => {
    const at = await table();
    const { audio, phone } = await talks(at);
    await at.asterisk.loseNetwork();
    await passes(at, ms);
    await at.asterisk.restoreNetwork();
    await until(() => audio.outages.length === 2, 'the media');
    expect(audio.outages).toEqual(['interrupted', 'restored']);
    const before = phone.arrivals.length;
    audio.say(5);
    await until(() => phone.arrivals.length >= before + 5, 'audio');
    expect(at.asterisk.bridgeIds).toHaveLength(1);
    await until(() => at.connection.state.kind === 'up', 'the connection');
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    expect(audio.closedWith).toBe('ended');
    await nothingLeft(at);
    expect(at.asterisk.complaints).toEqual([]);
  });

  it('and is not back after five seconds ends the call', async () => {
    const at = await table();
    const { audio } = await talks(at);
    const lostMs = at.clock.monotonicMs();
    await at.asterisk.loseNetwork();
    await until(() => audio.closedWith !== null, 'the end');
    expect(audio.closedWith).toBe('fault');
    expect(at.clock.monotonicMs() - lostMs).toBeGreaterThanOrEqual(4_900);
    // The lost connection and the end of the call are logged above this layer.
    const warned = at.lines().filter(({ level }) => level === 'warn' || level === 'error');
    expect(warned).toEqual([]);
    await at.asterisk.restoreNetwork();
    await until(() => at.connection.state.kind === 'up', 'the connection');
    await nothingLeft(at);
  });

  it('leaves one line about the call in the log', async () => {
    const at = await table();
    const { audio } = await talks(at);
    await at.asterisk.loseNetwork();
    await passes(at, 2_500);
    await at.asterisk.restoreNetwork();
    await until(() => audio.outages.length === 2, 'the media');
    const about = at.lines().filter(({ level }) => level === 'warn' || level === 'error');
    expect(about).toHaveLength(1);
    expect(about[0]).toMatchObject({ outageMs: expect.any(Number), attempts: expect.any(Number) });
  });
});

describe('an attempt that fails after its socket was opened', () => {
  it('is not taken for another outage when that socket closes later', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    let refusals = 0;
    at.asterisk.faults.rest = ({ path }) => {
      if (!path.endsWith('addChannel')) return undefined;
      refusals += 1;
      return { status: 500, body: null };
    };
    await cut(at, legOf(at).channelId);
    await until(() => refusals === 3, 'the third attempt');
    const failed = legOf(at);
    await passes(at, 60); // Of a pause of 400 ms.
    failed.gone();
    await passes(at, 100);
    at.asterisk.faults.rest = () => undefined;
    await until(() => audio.outages.length >= 2, 'the media');
    await passes(at, 6_000);
    expect(audio.outages).toEqual(['interrupted', 'restored']);
    expect(audio.closedWith).toBeNull();
    expect(at.asterisk.channels).toHaveLength(2);
    phone.hangUp();
    await nothingLeft(at);
  });
});

describe('media that are lost while a caller is transferred', () => {
  it.each([
    ['music', ['/moh']],
    ['ringback', ['/play/', 'playbacks/']],
  ] as const)('leave the %s of the transfer alone', async (callerHears, parts) => {
    const at = await table();
    const talk = await talks(at);
    const warm = { callerHears, consult: () => Promise.resolve() };
    const target = { to: 'noanswer', callerId: '', ringS: 60, warm };
    const { control } = at.provider;
    const over = control.transfer(at.credentials, talk.callId, target, patient);
    over.catch(() => undefined);
    const leg = await transferLeg(at);
    const allow = refuseMedia(at.asterisk);
    await cut(at, legOf(at).channelId);
    await passes(at, 2_500);
    allow();
    await until(() => talk.audio.outages.length === 2, 'the media');
    expect(talk.audio.outages).toEqual(['interrupted', 'restored']);
    await passes(at, 500);
    const asked = at.asterisk.requests.filter(({ path }) =>
      parts.some((part) => path.includes(part)),
    );
    expect(asked.map(({ method }) => method)).toEqual(['POST']);
    const before = talk.phone.arrivals.length;
    await until(() => talk.phone.arrivals.length > before + 10, 'its sound');
    await cut(at, leg);
    await expect(over).rejects.toThrow();
    const heard = talk.phone.arrivals.length;
    talk.audio.say(5);
    await until(() => talk.phone.arrivals.length >= heard + 5, 'the agent');
    talk.phone.hangUp();
    await nothingLeft(at);
  });
});

describe('media that cannot be opened again while the events come', () => {
  it('are asked for with growing pauses, and the caller hears music after two seconds', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const allow = refuseMedia(at.asterisk);
    const asked: number[] = [];
    const { rest } = at.asterisk.faults;
    const lostMs = at.clock.monotonicMs();
    at.asterisk.faults.rest = (request) => {
      if (opensMedia(request.method, request.path)) asked.push(at.clock.monotonicMs() - lostMs);
      return rest(request);
    };
    await cut(at, legOf(at).channelId);
    await until(() => music(at).length > 0, 'music');
    const musicMs = at.clock.monotonicMs() - lostMs;
    expect(musicMs).toBeGreaterThanOrEqual(2_000);
    expect(musicMs).toBeLessThan(4_000); // Requests take time too: the clock does not wait for them.
    const heard = phone.arrivals.length;
    await until(() => phone.arrivals.length > heard + 10, 'its sound');
    allow();
    await until(() => audio.outages.length === 2, 'the media');
    expect(audio.outages).toEqual(['interrupted', 'restored after music']);
    expect(music(at)).toEqual(['POST', 'DELETE']);
    expect(asked.length).toBeGreaterThanOrEqual(3);
    expect(asked.length).toBeLessThanOrEqual(8);
    const pauses = asked.slice(1).map((ms, nth) => ms - (asked[nth] ?? 0));
    expect(pauses.at(-1)).toBeGreaterThan(pauses[0] ?? Number.POSITIVE_INFINITY);
    await passes(at, 200);
    const frames = audio.frames.length;
    await passes(at, 400);
    expect(audio.frames.length).toBe(frames); // No music for the agent.
    phone.hangUp();
    await nothingLeft(at);
  });

  it('and are joined just as the music begins are heard without it', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const allow = refuseMedia(at.asterisk);
    const lostMs = at.clock.monotonicMs();
    await cut(at, legOf(at).channelId);
    await until(() => audio.outages.length === 1, 'the outage');
    await passes(at, 1_000);
    allow();
    let isJoining = false;
    at.asterisk.faults.rest = ({ path }) => {
      if (path.endsWith('addChannel') && !isJoining) {
        isJoining = true;
        at.clock.advance(lostMs + 2_100 - at.clock.monotonicMs());
      }
      return undefined;
    };
    await until(() => audio.outages.length === 2, 'the media');
    await until(() => music(at).includes('DELETE'), 'the end of the music');
    expect(music(at)).toEqual(['POST', 'DELETE']);
    await passes(at, 200);
    const heard = audio.frames.length;
    await passes(at, 400);
    expect(audio.frames.length).toBe(heard);
    phone.hangUp();
    await nothingLeft(at);
  });

  it('are explained by the agent where the PBX has no music', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    let isRefused = true;
    at.asterisk.faults.rest = ({ method, path }) => {
      const isMusic = path.endsWith('/moh');
      return isMusic || (isRefused && opensMedia(method, path)) ? REFUSED : undefined;
    };
    await cut(at, legOf(at).channelId);
    await until(() => music(at).length > 0, 'the request for music');
    isRefused = false;
    await until(() => audio.outages.length === 2, 'the media');
    expect(audio.outages).toEqual(['interrupted', 'restored']);
    phone.hangUp();
    await nothingLeft(at);
  });

  it('end the call after five seconds', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    refuseMedia(at.asterisk);
    const lostMs = at.clock.monotonicMs();
    await cut(at, legOf(at).channelId);
    await phone.ended;
    expect(audio.closedWith).toBe('fault');
    expect(at.clock.monotonicMs() - lostMs).toBeGreaterThanOrEqual(4_900);
    await nothingLeft(at);
  });

  it('and break whenever they are opened end the call too', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    let deaths = 0;
    at.asterisk.stasis.tap = (event) => {
      const { id = '' } = (event['channel'] ?? {}) as { id?: string };
      if (event.type === 'StasisStart' && /m[0-9a-f]{35}$/.test(id)) {
        deaths += 1;
        void cut(at, id);
      }
      return [event];
    };
    await cut(at, legOf(at).channelId);
    await phone.ended;
    expect(deaths).toBeGreaterThan(3);
    expect(deaths).toBeLessThan(100);
    expect(audio.closedWith).toBe('fault');
    await nothingLeft(at);
  });
});
