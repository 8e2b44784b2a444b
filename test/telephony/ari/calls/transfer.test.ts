// Handing a caller over at Asterisk: by bringing somebody into their bridge, into the dialplan, by SIP REFER.
// Source: asterisk §4.3.

import { describe, expect, it } from 'vitest';
import type { RestRequest } from '../../../fakes/asterisk/rest/rest.ts';
import { ask } from '../../../fakes/asterisk/scenarios/ari-session.ts';
import {
  nothingLeft,
  type Table,
  type Talk,
  table,
  talks,
  transferLeg,
  until,
} from '../ari-harness.ts';

function handOver(
  at: Table,
  { callId }: Talk,
  to: string,
  more: { ringS?: number; signal?: AbortSignal } = {},
): Promise<void> {
  const { ringS = 20, signal = new AbortController().signal } = more;
  return at.provider.control.transfer(
    at.credentials,
    callId,
    { to, callerId: '5550000', ringS },
    signal,
  );
}

async function talksOn(at: Table, talk: Talk): Promise<void> {
  const before = talk.phone.arrivals.length;
  talk.audio.say(3);
  const heard = talk.audio.frames.length;
  talk.phone.say(new Int16Array(1_600).fill(500));
  await until(
    () => talk.phone.arrivals.length > before && talk.audio.frames.length > heard,
    'audio both ways',
  );
  talk.audio.close();
  await nothingLeft(at);
}

