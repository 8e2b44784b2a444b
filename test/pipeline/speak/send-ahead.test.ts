// A process that stalls again and again: each full garbage collection stopped 250 conversations on one core for 100 to
// 160 ms, every ten seconds, and each time they had a gap.

import { describe, expect, it } from 'vitest';
import { SendAhead } from '../../../src/pipeline/speak/send-ahead.ts';
import { RecentStalls } from '../../../src/pipeline/stalls.ts';
import { CallRig } from '../call-rig.ts';

const LONG = 'and so it goes on and on, '.repeat(60);
const LEAD = { aimMs: 60, maxMs: 160, stallMsMax: 160, stepMs: 80 };

/** Pairs of frames with nothing between their times. */
const gapsOf = ({ farEnd: { frames } }: CallRig) =>
  frames.slice(1).filter(({ atMs }, nth) => atMs > (frames[nth]?.untilMs ?? 0)).length;

describe('a process that stalls for 150 ms', () => {
  it('every ten seconds leaves one gap in an utterance, and none later', async () => {
    const rig = new CallRig({ lead: LEAD });
    rig.say(LONG);
    for (let stall = 0; stall < 5; stall++) {
      await rig.run(10_000);
      rig.clock.stall(150);
    }
    await rig.run(1_000);
    expect(gapsOf(rig)).toBe(1);
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(160 + 160);
  });

  it('has more ahead in calls that begin later', async () => {
    const rig = new CallRig({ lead: LEAD });
    await rig.run(1_000);
    rig.clock.stall(150);
    await rig.run(5_000);
    rig.say(LONG);
    await rig.run(3_000);
    rig.clock.stall(150);
    await rig.run(1_000);
    expect(gapsOf(rig)).toBe(0);
  });

  it('has as little ahead as before half a minute after the last stall', async () => {
    const rig = new CallRig({ lead: LEAD });
    rig.say(LONG);
    await rig.run(1_000);
    rig.clock.stall(150);
    await rig.run(31_000);
    rig.farEnd.aheadMsMax = 0;
    await rig.run(3_000);
    expect(rig.farEnd.aheadMsMax).toBeLessThanOrEqual(160);
  });
});

describe('the lead', () => {
  it('grows by no more than its far end can take back', () => {
    const lead = new SendAhead({ aimMs: 40, maxMs: 60, stallMsMax: 20, stepMs: 20 });
    lead.tick(20, 0);
    expect(lead.leastMs).toBe(30);
    lead.tick(20, 8_000);
    expect(lead.leastMs).toBe(50);
    expect(lead.mostMs).toBeLessThanOrEqual(lead.maxMs - 20);
    expect(lead.maxMs).toBe(80);
  });
});

describe('the longest recent stall', () => {
  it('is remembered for 15 to 30 s', () => {
    const stalls = new RecentStalls();
    const at = (nowMs: number, lateMs = 0) => {
      stalls.note(nowMs, lateMs);
      return stalls.maxMs;
    };
    expect(at(1_000, 150)).toBe(150);
    expect(at(14_000, 30)).toBe(150);
    expect(at(16_000)).toBe(150);
    expect(at(17_000, 40)).toBe(150);
    expect(at(31_001)).toBe(40);
    expect(at(70_000)).toBe(0);
  });

  it('is none where the loop was late by a frame or less', () => {
    const stalls = new RecentStalls();
    stalls.note(100, 20);
    expect(stalls.maxMs).toBe(0);
  });
});
