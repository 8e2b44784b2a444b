import fc from 'fast-check';
import { decodeJwt, decodeProtectedHeader, SignJWT, UnsecuredJWT } from 'jose';
import { describe, expect, it } from 'vitest';
import { UserTokens } from '../../../src/api/auth/access.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const KEY = Buffer.alloc(32, 1);
const OTHER = Buffer.alloc(32, 2);
const user = { id: '42', email: 'ada@example.com' };
const HOUR_MS = 3_600_000;

function tokensOf(keys: Uint8Array[] = [KEY], clock = new FakeClock()) {
  return { clock, tokens: new UserTokens({ clock, keys, lifeHours: 720 }) };
}

describe('a token', () => {
  it('is signed by HS256 and says who, since when and for 720 hours', async () => {
    const { clock, tokens } = tokensOf();
    const token = await tokens.issue(user);
    const now = Math.floor(clock.now() / 1_000);
    expect(decodeProtectedHeader(token)).toEqual({ alg: 'HS256', typ: 'JWT' });
    expect(decodeJwt(token)).toEqual({
      sub: '42',
      email: user.email,
      iat: now,
      exp: now + 2_592_000,
    });
  });

  it('names its user until it expires', async () => {
    const { clock, tokens } = tokensOf();
    const token = await tokens.issue(user);
    clock.advance(720 * HOUR_MS - 1_000);
    expect(await tokens.userOf(token)).toBe('42');
    clock.advance(1_000);
    expect(await tokens.userOf(token)).toBeUndefined();
  });

  it('outlives a new key that is put in front of the old one, not the loss of its key', async () => {
    const token = await tokensOf([KEY]).tokens.issue(user);
    expect(await tokensOf([OTHER, KEY]).tokens.userOf(token)).toBe('42');
    expect(await tokensOf([OTHER]).tokens.userOf(token)).toBeUndefined();
  });

  it('is refused without signature, by another algorithm, without user or end', async () => {
    const { clock, tokens } = tokensOf();
    const soon = Math.floor(clock.now() / 1_000) + 60;
    const claims = () => new SignJWT({}).setProtectedHeader({ alg: 'HS256' });
    const big = Buffer.alloc(64, 1);
    const bad = [
      new UnsecuredJWT({ sub: '42', exp: soon }).encode(),
      await new SignJWT({ sub: '42', exp: soon }).setProtectedHeader({ alg: 'HS512' }).sign(big),
      await claims().setExpirationTime(soon).sign(KEY),
      await claims().setSubject('42').sign(KEY),
      await claims().setSubject('42').setExpirationTime(soon).setNotBefore(soon).sign(KEY),
    ];
    for (const token of bad) expect(await tokens.userOf(token)).toBeUndefined();
    const good = await claims().setSubject('42').setExpirationTime(soon).sign(KEY);
    expect(await tokens.userOf(good)).toBe('42');
  });

  it('with one character changed is invalid, as any other text', async () => {
    const { tokens } = tokensOf();
    const token = await tokens.issue(user);
    const spoiled = fc.nat({ max: token.length - 2 }).map((at) => {
      const other = token[at] === 'A' ? 'B' : 'A';
      return token.slice(0, at) + other + token.slice(at + 1);
    });
    const texts = fc.oneof(spoiled, fc.string(), fc.constant('x'.repeat(5_000)));
    await fc.assert(
      fc.asyncProperty(texts, async (text) => (await tokens.userOf(text)) === undefined),
    );
  });
});
