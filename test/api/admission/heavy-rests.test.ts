import { describe, expect, it } from 'vitest';
import { HeavyRests } from '../../../src/api/admission/heavy-rests.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

describe('a name that has ended heavy work', () => {
  it('rests three times as long while the loop is busy and another name is there', () => {
    const rests = new HeavyRests(new FakeClock(), () => true);
    rests.note('a');
    rests.note('b');
    expect(rests.restMs('a', 100)).toBe(300);
    expect(rests.restMs('a', 60_000)).toBe(2_000);
  });

  it('does not rest alone, nor when the others have left, nor while the loop has time', async () => {
    const clock = new FakeClock();
    let isBusy = true;
    const rests = new HeavyRests(clock, () => isBusy);
    rests.note('a');
    expect(rests.restMs('a', 100)).toBe(0);
    rests.note('b');
    await clock.advance(2_001);
    rests.note('a');
    expect(rests.restMs('a', 100)).toBe(0);
    rests.note('b');
    isBusy = false;
    expect(rests.restMs('a', 100)).toBe(0);
  });

  it('is compared with at most sixteen names', () => {
    const rests = new HeavyRests(new FakeClock(), () => true);
    for (let name = 0; name < 1_000; name++) rests.note(`name ${name}`);
    for (let turn = 0; turn < 20; turn++) rests.note('a');
    expect(rests.restMs('a', 1)).toBe(3);
  });
});
