import { describe, expect, it } from 'vitest';
import {
  gatewayLabel,
  MEDIA_PATH,
  MediaTokenSigner,
  parseMediaPath,
} from '../../src/transport/media-token.ts';
import { CLOCK_SKEW_MS_MAX } from '../../src/transport/media-token-store.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { mediaSigner, mediaTokens } from '../fakes/media-tokens.ts';

const call = (id: string) => ({ id, workflowId: '1', organizationId: '2' });
const path = (runId: string, token: string) => {
  const { id: _, ...of } = call(runId);
  return { ...of, runId, token };
};

function tokens(tokensMax = 100) {
  const clock = new FakeClock();
  return { clock, tokens: mediaTokens({ clock, tokensMax }) };
}

describe('a media token', () => {
  it('is good once, for its run', () => {
    const { tokens: table } = tokens();
    const token = table.issue(call('7'), 60_000);
    expect(table.redeem(path('8', token))).toBeUndefined();
    expect(table.isDue(path('7', token))).toBe(true);
    expect(table.redeem(path('7', token))).toEqual({ kind: 'issued' });
    expect(table.redeem(path('7', token))?.kind).not.toBe('issued');
    expect(table.size).toBe(0);
  });

  it('fits into a path and cannot be guessed', () => {
    const { tokens: table } = tokens();
    const issued = Array.from({ length: 100 }, (_, run) => table.issue(call(`${run}`), 60_000));
    expect(new Set(issued).size).toBe(100);
    for (const token of issued) {
      expect(token).toMatch(/^gw1\.1-[0-9a-z]{1,9}-[\w-]{22}-[\w-]{22}$/);
      const url = `${MEDIA_PATH}1/2/3/${token}`;
      expect(parseMediaPath(`${url}/?x=1`)).toEqual(path('3', token));
    }
  });

  it('has at most 105 characters', () => {
    const place = { label: 'g'.repeat(40), worker: 32, untilMs: Date.UTC(2058, 0) };
    expect(mediaSigner.sign(call('7'), place, Buffer.alloc(16)).length).toBeLessThanOrEqual(105);
  });

  it('stays good when others are tried', () => {
    const { tokens: table } = tokens();
    const token = table.issue(call('7'), 60_000);
    const wrong = ['', 'x', `${token}=`, token.slice(1), token.toUpperCase(), `é${token.slice(1)}`];
    for (const each of wrong) {
      expect(table.redeem(path('7', each))).toBeUndefined();
    }
    expect(table.redeem(path('7', token))).toEqual({ kind: 'issued' });
  });

  it('expires', () => {
    const { clock, tokens: table } = tokens();
    const token = table.issue(call('7'), 60_000);
    clock.advance(60_000);
    expect(table.redeem(path('7', token))).toBeUndefined();
  });

  it('replaces the one before', () => {
    const { tokens: table } = tokens();
    const first = table.issue(call('7'), 60_000);
    const second = table.issue(call('7'), 60_000);
    expect(table.isDue(path('7', first))).toBe(false);
    expect(table.redeem(path('7', first))).toBeUndefined();
    expect(table.redeem(path('7', second))).toEqual({ kind: 'issued' });
  });

  it('is issued again with a new validity while it is unused', () => {
    const { clock, tokens: table } = tokens();
    const first = table.issue(call('7'), 60_000);
    clock.advance(50_000);
    expect(table.reissue(call('7'), 60_000)).toBe(first);
    clock.advance(50_000);
    expect(table.redeem(path('7', first))).toEqual({ kind: 'issued' });
    expect(table.reissue(call('7'), 60_000)).not.toBe(first);
  });

  it('is void after it was revoked and another was issued', () => {
    const { tokens: table } = tokens();
    const first = table.issue(call('7'), 60_000);
    table.revoke('7');
    expect(table.size).toBe(0);
    table.issue(call('7'), 60_000);
    expect(table.redeem(path('7', first))).toBeUndefined();
  });

  it('is refused once too many are valid, until some expire', () => {
    const { clock, tokens: table } = tokens(2);
    table.issue(call('1'), 1_000);
    table.issue(call('2'), 60_000);
    expect(() => table.issue(call('3'), 1_000)).toThrow(
      expect.objectContaining({ code: 'QUEUE_FULL' }),
    );
    clock.advance(1_000);
    table.issue(call('3'), 1_000);
    expect(table.size).toBe(2);
  });
});

describe('a media token of another process', () => {
  function two() {
    const clock = new FakeClock();
    const issuing = mediaTokens({ clock, label: 'gw1', worker: 2 });
    const token = issuing.issue(call('7'), 60_000);
    return { clock, token };
  }

  it.each([
    ['another gateway', 'gw2', 2],
    ['another worker', 'gw1', 1],
    ['the next process under the same number', 'gw1', 2],
  ])('is verified by %s, which learns who issued it', (_whom, label, worker) => {
    const { clock, token } = two();
    const other = mediaTokens({ clock, label, worker });
    const untilMs = clock.now() + 60_000;
    const isOwn = label === 'gw1' && worker === 2;
    const signed = { kind: 'signed', token: { label: 'gw1', worker: 2, untilMs }, isOwn };
    expect(other.isDue(path('7', token))).toBe(true);
    expect(other.redeem(path('7', token))).toEqual(signed);
  });

  it('is good for its own path only, and with every character in its place', () => {
    const { clock, token } = two();
    const other = mediaTokens({ clock, label: 'gw2' });
    expect(other.redeem({ ...path('7', token), workflowId: '9' })).toBeUndefined();
    expect(other.redeem({ ...path('7', token), organizationId: '9' })).toBeUndefined();
    expect(other.redeem(path('8', token))).toBeUndefined();
    expect(other.redeem(path('7', token.replace('gw1.', 'gw2.')))).toBeUndefined();
    expect(other.redeem(path('7', token.replace('.2-', '.1-')))).toBeUndefined();
    for (let at = 0; at < token.length; at += 1) {
      const changed = token[at] === 'b' ? 'c' : 'b';
      const forged = `${token.slice(0, at)}${changed}${token.slice(at + 1)}`;
      expect(other.redeem(path('7', forged))).toBeUndefined();
    }
  });

  it('is refused under other keys, and good under an older one', () => {
    const { clock, token } = two();
    const [key, older] = [Buffer.alloc(32, 9), Buffer.alloc(32, 7)];
    const signer = new MediaTokenSigner([key]);
    expect(mediaTokens({ clock, label: 'gw2', signer }).redeem(path('7', token))).toBeUndefined();
    const rotated = new MediaTokenSigner([key, older]);
    const known = mediaTokens({ clock, label: 'gw2', signer: rotated }).redeem(path('7', token));
    expect(known?.kind).toBe('signed');
  });

  it('expires with a margin for clocks that differ', () => {
    const { clock, token } = two();
    const other = mediaTokens({ clock, label: 'gw2' });
    clock.advance(60_000 + CLOCK_SKEW_MS_MAX - 1);
    expect(other.isDue(path('7', token))).toBe(true);
    clock.advance(1);
    expect(other.redeem(path('7', token))).toBeUndefined();
  });
});

describe('the label of a gateway', () => {
  it('is its name where that fits into a token, else ten digits of its hash', () => {
    for (const name of ['gw-1', 'A_b', 'x'.repeat(40)]) expect(gatewayLabel(name)).toBe(name);
    const others = ['host:/data', 'gw.1', 'x'.repeat(41), 'gw#1'].map(gatewayLabel);
    for (const label of others) expect(label).toMatch(/^[0-9a-f]{10}$/);
    expect(new Set(others).size).toBe(4);
  });
});
