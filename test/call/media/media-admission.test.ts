// Which media sockets are admitted, and what the refused ones get. Source: contract §7.4.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import { mediaFaults } from '../../../src/metrics/metrics.ts';
import {
  CALL,
  type CallHarness,
  mediaUrlIn,
  PUBLIC_URL,
  pathOf,
  signatureOf,
  withCallHarness,
} from '../call-harness.ts';
import { idleRun } from '../idle-run.ts';

const held = withCallHarness();

/** The close code, or `in`. */
async function knock(
  harness: CallHarness,
  url: string,
  headers: Record<string, string> = { ['x-twilio-signature']: signatureOf(url) },
): Promise<number | 'in'> {
  const admission = await harness.callControl.admit(pathOf(url), headers);
  return 'refuse' in admission ? admission.refuse : 'in';
}

function changed(url: string, part: 5 | 6 | 7 | 8, value: string): string {
  const parts = new URL(url).pathname.split('/');
  parts[part] = value;
  return new URL(url).origin.replace('https', 'wss') + parts.join('/');
}

async function ringing(harness: CallHarness, callId = CALL): Promise<string> {
  return mediaUrlIn(await harness.ring(`CallSid=${callId}`));
}

const faults = async (): Promise<Record<string, number>> => {
  const { values } = await mediaFaults.get();
  return Object.fromEntries(values.map(({ labels, value }) => [labels.code, value]));
};

