// A colleague is spoken to before a caller is brought to them: who hears whom, who takes the call and who does
// not, and what becomes of everybody when somebody leaves. What comes before the answer is in transfer.test.ts. Source:
// asterisk §4.3.

import { describe, expect, it } from 'vitest';
import { pcmu } from '../../../../src/codec/g711.ts';
import { GatewayError } from '../../../../src/errors/gateway-error.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import { createChannelIds } from '../../../../src/telephony/ari/rest/channel-ids.ts';
import type { WarmTransfer } from '../../../../src/telephony/provider/pbx.ts';
import {
  APP,
  Audio,
  cut,
  isUp,
  kill,
  nothingLeft,
  type Phone,
  restart,
  type Table,
  type Talk,
  table,
  talks,
  until,
} from '../ari-harness.ts';

const ids = createChannelIds(APP, systemRandom);
const COLLEAGUE = 'instant';

/** What the call layer does with a person who has answered. */
type Act = (audio: Audio, signal: AbortSignal) => Promise<void>;

interface Wanted {
  to?: string;
  act: Act;
  callerHears?: WarmTransfer['callerHears'];
  signal?: AbortSignal;
}

function handOver(at: Table, { callId }: Talk, wanted: Wanted): Promise<void> {
  const { to = COLLEAGUE, act, callerHears = 'music', signal } = wanted;
  const warm: WarmTransfer = {
    callerHears,
    consult: (media, gone) => act(new Audio(media), gone),
  };
  const target = { to, callerId: '5550000', ringS: 20, warm };
  const patient = signal ?? new AbortController().signal;
  return at.provider.control.transfer(at.credentials, callId, target, patient);
}

/** Speaks for good; ends as the call is to be taken or not. */
function consultation(): { act: Act; met: Promise<Audio>; take(): void; refuse(): void } {
  let meet: (audio: Audio) => void = () => undefined;
  let take = (): void => undefined;
  let refuse: (error: Error) => void = () => undefined;
  const met = new Promise<Audio>((resolve) => {
    meet = resolve;
  });
  const act: Act = (audio, signal) =>
    new Promise<void>((resolve, reject) => {
      take = resolve;
      refuse = reject;
      signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
      meet(audio);
    });
  return {
    act,
    met,
    take: () => take(),
    refuse: () => refuse(new GatewayError('TRANSFER_DECLINED', { reason: 'a key' })),
  };
}

const AGENT = sampleOf(0x55);
const CALLER = 500;

/** What a byte of our frames sounds like. */
function sampleOf(byte: number): number {
  const pcm = new Int16Array(1);
  pcmu.decode(Uint8Array.of(byte), pcm);
  return pcm[0] ?? 0;
}

/** Who was heard since then: steady values are voices, anything else is music or a tone. */
function heardBy(phone: Phone, sinceMs = 0): string[] {
  const names = phone.heard
    .filter(({ atMs }) => atMs >= sinceMs)
    .flatMap(({ pcm }) => {
      const value = pcm[80] ?? 0;
      if (pcm.every((sample) => sample === 0)) return [];
      if (pcm.some((sample) => Math.abs(sample - value) > 40)) return ['sound'];
      return [Math.abs(value - CALLER) < 40 ? 'caller' : 'agent'];
    });
  return [...new Set(names)].sort();
}

/** For a minute. */
function speaksOn(phone: Phone): void {
  void phone.say(new Int16Array(8 * 60_000).fill(CALLER));
}

async function says(at: Table, audio: Audio, frames = 25): Promise<void> {
  audio.say(frames);
  await passes(at, frames * 20 + 200);
}

async function passes({ clock }: Table, ms: number): Promise<void> {
  const untilMs = clock.monotonicMs() + ms;
  await until(() => clock.monotonicMs() >= untilMs, 'the time');
}

