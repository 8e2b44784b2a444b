// A far end that loses time while it plays: an Asterisk on a busy machine plays one frame at each beat of its
// timer, and none for a beat that it missed. In measurements its queue grew to 4 s within half a minute of
// speech, and a caller who cut in was taken to have heard all of that. Source: asterisk §0.11.

import { describe, expect, it } from 'vitest';
import { CallRig } from '../call-rig.ts';

const LONG = 'and so it goes on and on, '.repeat(60);
const WORDS_A_SECOND_MAX = 20;

/** Every half second it loses some, and is asked how far it has come. */
async function runLate(rig: CallRig, halfSeconds: number, lostMs: number): Promise<void> {
  for (let nth = 0; nth < halfSeconds; nth++) {
    await rig.run(500);
    rig.farEnd.lose(lostMs);
    rig.audio.unplayed(rig.farEnd.unplayedMs);
  }
}

describe('a far end that loses time', () => {
  it('is sent no more than it can play, and misses nothing', async () => {
    const rig = new CallRig();
    const inTime = new CallRig();
    for (const each of [rig, inTime]) each.say(LONG);
    await runLate(rig, 40, 100);
    // What it lost since it was last asked comes on top of the lead.
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(160 + 100);
    expect(rig.farEnd.unplayedMs).toBeGreaterThan(0);
    for (const each of [rig, inTime]) await each.run(120_000);
    expect(rig.reports).toMatchObject([{ heardText: LONG.trim(), interrupted: false }]);
    expect(rig.farEnd.playedMs).toBe(inTime.farEnd.playedMs);
  });

  it('is not sent less for what it loses less than two frames of', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await runLate(rig, 10, 0);
    const before = rig.farEnd.playedMs;
    await rig.run(1_000);
    expect(rig.farEnd.playedMs - before).toBe(1_000);
  });

  it('ends an utterance when it has played it', async () => {
    const rig = new CallRig();
    rig.say('Hello and good day to you.');
    await rig.run(300);
    rig.farEnd.lose(700);
    rig.audio.unplayed(rig.farEnd.unplayedMs);
    await rig.run(10_000);
    const [report] = rig.reports;
    expect(report?.endMs).toBe(rig.farEnd.silentSince(99_999));
    expect(rig.of('utterance-finished')[0]?.atMs).toBeGreaterThanOrEqual(
      rig.farEnd.silentSince(99_999),
    );
  });

  it('was heard to say only what it played when a caller cuts in', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await runLate(rig, 20, 200);
    await rig.says('stop', 1_000);
    await rig.run(500);
    const [report] = rig.reports;
    expect(report?.interrupted).toBe(true);
    const heard = report?.heardText.split(' ').length ?? 0;
    const played = (rig.farEnd.playedMs / rig.tts.durationMs(LONG)) * LONG.split(' ').length;
    expect(Math.abs(heard - played)).toBeLessThanOrEqual(WORDS_A_SECOND_MAX * 0.2);
  });

  it('says nothing of a call that is over', async () => {
    const rig = new CallRig();
    rig.say(LONG);
    await rig.run(500);
    await rig.audio.close();
    rig.audio.unplayed(5_000);
    expect(rig.of('broken')).toEqual([]);
  });
});
