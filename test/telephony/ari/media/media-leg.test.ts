// A call's audio at Asterisk: joined when it can be heard, replaced while the caller is there, taken away when
// nobody is. Source: asterisk §0.11, §0.15 to §0.17.

import { describe, expect, it } from 'vitest';
import {
  Audio,
  cut,
  legOf,
  nothingLeft,
  patient,
  rings,
  strayLeg,
  table,
  talks,
  until,
} from '../ari-harness.ts';

describe("a call's media", () => {
  it('are joined before anything is said: not one frame is lost', async () => {
    const at = await table();
    const { audio } = await talks(at);
    audio.say(10);
    audio.mark('end');
    await until(() => audio.marks.length > 0, 'the mark');
    expect(legOf(at)).toMatchObject({ deliveredFrames: 10, lostFrames: 0 });
  });

  it('are opened though their event comes before the answer to the request', async () => {
    const at = await table();
    at.asterisk.faults.eventsBeforeAnswer = true;
    at.asterisk.faults.audioBeforeStart = true;
    const { audio, phone } = await talks(at);
    expect(audio.starts).toHaveLength(1);
    audio.say(2);
    await until(() => phone.arrivals.length >= 2, 'audio');
  });

  it.each([
    ['the media channel', 'channels/externalMedia'],
    ['the bridge', 'bridges/'],
    ['joining them', 'addChannel'],
  ])('cannot be had without %s: the call is ended and nothing stays', async (_, part) => {
    const at = await table();
    at.asterisk.faults.rest = ({ method, path }) =>
      method === 'POST' && path.includes(part) ? { status: 500, body: null } : undefined;
    const { call, phone } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    await phone.ended;
    await nothingLeft(at);
  });

  it('that come after their deadline are ended', async () => {
    const at = await table();
    const stray = await strayLeg(at);
    await until(() => stray.closedWith !== null, 'the end');
    await nothingLeft(at);
  });

  it('that do not come up say why', async () => {
    const at = await table();
    at.asterisk.faults.rest = ({ method, path }) => {
      // The channel is made, and ends before its socket is opened.
      if (method === 'POST' && path.endsWith('externalMedia')) at.asterisk.faults.upgrade = 404;
      return undefined;
    };
    const { call } = await rings(at);
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toMatchObject({
      code: 'PBX_MEDIA',
      message: expect.stringContaining('404'),
    });
    await nothingLeft(at);
  });
});

describe('a media socket that breaks during a call', () => {
  it('is replaced behind the same session, and what was pending is reported', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    const lost = legOf(at);
    audio.say(100);
    audio.mark('half');
    audio.mark('end');
    await until(() => phone.arrivals.length > 3, 'the first words');
    await cut(at, lost.channelId);
    await until(() => audio.dropped.length === 2, 'the marks');
    expect(audio.dropped).toEqual(['half', 'end']);
    await until(
      () =>
        at.asterisk.channels.some(
          ({ bridge, id }) => bridge !== null && id === legOf(at).channelId,
        ),
      'the next leg',
    );
    expect(audio.starts).toHaveLength(1);
    expect(audio.closedWith).toBeNull();
    const before = phone.arrivals.length;
    audio.say(5);
    audio.mark('again');
    phone.say(new Int16Array(1_600).fill(500));
    const heard = audio.frames.length;
    await until(() => audio.marks.length === 1 && audio.frames.length > heard, 'audio both ways');
    expect(phone.arrivals.length).toBe(before + 5);
    expect(at.asterisk.bridgeIds).toHaveLength(1);
    phone.hangUp();
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
  });

  it('forwards keys', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    await cut(at, legOf(at).channelId);
    phone.press('42');
    await until(() => audio.digits === '42', 'the keys');
  });

  it('is replaced as often as it takes if it held well in between', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    for (let nth = 0; nth < 5; nth++) {
      const lost = legOf(at).channelId;
      await cut(at, lost);
      await until(
        () =>
          at.asterisk.media.websockets
            .filter(({ isUsedUp }) => !isUsedUp)
            .some(({ channelId, isConnected }) => channelId !== lost && isConnected),
        'the next',
      );
      await at.clock.advanceAsync(61_000, 500);
    }
    expect(phone.isOver).toBe(false);
    expect(audio.closedWith).toBeNull();
  });

  it('is not replaced for a caller who leaves meanwhile', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    at.asterisk.stasis.tap = (event) => {
      if (event.type === 'StasisStart') phone.hangUp();
      return [event];
    };
    await cut(at, legOf(at).channelId);
    await until(() => audio.closedWith !== null, 'the end');
    await nothingLeft(at);
    expect(at.harness.statuses.at(-1)?.status).toBe('completed');
  });

  it('ends the call if there is no other to be had', async () => {
    const at = await table();
    const { audio, phone } = await talks(at);
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('externalMedia') ? { status: 500, body: null } : undefined;
    await cut(at, legOf(at).channelId);
    await phone.ended;
    expect(audio.closedWith).toBe('fault');
    await nothingLeft(at);
  });
});

describe("Asterisk's queue", () => {
  it('that has grown is emptied between two utterances, and its marks are reported', async () => {
    const at = await table();
    const { audio } = await talks(at);
    at.asterisk.faults.lostBeats = 1_000; // It stands still for 20 s.
    audio.say(30);
    audio.mark('end');
    await until(() => audio.dropped.length > 0, 'the mark');
    expect(at.clock.monotonicMs()).toBeLessThan(20_000);
    await until(() => legOf(at).queue.status.queue_length === 0, 'the empty queue');
    expect(legOf(at).commands.filter((each) => each.includes('FLUSH_MEDIA'))).toHaveLength(1);
  });

  it('is reported while the agent speaks', async () => {
    const at = await table();
    const { audio } = await talks(at);
    at.asterisk.faults.lostBeats = 1_000; // It stands still for 20 s.
    audio.say(75);
    await until(() => audio.unplayedMs.length === 3, 'three answers');
    // All of it waits; some of it may have been played while it answered.
    expect(Math.max(...audio.unplayedMs)).toBeGreaterThan(1_000);
    expect(Math.max(...audio.unplayedMs)).toBeLessThanOrEqual(1_500);
  });

  it('is left alone while the agent speaks', async () => {
    const at = await table();
    const { audio } = await talks(at);
    audio.say(50);
    for (let nth = 0; nth < 600; nth++) {
      await at.clock.advanceAsync(20);
      audio.say(1);
      if (legOf(at).commands.some((each) => each.includes('GET_STATUS'))) break;
    }
    expect(legOf(at).commands.filter((each) => each.includes('FLUSH_MEDIA'))).toEqual([]);
  });
});

describe('a call layer that has not admitted the media yet', () => {
  it('misses neither their start nor keys', async () => {
    const at = await table();
    const { call, phone } = await rings(at);
    const media = await at.connection.openMedia(call.callId, patient);
    phone.press('1');
    phone.press('2');
    await at.clock.advanceAsync(500);
    const audio = new Audio(media);
    expect(audio.starts).toHaveLength(1);
    expect(audio.digits).toBe('12');
  });

  it('is reported if the call is over by then', async () => {
    const at = await table();
    const { call, phone } = await rings(at);
    const media = await at.connection.openMedia(call.callId, patient);
    phone.hangUp();
    await nothingLeft(at);
    expect(new Audio(media).closedWith).toBe('ended');
  });
});