async function talksOn(at: Table, talk: Talk): Promise<void> {
  expect(talk.audio.closedWith).toBeNull();
  await passes(at, 200);
  const sinceMs = at.clock.monotonicMs();
  await says(at, talk.audio, 5);
  expect(heardBy(talk.phone, sinceMs)).toEqual(['agent']);
  const { length } = talk.audio.frames;
  void talk.phone.say(new Int16Array(1_600).fill(CALLER));
  await until(() => talk.audio.frames.length > length, 'the caller');
  talk.audio.close();
  await talk.phone.ended;
  await nothingLeft(at);
}

/** A caller waits, and their colleague is being spoken to. */
async function consulted(more: Partial<Wanted> & { at?: Table } = {}) {
  const { at = await table(), ...wanted } = more;
  const talk = await talks(at);
  const talking = consultation();
  const over = handOver(at, talk, { act: talking.act, ...wanted });
  over.catch(() => undefined); // Looked at later.
  const audio = await talking.met;
  const colleague = at.asterisk.phones.at(-1);
  if (colleague === undefined) throw new Error('nobody was rung');
  return { at, talk, talking, over, audio, colleague };
}

describe('a destination that the agent consults first', () => {
  it.each([
    ['music', 350],
    ['ringback', 440],
  ] as const)(
    "gets the agent's audio, and the caller gets %s; then both are joined, and none of our channels is left",
    async (callerHears, hz) => {
      const { at, talk, talking, over, audio, colleague } = await consulted({ callerHears });
      speaksOn(talk.phone);
      const sinceMs = at.clock.monotonicMs();
      await says(at, audio, 100);
      expect(heardBy(talk.phone, sinceMs)).toEqual(['sound']);
      expect(isSounding(talk.phone, hz)).toBe(true);
      expect(heardBy(colleague)).toEqual(['agent']);
      expect(audio.starts).toHaveLength(1);
      void colleague.say(new Int16Array(8 * 400).fill(CALLER));
      const { length } = audio.frames;
      await until(() => audio.frames.length > length + 10, 'the colleague');

      talking.take();
      await over;
      expect(audio.closedWith).toBe('ended');
      expect(talk.audio.closedWith).toBe('ended');
      await passes(at, 300);
      const joinedMs = at.clock.monotonicMs();
      void colleague.say(new Int16Array(8 * 200).fill(AGENT));
      await passes(at, 500);
      expect(heardBy(colleague, joinedMs)).toEqual(['caller']);
      expect(heardBy(talk.phone, joinedMs)).toEqual(['agent']);
      expect(at.asterisk.channels.filter(({ name }) => name.startsWith('WebSocket'))).toEqual([]);
      expect(at.asterisk.bridgeIds).toHaveLength(1);
      expect(at.harness.of(talk.callId)).toEqual(['in-progress']);
      expect(at.asterisk.complaints).toEqual([]);
      talk.phone.hangUp();
      await colleague.ended;
      await nothingLeft(at);
      expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
    },
  );

  it("has its own keys detected, and none of the caller's", async () => {
    const { at, talk, talking, over, audio, colleague } = await consulted();
    talk.phone.press('7');
    colleague.press('1');
    await until(() => audio.digits !== '' && talk.audio.digits !== '', 'the keys');
    expect([audio.digits, talk.audio.digits]).toEqual(['1', '7']);
    talking.take();
    await over;
    talk.phone.hangUp();
    await nothingLeft(at);
  });

  it.each(['music', 'ringback'] as const)(
    'and refuses is hung up, and the caller is with the agent again, without %s',
    async (callerHears) => {
      const { at, talk, talking, over, colleague } = await consulted({ callerHears });
      await passes(at, 500);
      talking.refuse();
      await expect(over).rejects.toMatchObject({ code: 'TRANSFER_DECLINED' });
      await colleague.ended;
      await talksOn(at, talk);
    },
  );

  it('and hangs up has not taken the call', async () => {
    const { at, talk, over, colleague } = await consulted();
    colleague.hangUp();
    await expect(over).rejects.toMatchObject({ code: 'TRANSFER_DECLINED' });
    await talksOn(at, talk);
  });

  it('and hangs up as the caller is brought to them leaves the caller with the agent', async () => {
    const { at, talk, talking, over, colleague } = await consulted();
    at.asterisk.faults.rest = ({ path, query }) => {
      const isJoining =
        path.endsWith('addChannel') && ids.kindOf(query.get('channel') ?? '') === 't';
      if (isJoining) colleague.hangUp();
      return undefined;
    };
    talking.take();
    await expect(over).rejects.toMatchObject({ code: 'TRANSFER_DECLINED' });
    await talksOn(at, talk);
  });

  it('is hung up when the caller leaves', async () => {
    const { at, talk, over, colleague } = await consulted();
    talk.phone.hangUp();
    await expect(over).rejects.toMatchObject({ code: 'PBX_CALL_GONE' });
    await colleague.ended;
    await nothingLeft(at);
    expect(at.harness.of(talk.callId)).toEqual(['in-progress', 'completed']);
  });

  it('is hung up when the caller leaves as they are brought together', async () => {
    const { at, talk, talking, over, colleague } = await consulted();
    at.asterisk.faults.rest = ({ path, query }) => {
      const isJoining =
        path.endsWith('addChannel') && ids.kindOf(query.get('channel') ?? '') === 't';
      if (isJoining) talk.phone.hangUp();
      return undefined;
    };
    talking.take();
    await over.catch(() => undefined);
    await colleague.ended;
    await nothingLeft(at);
  });

  it('is hung up when it takes too long', async () => {
    const deadline = new AbortController();
    const { at, talk, over, colleague } = await consulted({ signal: deadline.signal });
    deadline.abort(new Error('too late'));
    await expect(over).rejects.toThrow('too late');
    await colleague.ended;
    await talksOn(at, talk);
  });

  it('is hung up when a client ends the call', async () => {
    const { at, talk, over, colleague } = await consulted();
    await at.provider.control.hangUp(at.credentials, talk.callId, AbortSignal.timeout(5_000));
    await expect(over).rejects.toMatchObject({ code: 'PBX_CALL_GONE' });
    await colleague.ended;
    await nothingLeft(at);
  });

  it('and cannot be given audio is hung up, and the caller is with the agent again', async () => {
    const at = await table();
    const talk = await talks(at);
    at.asterisk.faults.rest = ({ path }) =>
      path.endsWith('externalMedia') ? { status: 500, body: { message: 'no' } } : undefined;
    const over = handOver(at, talk, { act: () => Promise.resolve() });
    await expect(over).rejects.toMatchObject({ code: 'PBX_MEDIA' });
    await at.asterisk.phone(COLLEAGUE).ended;
    await talksOn(at, talk);
  });

  it('gets other audio when theirs is lost', async () => {
    const { at, talk, talking, over, audio, colleague } = await consulted();
    const legs = () => at.asterisk.channels.filter(({ id }) => ids.kindOf(id) === 'm');
    const last = legs().at(-1);
    await cut(at, last?.id ?? '');
    await until(() => legs().length === 2 && !legs().some(({ id }) => id === last?.id), 'another');
    await passes(at, 200);
    await says(at, audio);
    expect(heardBy(colleague)).toEqual(['agent']);
    talking.take();
    await over;
    talk.phone.hangUp();
    await nothingLeft(at);
  });

  it('is rung by way of the dialplan where callers are handed to that', async () => {
    const agents = { '700': [{ app: 'Answer' } as const, { app: 'Wait', ms: 60_000 } as const] };
    const own = { credentials: { transfer_context: 'agents' }, asterisk: { dialplan: { agents } } };
    const { at, talk, talking, over } = await consulted({ to: '+700', at: await table(own) });
    const dialled = at.asterisk.requests.filter(
      ({ method, path }) => method === 'POST' && path === 'channels',
    );
    expect(dialled.map(({ query }) => query['endpoint'])).toEqual(['Local/700@agents/n']);
    talking.take();
    await over;
    talk.phone.hangUp();
    await nothingLeft(at);
  });

  it('and is busy is not spoken to', async () => {
    const at = await table();
    const talk = await talks(at);
    const act = () => expect.fail('nobody answered');
    const over = handOver(at, talk, { to: 'busy', act });
    await expect(over).rejects.toMatchObject({ code: 'TRANSFER_BUSY' });
    await talksOn(at, talk);
  });
});

