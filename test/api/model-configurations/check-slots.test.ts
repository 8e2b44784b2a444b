import { describe, expect, it } from 'vitest';
import { CheckSlots } from '../../../src/api/model-configurations/configuration-checks.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function rig() {
  const clock = new FakeClock();
  const slots = new CheckSlots(clock);
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  /** Starts a check that lasts until `end`. */
  const check = (organizationId: string, name: string) =>
    slots.run(organizationId, async () => {
      begun.push(name);
      await new Promise<void>((done) => void ends.set(name, done));
      return name;
    });
  const end = async (name: string) => {
    ends.get(name)?.();
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
  };
  return { clock, begun, check, end };
}

describe('the slots of checks', () => {
  it('let the fourth check of an organization wait for one of the three before it', async () => {
    const { clock, begun, check, end } = rig();
    const all = ['a', 'b', 'c', 'd', 'e'].map((name) => check('1', name));
    expect(begun).toEqual(['a', 'b', 'c']);
    await end('b');
    expect(begun).toEqual(['a', 'b', 'c', 'd']);
    await end('d');
    for (const name of ['a', 'c', 'e']) await end(name);
    expect(await Promise.all(all)).toEqual(['a', 'b', 'c', 'd', 'e']);
    expect(clock.timers).toBe(0);
  });

  it('are not waited for longer than two checks last', async () => {
    const { clock, begun, check, end } = rig();
    for (const name of ['a', 'b', 'c']) void check('1', name);
    const late = check('1', 'd');
    clock.advance(7_999);
    expect(clock.timers).toBe(1);
    clock.advance(1);
    expect(await late).toBeUndefined();
    await end('a');
    expect(begun).toEqual(['a', 'b', 'c']);
  });

  it('of an organization whose checks wait are no other organization’s', async () => {
    const { begun, check } = rig();
    for (const name of ['a', 'b', 'c', 'd']) void check('1', name);
    void check('2', 'other');
    expect(begun).toEqual(['a', 'b', 'c', 'other']);
  });

  it('are ten for all organizations', async () => {
    const { begun, check, end } = rig();
    for (let nth = 0; nth < 12; nth += 1) void check(String(nth % 6), `${nth}`);
    expect(begun).toHaveLength(10);
    await end('0');
    expect(begun).toHaveLength(11);
  });

  it('are free again after a check that fails', async () => {
    const slots = new CheckSlots(new FakeClock());
    for (let nth = 0; nth < 4; nth += 1) {
      await expect(slots.run('1', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    }
  });
});
