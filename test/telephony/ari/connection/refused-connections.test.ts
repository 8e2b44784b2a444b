// Refused connections of PBXs: what is known of them, in bounds.

import { describe, expect, it } from 'vitest';
import { RefusedConnections } from '../../../../src/telephony/ari/connection/refused-connections.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';

const refusal = { app: 'app', cause: 'password', client: '192.0.2.9' } as const;

function world() {
  const clock = new FakeClock();
  const { log, lines } = quietLog();
  return { clock, lines, refused: new RefusedConnections(clock, log) };
}

describe('refused connections of PBXs', () => {
  it('are counted, the last first, by application', () => {
    const { clock, refused } = world();
    refused.note(refusal);
    clock.advance(500);
    refused.note({ ...refusal, cause: 'user' });
    clock.advance(500);
    refused.note(refusal);
    refused.note({ app: 'other', cause: 'application', client: '192.0.2.9' });
    expect(refused.of('app')).toEqual([
      { ...refusal, attempts: 2, lastAt: clock.now() },
      { ...refusal, cause: 'user', attempts: 1, lastAt: clock.now() - 500 },
    ]);
    expect(refused.unknown().map(({ app }) => app)).toEqual(['other']);
  });

  it('leave one line each, again after ten minutes', () => {
    const { clock, refused, lines } = world();
    for (let nth = 0; nth < 1_000; nth++) refused.note(refusal);
    expect(lines()).toEqual([
      expect.objectContaining({
        msg: 'connection of a PBX refused',

        application: 'app',
        cause: 'password',
        client: '192.0.2.9',
      }),
    ]);
    clock.advance(600_000);
    refused.note(refusal);
    expect(lines()).toHaveLength(2);
  });

  it('from many clients leave 20 lines, and the last hundred', () => {
    const { refused, lines } = world();
    for (let nth = 0; nth < 500; nth++) refused.note({ ...refusal, client: `client-${nth}` });
    expect(lines()).toHaveLength(20);
    expect(refused.of('app')).toHaveLength(100);
    expect(refused.of('app')[0]?.client).toBe('client-499');
  });

  it('for applications that no configuration has displace none of a configuration', () => {
    const { refused, lines } = world();
    refused.note(refusal);
    for (let nth = 0; nth < 500; nth++) {
      refused.note({ app: `guess-${nth}`, cause: 'application', client: '203.0.113.7' });
    }
    refused.note({ ...refusal, cause: 'user' });
    expect(refused.of('app').map(({ cause }) => cause)).toEqual(['user', 'password']);
    expect(refused.unknown()).toHaveLength(100);
    expect(lines().at(-1)).toMatchObject({ application: 'app', cause: 'user' });
  });

  it('show no control characters of a path, and not all of a long one', () => {
    const { refused } = world();
    refused.note({ app: `a\u001b[31m${'x'.repeat(200)}`, cause: 'application', client: 'c' });
    expect(refused.unknown()[0]?.app).toMatch(/^a\?\[31mx{74}$/);
  });
});