describe('a media socket', () => {
  it('that is refused is counted by why', async () => {
    const harness = await held.harness.prepare();
    mediaFaults.reset();
    const url = await ringing(harness);
    expect(await knock(harness, changed(url, 8, ''))).toBe(4401);
    expect(await faults()).toEqual({ MEDIA_UNAUTHORIZED: 1 });
    expect(await knock(harness, changed(url, 5, '999'))).toBe(4400);
    const gone = await ringing(harness, 'CA2');
    await harness.status(pathOf(gone).runId, 'CallStatus=canceled&SequenceNumber=1', 'CA2');
    expect(await knock(harness, gone)).toBe(4404);
    expect(await faults()).toEqual({ MEDIA_UNAUTHORIZED: 1, MEDIA_REFUSED: 2 });
  });

  it('gets in with the URL that was given out, once', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    expect(url.startsWith(PUBLIC_URL.replace('https', 'wss'))).toBe(true);
    await harness.connectTo(url);
    expect(await knock(harness, url)).toBe(4401);
    expect(harness.callControl.activeCalls).toBe(1);
  });

  it('reveals nothing about a run without its token', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    const other = await ringing(harness, 'CA2');
    const otherToken = pathOf(other).token;
    const guesses = [
      changed(url, 8, ''),
      changed(url, 8, 'x'.repeat(43)),
      changed(url, 8, otherToken),
      changed(url, 7, '999999'),
      changed(changed(url, 7, '999999'), 8, 'é'.repeat(43)),
    ];
    for (const guess of guesses) expect(await knock(harness, guess)).toBe(4401);
    await harness.connectTo(url);
  });

  it('finds no run of a browser behind it, whatever token it brings', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    const id = await idleRun(harness, { mode: 'smallwebrtc', callType: 'inbound' });
    expect(await knock(harness, changed(url, 7, id))).toBe(4401);
    expect(await harness.run(id)).toMatchObject({ state: 'initialized', startedAt: null });
    expect(harness.callControl.activeCalls).toBe(0);
  });

  it('is too late when the token has expired', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    await harness.pass(60_000);
    expect(await knock(harness, url)).toBe(4401);
  });

  it('is refused for another workflow or organization', async () => {
    const harness = await held.harness.prepare();
    expect(await knock(harness, changed(await ringing(harness), 5, '999'))).toBe(4400);
    expect(await knock(harness, changed(await ringing(harness), 6, '999'))).toBe(4400);
  });

  it('is refused unsigned or wrongly signed', async () => {
    const harness = await held.harness.prepare();
    expect(await knock(harness, await ringing(harness), {})).toBe(4401);
    const url = await ringing(harness);
    const wrong = { ['x-twilio-signature']: signatureOf(url, '', 'another token') };
    expect(await knock(harness, url, wrong)).toBe(4401);
    expect(harness.callControl.activeCalls).toBe(0);
  });

  it('is refused when the run is completed', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    await harness.status(pathOf(url).runId, 'CallStatus=canceled&SequenceNumber=1');
    expect(await knock(harness, url)).toBe(4404);
  });

  it('is refused when another process runs the call, or has closed it', async () => {
    const harness = await held.harness.prepare();
    for (const state of ['running', 'completed']) {
      const url = await ringing(harness, `CA-${state}`);
      await harness.at.sql('update runs set state = $1 where id = $2', [state, pathOf(url).runId]);
      expect(await knock(harness, url)).toBe(4409);
    }
    expect(harness.callControl.activeCalls).toBe(0);
  });

  it('is refused while the store is away: the call is hung up, and its run closed when it is back', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    const { runId } = pathOf(url);
    const { runs } = harness.deps.store;
    const { patch, patchInitialized, appendCallback, appendEvents } = runs;
    const away = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    Object.assign(runs, { patch: away, patchInitialized: away, appendCallback: away });
    runs.appendEvents = away;
    await expect(knock(harness, url)).rejects.toMatchObject({ code: 'STORE_UNAVAILABLE' });
    await harness.until(() => harness.hangUps.length > 0);
    expect(harness.callControl.activeCalls).toBe(0);
    expect((await harness.run(runId)).state).toBe('initialized');
    Object.assign(runs, { patch, patchInitialized, appendCallback, appendEvents });
    await harness.pass(20_100);
    const done = await harness.ended({ id: runId });
    expect(done).toMatchObject({ state: 'completed', disposition: 'error' });
    expect((await harness.events(done)).map(({ body }) => body)).toContainEqual(
      expect.objectContaining({ type: 'fault', code: 'STORE_UNAVAILABLE' }),
    );
  });

  it('is refused when its run is there no more', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    await harness.at.sql('delete from runs where id = $1', [pathOf(url).runId]);
    expect(await knock(harness, url)).toBe(4404);
  });

  it('is refused when its run is closed during admission', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    const { runId } = pathOf(url);
    const { runs } = harness.at.store;
    harness.deps.store.runs.patchInitialized = async (...patch) => {
      await harness.at.sql(`update runs set state = 'completed' where id = $1`, [runId]);
      return runs.patchInitialized(...patch);
    };
    expect(await knock(harness, url)).toBe(4409);
    expect(harness.callControl.activeCalls).toBe(0);
  });

  it('that comes in while the provider calls the call over keeps its run to itself', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    const { runId } = pathOf(url);
    const { runs } = harness.at.store;
    harness.deps.store.runs.patchInitialized = async (...patch) => {
      await harness.status(runId, 'CallStatus=completed&SequenceNumber=3');
      return runs.patchInitialized(...patch);
    };
    const stream = await harness.connectTo(url);
    stream.start();
    expect((await harness.run(runId)).state).toBe('running');
    await harness.pass(3_100);
    const done = await harness.ended({ id: runId });
    expect(done.disposition).toBe('user_hangup');
    expect(await harness.bodies(done, 'call.ended')).toHaveLength(1);
  });

  it('whose call was ended before it came is closed at once', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    const headers = { ['x-twilio-signature']: signatureOf(url) };
    const admission = await harness.callControl.admit(pathOf(url), headers);
    await harness.callControl.drain(0);
    const { Stream } = await import('../stream.ts');
    const stream = new Stream({ clock: harness.clock, callId: CALL, oneWayMs: 0 });
    if ('accept' in admission) stream.listen(admission.accept(stream));
    expect(stream.closed?.code).toBe(1001);
    expect((await harness.ended({ id: pathOf(url).runId })).disposition).toBe('system_cancelled');
  });

  it('times out when the store does not answer, and its call is closed later', async () => {
    const harness = await held.harness.prepare();
    const url = await ringing(harness);
    harness.deps.store.runs.patchInitialized = () => Promise.reject(new Error('store away'));
    await expect(knock(harness, url)).rejects.toThrow('store away');
    await harness.pass(91_000);
    await harness.until(async () => (await harness.run(pathOf(url).runId)).state === 'completed');
  });
});
