import { describe, expect, it } from 'vitest';
import { PreparedLines } from '../../../src/call/session/wait-lines.ts';
import { FakeClock, settle } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { FakeTts } from '../../fakes/speech-services.ts';

describe('lines that are rendered ahead', () => {
  it('are rendered once each, also if they are asked for again meanwhile', async () => {
    const clock = new FakeClock();
    const tts = new FakeTts(clock);
    tts.firstAudioMs = 100;
    const lines = new PreparedLines({ tts, voice: undefined, log: quietLog().log });
    const all = ['One moment.', 'Please wait.'];
    const done = Promise.all([lines.prepare(all), lines.prepare(all)]);
    for (let nth = 0; nth < 5; nth += 1) {
      clock.advance(100);
      await settle();
    }
    await done;
    expect([...tts.rendered].sort()).toEqual(all);
    expect(all.every((text) => lines.samples(text) !== undefined)).toBe(true);
  });
});