describe('a caller is transferred to a destination', () => {
  it('gets music while the destination rings, and is then connected to it alone', async () => {
    const at = await table();
    const talk = await talks(at);
    const before = talk.phone.arrivals.length;
    await handOver(at, talk, 'answer');
    const colleague = at.asterisk.phone('answer');
    expect(talk.phone.arrivals.length).toBeGreaterThan(before + 50);
    expect(colleague.from).toBe('5550000');
    expect(talk.audio.closedWith).toBe('ended');
    const heard = colleague.arrivals.length;
    talk.phone.say(new Int16Array(1_600).fill(500));
    await until(() => colleague.arrivals.length >= heard + 10, 'the caller');
    expect(at.asterisk.channels.filter(({ name }) => name.startsWith('WebSocket'))).toEqual([]);
    expect(at.harness.of(talk.callId)).toEqual(['in-progress']);
    talk.phone.hangUp();
    await colleague.ended;
    await nothingLeft(at);
  });

  it.each([
    ['caller', 'colleague'],
    ['colleague', 'caller'],
  ])('and when the %s hangs up, so does the %s', async (first) => {
    const at = await table();
    const talk = await talks(at);
    await handOver(at, talk, 'answer');
    const colleague = at.asterisk.phone('answer');
    (first === 'caller' ? talk.phone : colleague).hangUp();
    await talk.phone.ended;
    await colleague.ended;
    await nothingLeft(at);
    await until(() => at.harness.of(talk.callId).length === 2, 'the end');
    expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
  });

  it('and is hung up by a client then', async () => {
    const at = await table();
    const talk = await talks(at);
    await handOver(at, talk, 'answer');
    await at.provider.control.hangUp(at.credentials, talk.callId, AbortSignal.timeout(5_000));
    await at.asterisk.phone('answer').ended;
    await nothingLeft(at);
  });

  it.each([
    ['busy', 'TRANSFER_BUSY'],
    ['noanswer', 'TRANSFER_NO_ANSWER'],
    ['reject', 'TRANSFER_FAILED'],
    ['PJSIP/busy@loop', 'TRANSFER_BUSY'],
    ['PJSIP/x@dead', 'TRANSFER_NO_ANSWER'],
    ['PJSIP/x@nowhere', 'PROVIDER_DESTINATION'],
  ])('is back with the agent if it is %s', async (to, code) => {
    const at = await table();
    const talk = await talks(at);
    await expect(handOver(at, talk, to, { ringS: 3 })).rejects.toMatchObject({ code });
    expect(talk.audio.closedWith).toBeNull();
    await talksOn(at, talk);
  });

  it('is back with the agent if it takes too long', async () => {
    const at = await table();
    const talk = await talks(at);
    const deadline = new AbortController();
    const over = handOver(at, talk, 'noanswer', { signal: deadline.signal });
    await transferLeg(at);
    deadline.abort(new Error('too late'));
    await expect(over).rejects.toThrow('too late');
    await at.asterisk.phone('noanswer').ended;
    await talksOn(at, talk);
  });

  it('who leaves meanwhile: ringing stops', async () => {
    const at = await table();
    const talk = await talks(at);
    const over = handOver(at, talk, 'noanswer', { ringS: 600 });
    await transferLeg(at);
    talk.phone.hangUp();
    await expect(over).rejects.toMatchObject({ code: 'PBX_CALL_GONE' });
    await nothingLeft(at);
    expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
  });

  it('who leaves at the moment of the answer: no channel stays in the bridge', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path, query }) => {
      if (path.endsWith('addChannel') && /t[0-9a-f]{35}$/.test(query.get('channel') ?? '')) {
        talk.phone.hangUp();
      }
      return undefined;
    };
    await handOver(at, talk, 'answer').catch(() => undefined);
    await at.asterisk.phone('answer').ended;
    await nothingLeft(at);
  });

  it('who hangs up at the moment of their answer: the caller does not wait in silence', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path, query }) => {
      if (path.endsWith('addChannel') && /t[0-9a-f]{35}$/.test(query.get('channel') ?? '')) {
        at.asterisk.phone('answer').hangUp();
      }
      return undefined;
    };
    await handOver(at, talk, 'answer').catch(() => undefined);
    await at.asterisk.phone('answer').ended;
    if (talk.audio.closedWith === null && !talk.phone.isOver) talk.audio.close();
    await talk.phone.ended;
    await nothingLeft(at);
  });

  it('and cannot be handed over twice', async () => {
    const at = await table();
    const talk = await talks(at);
    await handOver(at, talk, 'answer');
    await expect(handOver(at, talk, 'answer')).rejects.toMatchObject({ code: 'PBX_CALL_GONE' });
    expect(talk.phone.isOver).toBe(false);
    talk.phone.hangUp();
    await nothingLeft(at);
  });

  it('and is back with the agent if Asterisk does not join them', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path, query }) => {
      const isLeg = /t[0-9a-f]{35}$/.test(query.get('channel') ?? '');
      return isLeg && path.endsWith('addChannel') ? { status: 500, body: null } : undefined;
    };
    await expect(handOver(at, talk, 'answer')).rejects.toThrow();
    await at.asterisk.phone('answer').ended;
    await talksOn(at, talk);
  });
});