describe('during a consultation', () => {
  it('the event socket may be lost and come back', async () => {
    const { at, talk, talking, over, audio, colleague } = await consulted();
    at.asterisk.cutEvents();
    await until(() => at.connection.state.kind === 'down', 'the loss');
    await isUp(at);
    await says(at, audio);
    expect(heardBy(colleague)).toEqual(['agent']);
    talking.take();
    await over;
    talk.phone.hangUp();
    await colleague.ended;
    await nothingLeft(at);
  });

  it.each(['colleague', 'caller'] as const)(
    'the %s may leave unheard, and is missed when it is back',
    async (who) => {
      const { at, talk, over, colleague } = await consulted();
      at.asterisk.stasis.tap = () => [];
      (who === 'caller' ? talk.phone : colleague).hangUp();
      await passes(at, 100);
      at.asterisk.cutEvents();
      await until(() => at.connection.state.kind === 'down', 'the loss');
      at.asterisk.stasis.tap = (event) => [event];
      await isUp(at);
      await expect(over).rejects.toMatchObject({
        code: who === 'caller' ? 'PBX_CALL_GONE' : 'TRANSFER_DECLINED',
      });
      if (who === 'colleague') await talksOn(at, talk);
      else await nothingLeft(at);
    },
  );

  it('the PBX may die: the transfer fails, and the call is over', async () => {
    const { at, talk, over } = await consulted();
    await at.asterisk.crash();
    await expect(over).rejects.toBeInstanceOf(GatewayError);
    await at.asterisk.start();
    await isUp(at);
    await until(() => at.harness.of(talk.callId).includes('completed'), 'the end');
    expect(talk.audio.closedWith).not.toBeNull();
    await nothingLeft(at);
  });

  it.each(['music', 'ringback'] as const)(
    'after a kill of the gateway, each remaining channel is found and ended (%s)',
    async (callerHears) => {
      const { at, talk, audio, colleague } = await consulted({ callerHears });
      await kill(at, talk.audio);
      audio.close();
      await restart(at);
      await talk.phone.ended;
      await colleague.ended;
      await nothingLeft(at);
    },
  );

  it('and the gateway is killed as they are brought together, they talk on', async () => {
    const { at, talk, talking, audio, colleague } = await consulted();
    const joined = until(
      () =>
        at.asterisk.requests.some(
          ({ path, query, status }) =>
            path.endsWith('addChannel') &&
            ids.kindOf(query['channel'] ?? '') === 't' &&
            status === 204,
        ),
      'the two together',
    );
    const leg = at.asterisk.channels.filter(({ id }) => ids.kindOf(id) === 'm');
    at.asterisk.faults.rest = ({ method, path }) =>
      method === 'DELETE' && leg.some(({ id }) => path.endsWith(id)) ? 'hang' : undefined;
    talking.take();
    await joined;
    await kill(at, talk.audio);
    audio.close();
    at.asterisk.faults.rest = () => undefined;
    const next = await restart(at);
    await until(() => at.asterisk.bridgeIds.length === 1, 'the end of what is ours');
    expect(talk.phone.isOver).toBe(false);
    expect(next.harness.inbound).toEqual([]);
    colleague.hangUp();
    await talk.phone.ended;
    await nothingLeft(at);
  });
});

/** Whether a tone of this frequency is a good part of what was heard. */
function isSounding(phone: Phone, hz: number): boolean {
  const pcm = phone.samples();
  const step = (2 * Math.PI * hz) / 8_000;
  const parts = [0, 0];
  let energy = 0;
  for (const [nth, sample] of pcm.entries()) {
    parts[0] = (parts[0] ?? 0) + sample * Math.cos(step * nth);
    parts[1] = (parts[1] ?? 0) + sample * Math.sin(step * nth);
    energy += sample ** 2;
  }
  const power = (2 * ((parts[0] ?? 0) ** 2 + (parts[1] ?? 0) ** 2)) / pcm.length;
  return power > 0.2 * energy;
}
