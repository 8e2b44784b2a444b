// The ARI user loses its right to write while callers ring: answer and hang-up are both refused, the callers rang without
// end, others followed them, and the gateway noticed after half a minute.

import { describe, expect, it } from 'vitest';
import { patient, rings, type Table, table, until } from '../ari-harness.ts';

const REMEDY = 'Set read_only = no in ari.conf, then: module reload res_ari.so';

/** Changes the user's right as `read_only = ...` and `module reload res_ari.so` do. */
function setReadOnly({ asterisk }: Table, isReadOnly: boolean): void {
  asterisk.users['gw'] = { password: 'gwsecret', isReadOnly };
}

async function refused(at: Table) {
  const ringing = await rings(at);
  setReadOnly(at, true);
  const opened = at.connection.openMedia(ringing.call.callId, patient);
  await expect(opened).rejects.toMatchObject({
    code: 'PBX_MEDIA',
    message: expect.stringContaining('read_only = no'),
  });
  return ringing;
}

describe('a user who may not write any more', () => {
  it('is noticed at the first refused request, in an error with the remedy', async () => {
    const at = await table();
    const beforeMs = at.clock.monotonicMs();
    await refused(at);
    expect(at.connection.state).toMatchObject({ kind: 'down', code: 'PBX_READ_ONLY' });
    expect(at.clock.monotonicMs() - beforeMs).toBeLessThan(2_000);
    const errors = at.lines().filter(({ level }) => level === 'error' || level === 50);
    expect(errors).toMatchObject([
      { code: 'PBX_READ_ONLY', message: expect.stringContaining(REMEDY) },
    ]);
  });

  it('gets no further callers: they go on in the dialplan', async () => {
    const at = await table();
    await refused(at);
    await until(() => at.asterisk.openEventSockets === 0, 'the end of the events');
    for (let nth = 0; nth < 10; nth++) {
      const phone = at.asterisk.placeCall({ from: '5551235', to: '8000' });
      expect(await phone.ended).toBeDefined();
      await at.clock.advanceAsync(6_000, 500);
      expect(at.asterisk.openEventSockets).toBe(0);
    }
    expect(at.harness.inbound).toHaveLength(1);
  });

  it('is connected again when it may write, and the caller who rang is let go', async () => {
    const at = await table();
    const { phone } = await refused(at);
    setReadOnly(at, false);
    await until(() => at.connection.state.kind === 'up', 'the connection');
    await phone.ended;
    await rings(at);
  });

  it('of a proxy is nothing of the kind: other words of a 403 end no connection', async () => {
    const at = await table();
    const { call } = await rings(at);
    at.asterisk.faults.rest = ({ method }) =>
      method === 'POST' ? { status: 403, body: { message: 'Forbidden by proxy' } } : undefined;
    await expect(at.connection.openMedia(call.callId, patient)).rejects.toThrow();
    expect(at.connection.state.kind).toBe('up');
  });
});