// Of a PBX that was stuck for seconds, one request after a transfer that failed had no answer, and the caller heard
// music to the end of the call.
describe('a caller whose transfer has failed is back with the agent though the PBX does not answer', () => {
  const isLeg = (id: string): boolean => /t[0-9a-f]{35}$/.test(id);
  const isAgent = (query: URLSearchParams): boolean =>
    /m[0-9a-f]{35}$/.test(query.get('channel') ?? '');

  it.each<[string, (request: RestRequest) => boolean]>([
    ['the hang-up of the destination', ({ method, path }) => method === 'DELETE' && isLeg(path)],
    ['the end of the music', ({ method, path }) => method === 'DELETE' && path.endsWith('moh')],
    ['the return of the agent', ({ path, query }) => path.endsWith('addChannel') && isAgent(query)],
  ])('%s', async (_, isMeant) => {
    const at = await table();
    const talk = await talks(at);
    let isMet = false;
    at.asterisk.faults.rest = (request) => {
      if (isMet || !isMeant(request)) return undefined;
      isMet = true;
      return 'hang';
    };
    await expect(handOver(at, talk, 'busy')).rejects.toMatchObject({ code: 'TRANSFER_BUSY' });
    expect(isMet).toBe(true);
    await until(() => talk.audio.outages.length !== 1, 'other media');
    const heard = talk.phone.arrivals.length;
    await at.clock.advanceAsync(1_000);
    expect(talk.phone.arrivals.length).toBe(heard);
    await talksOn(at, talk);
  });

  it('the departure of the agent, which was carried out', async () => {
    const at = await table();
    const talk = await talks(at);
    const account = { url: at.asterisk.url, user: 'admin', password: 'admin' };
    at.asterisk.users['admin'] = { password: 'admin' };
    let isForwarded = false;
    at.asterisk.faults.rest = ({ method, path, query }) => {
      if (isForwarded || !path.endsWith('removeChannel')) return undefined;
      isForwarded = true;
      void ask(account, { method, path, query: { channel: query.get('channel') ?? '' } });
      return 'hang';
    };
    await expect(handOver(at, talk, 'busy')).rejects.toMatchObject({ code: 'PROVIDER_TIMEOUT' });
    await talksOn(at, talk);
  });

  it('and is hung up if the agent cannot be brought back', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path, query }) =>
      path.endsWith('addChannel') && isAgent(query) ? 'hang' : undefined;
    await expect(handOver(at, talk, 'busy')).rejects.toMatchObject({ code: 'TRANSFER_BUSY' });
    expect(await talk.phone.ended).toMatchObject({ by: 'pbx' });
    expect(talk.audio.closedWith).toBe('fault');
    await nothingLeft(at);
  });
});

describe('a caller is handed back to the dialplan', () => {
  it('and is not ours any more', async () => {
    const at = await table({ credentials: { transfer_context: 'agents' } });
    const talk = await talks(at);
    await handOver(at, talk, '+600');
    await until(() => talk.audio.closedWith !== null, 'the end of the audio');
    await until(() => at.harness.of(talk.callId).length === 2, 'the end');
    expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
    expect(talk.phone.isOver).toBe(false);
    await until(() => at.asterisk.phones.some((each) => each.extension === 'answer'), 'the agent');
    const agent = at.asterisk.phone('answer');
    await until(() => agent.isListening, 'the answer');
    await until(() => !at.asterisk.bridgeIds.some((id) => id.startsWith('pb')), 'the end of ours');
    talk.phone.hangUp();
    await talk.phone.ended;
  });

  it('and stays with the agent if Asterisk does not do it', async () => {
    const at = await table({ credentials: { transfer_context: 'agents' } });
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('continue') ? { status: 500, body: null } : undefined;
    await expect(handOver(at, talk, '600')).rejects.toThrow();
    await talksOn(at, talk);
  });
});

describe('a caller is referred', () => {
  it('to a SIP address, and the call is over when their phone has followed', async () => {
    const at = await table();
    const talk = await talks(at);
    await handOver(at, talk, 'sip:agent@example.com');
    talk.audio.close();
    await talk.phone.ended;
    await nothingLeft(at);
    expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
    const asked = at.asterisk.requests.find(({ path }) => path.endsWith('redirect'));
    expect(asked?.query).toEqual({ endpoint: 'PJSIP/sip:agent@example.com' });
  });

  it('and is not left in silence if their phone does not follow', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('redirect') ? { status: 204, body: null } : undefined;
    await handOver(at, talk, 'sip:agent@example.com', { ringS: 30 });
    talk.audio.close();
    const before = at.clock.monotonicMs();
    await talk.phone.ended;
    expect(at.clock.monotonicMs() - before).toBeGreaterThan(30_000);
    await nothingLeft(at);
  });

  it('and stays with the agent if the call is no SIP call', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('redirect')
        ? { status: 422, body: { message: 'Endpoint technology' } }
        : undefined;
    await expect(handOver(at, talk, 'sip:agent@example.com')).rejects.toMatchObject({
      code: 'PROVIDER_REFUSED',
    });
    await talksOn(at, talk);
  });
});
