import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Passwords } from '../../../src/api/auth/passwords.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { rounds } from '../../rounds.ts';

const cheap = { log2N: 4, r: 1, p: 1 };

describe('passwords', () => {
  it('are right for their hash only, whatever they hold', async () => {
    const passwords = new Passwords(systemRandom, cheap);
    await fc.assert(
      fc.asyncProperty(fc.string(), fc.string(), async (password, other) => {
        const stored = await passwords.hash(password);
        expect(await passwords.verify(password, stored)).toBe(true);
        const isSame = password.normalize('NFKC') === other.normalize('NFKC');
        expect(await passwords.verify(other, stored)).toBe(isSame);
      }),
      { numRuns: rounds(50, 100) },
    );
  });

  it('cost 32 MiB and three rounds, stored beside the hash; the hash holds nothing else', async () => {
    const stored = await new Passwords(systemRandom).hash('correct horse');
    expect(stored).toMatch(/^scrypt\$15\$8\$3\$[\w-]{22}\$[\w-]{43}$/);
  });

  it('stay right when the cost of new ones grows', async () => {
    const stored = await new Passwords(systemRandom, cheap).hash('correct horse');
    const dearer = new Passwords(systemRandom, { log2N: 6, r: 2, p: 1 });
    expect(await dearer.verify('correct horse', stored)).toBe(true);
    expect(await dearer.verify('correct horsf', stored)).toBe(false);
  });

  it('have a salt: the same one twice has two hashes', async () => {
    const passwords = new Passwords(systemRandom, cheap);
    expect(await passwords.hash('twice')).not.toBe(await passwords.hash('twice'));
  });

  it('are wrong without a hash, and for an invalid hash', async () => {
    const passwords = new Passwords(systemRandom, cheap);
    for (const stored of [undefined, '', 'scrypt$4$1$1$$', 'md5$x', 'scrypt$4$1$1$AAAA$AAAA']) {
      expect(await passwords.verify('x', stored)).toBe(false);
    }
  });

  it('take as long to refuse without a hash as with one', async () => {
    const passwords = new Passwords(systemRandom, { log2N: 13, r: 8, p: 1 });
    const stored = await passwords.hash('x');
    const shortestMs = async (known: string | undefined): Promise<number> => {
      const all: number[] = [];
      for (let i = 0; i < 5; i++) {
        const from = systemClock.monotonicMs();
        await passwords.verify('y', known);
        all.push(systemClock.monotonicMs() - from);
      }
      return Math.min(...all);
    };
    const ratio = (await shortestMs(undefined)) / (await shortestMs(stored));
    expect(ratio).toBeGreaterThan(0.4);
    expect(ratio).toBeLessThan(2.5);
  });

  it('are hashed two at a time, and no more than twenty wait', async () => {
    const passwords = new Passwords(systemRandom, cheap);
    const asked = Array.from({ length: 30 }, () => passwords.hash('x'));
    const outcomes = await Promise.allSettled(asked);
    const refused = outcomes.filter(({ status }) => status === 'rejected');
    expect(refused).toHaveLength(8);
    const codes = refused.map((each) => ('reason' in each ? codeOf(each.reason) : undefined));
    expect(new Set(codes)).toEqual(new Set(['QUEUE_FULL']));
    await passwords.hash('x'); // There is room again.
  });
});
