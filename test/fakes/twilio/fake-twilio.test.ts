// The fake against the real provider, the real media server and the real clock: calls of a second or
// two. What only needs counting is tested on its parts, without time.

import { mulaw } from 'alawmulaw';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import type { DialRequest } from '../../../src/telephony/provider/provider.ts';
import { twilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { FRAME_BYTES, Playout } from '../hosted/playout.ts';
import { Timeline } from '../hosted/timeline.ts';
import type { FakeCall } from './fake-call.ts';
import { type FakeTwilio, type FakeTwilioOptions, startFakeTwilio } from './fake-twilio.ts';
import { readTwiml } from './markup.ts';
import { type SmallGateway, startSmallGateway } from './small-gateway.ts';

const account = { accountSid: 'AC00000000000000000000000000000001', authToken: 'secret' };
const OURS = '+14155550100';
const THEIRS = '+14155550101';
const signal = new AbortController().signal;
const { control, webhook } = twilioProvider.create({ clock: systemClock });

/** A loud tone. */
function tone(ms: number): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, i) => 8_000 * Math.sin((i * 2 * Math.PI) / 18));
}

let gateway: SmallGateway;
let twilio: FakeTwilio;
async function start(more: Partial<FakeTwilioOptions> = {}): Promise<void> {
  gateway = await startSmallGateway(account.authToken);
  twilio = await startFakeTwilio({
    publicWebhookBase: gateway.base,
    ...account,
    numbers: [OURS],
    sayMsPerCharacter: 1,
    ...more,
  });
}
beforeEach(() => start());
afterEach(async () => {
  await twilio.close();
  await gateway.close();
});

const credentials = (token = account.authToken) => ({
  account_sid: account.accountSid,
  auth_token: token,
  api_base_url: twilio.baseUrl,
  amd_enabled: true,
});
const dialRequest = (): DialRequest => ({
  runId: '1',
  from: OURS,
  to: THEIRS,
  answerUrl: `${gateway.base}/answer`,
  statusUrl: `${gateway.base}/status/1`,
  answeredByUrl: `${gateway.base}/answered-by/1`,
  ringS: 30,
  callS: 300,
});
const statuses = () =>
  gateway.events.flatMap((each) => (each.kind === 'status' ? [each.status] : []));

async function connected() {
  const arrived = gateway.nextLine();
  const call = await twilio.placeInboundCall({ from: THEIRS, to: OURS });
  const line = await arrived;
  return { call, line };
}

describe('an inbound call at the fake', () => {
  it('arrives signed, is answered with a stream, and receives what is played as it is played', async () => {
    const { call, line } = await connected();
    expect(gateway.events[0]).toMatchObject({ kind: 'inbound-call', from: THEIRS, to: OURS });
    expect(line.start).toMatchObject({ callId: call.sid, codecIn: 'PCMU' });
    line.play(mulaw.encode(tone(400)), '1:1');
    const speechMs = await call.waitForSpeech({ fromMs: 0 });
    const mark = await call.waitFor('mark');
    expect(Number(mark.detail['mediaMs']) - speechMs).toBe(400);
    expect(await call.waitForSilence({ fromMs: speechMs, forMs: 100 })).toBe(speechMs + 400);
    expect(call.bufferedMsMax).toBeGreaterThan(300);
    while (line.marks.length === 0) await call.waitForSilence({ forMs: 20 });
    expect(line.marks).toEqual(['1:1']);
    expect(call.faults).toEqual([]);
    expect(gateway.refused).toBe(0);
  });

  it('echoes every pending mark after a clear, and is silent at once', async () => {
    const { call, line } = await connected();
    line.play(mulaw.encode(tone(5_000)), '1:1');
    line.play(mulaw.encode(tone(5_000)), '1:2');
    const speechMs = await call.waitForSpeech({ fromMs: 0 });
    line.socket.sendText(line.protocol.encodeClear() ?? '');
    const clear = await call.waitFor('clear');
    expect(clear.detail['droppedMs']).toBeGreaterThan(8_000);
    const silentMs = await call.waitForSilence({ fromMs: speechMs, forMs: 100 });
    expect(silentMs).toBe(clear.detail['mediaMs']);
    expect(line.marks).toEqual(['1:1', '1:2']);
  });

  it('sends what the caller says as it is said, without drift', async () => {
    const { call, line } = await connected();
    const said = tone(600);
    const startedMs = performance.now();
    await call.say(said);
    expect(performance.now() - startedMs).toBeGreaterThan(500);
    await call.waitForSilence({ forMs: 40 });
    const all = Buffer.concat(line.audio);
    expect(all.includes(Buffer.from(mulaw.encode(said)))).toBe(true);
    expect(line.audio.every((payload) => payload.length === FRAME_BYTES)).toBe(true);
    expect(line.timestamps).toEqual(line.timestamps.map((_, i) => i * 20));
    expect(Buffer.from(call.spoken).subarray(0, all.length)).toEqual(all);
  });

  it('presses keys and hangs up', async () => {
    const { call, line } = await connected();
    await call.pressDigits('12#');
    call.hangUp();
    expect(await call.ended).toBe('completed');
    while (line.closed === undefined) await new Promise((resolve) => setImmediate(resolve));
    expect([line.digits, line.stopped]).toEqual(['12#', true]);
  });

  it('is over when the gateway closes the socket, because the markup hangs up', async () => {
    const { call, line } = await connected();
    line.socket.close(1000, 'done');
    expect(await call.ended).toBe('completed');
    expect(call.events.map(({ type }) => type)).not.toContain('hung-up-over-rest');
  });

  it('stays on a silent line if the markup pauses after the stream', async () => {
    const markup = gateway.reply().body.replace('<Hangup/>', '<Pause length="40"/>');
    gateway.reply = () => ({ status: 200, contentType: 'text/xml', body: markup });
    const { call, line } = await connected();
    line.socket.close(1000, 'done');
    await call.waitFor('paused');
    expect(call.status).toBe('in-progress');
  });

  it('receives a sentence, or the busy tone, when it is rejected', async () => {
    gateway.reply = () => webhook.reject('no-workflow', null).reply;
    const refused = await twilio.placeInboundCall({ from: THEIRS, to: OURS });
    expect(await refused.ended).toBe('completed');
    expect(refused.events.find(({ type }) => type === 'said')?.detail['text']).toContain('Nobody');
    gateway.reply = () => webhook.reject('busy', null).reply;
    const busy = await twilio.placeInboundCall({ from: THEIRS, to: OURS });
    expect(await busy.ended).toBe('busy');
  });

  it('fails if the gateway does not take it for Twilio', async () => {
    const strange = await startFakeTwilio({
      ...account,
      publicWebhookBase: gateway.base,
      authToken: 'other',
    });
    const call = await strange.placeInboundCall({ from: THEIRS, to: OURS });
    expect(await call.ended).toBe('failed');
    expect(gateway.refused).toBe(1);
    await strange.close();
  });

  it('drops the query of a stream URL, as Twilio does', async () => {
    const [stream] = readTwiml(
      '<Response><Connect><Stream url="wss://h/p?token=1"/></Connect></Response>',
    );
    expect(stream).toEqual({ verb: 'Stream', url: 'wss://h/p', parameters: {} });
  });
});

describe('an outbound call at the fake', () => {
  it('rings, is answered, reports its statuses in order and who answered', async () => {
    twilio.onOutboundCall((call) => {
      call.answeredBy = 'machine_start';
      call.answer();
    });
    const arrived = gateway.nextLine();
    const { callId } = await control.dial(credentials(), dialRequest(), signal);
    const line = await arrived;
    expect(line.start?.callId).toBe(callId);
    const [call] = twilio.calls;
    await call?.waitFor('answered-by');
    expect(await control.getCall(credentials(), callId, signal)).toMatchObject({
      status: 'in-progress',
    });
    await control.hangUp(credentials(), callId, signal);
    await control.hangUp(credentials(), callId, signal);
    expect(await call?.ended).toBe('completed');
    await call?.callbacksSettled();
    while (!gateway.events.some(({ kind }) => kind === 'answered-by')) {
      await new Promise((resolve) => setImmediate(resolve));
    }
    expect(gateway.events.find(({ kind }) => kind === 'answered-by')).toMatchObject({
      callId,
      machine: true,
    });
    const numbered = gateway.events.flatMap((each) =>
      each.kind === 'status' && each.sequence !== undefined ? [[each.sequence, each.status]] : [],
    );
    expect(numbered).toEqual([
      [0, 'initiated'],
      [1, 'ringing'],
      [2, 'in-progress'],
      [3, 'completed'],
    ]);
    expect(await control.getCall(credentials(), callId, signal)).toMatchObject({
      status: 'completed',
      durationS: expect.any(Number),
    });
  });

  it.each(['busy', 'no-answer', 'failed'] as const)('is not answered: %s', async (how) => {
    twilio.onOutboundCall((call) => call.refuse(how));
    await control.dial(credentials(), dialRequest(), signal);
    const [call] = twilio.calls;
    expect(await call?.ended).toBe(how);
    await call?.callbacksSettled();
    expect(statuses()).toEqual(['initiated', 'ringing', how]);
  });

  it('is canceled while it rings', async () => {
    const { callId } = await control.dial(credentials(), dialRequest(), signal);
    const [call] = twilio.calls;
    await call?.waitFor('ringing');
    await control.hangUp(credentials(), callId, signal);
    expect(await call?.ended).toBe('canceled');
  });

  it('is handed over: the stream ends and the other number is dialled', async () => {
    twilio.onOutboundCall((call) => call.answer());
    const arrived = gateway.nextLine();
    const { callId } = await control.dial(credentials(), dialRequest(), signal);
    const line = await arrived;
    const target = { to: '+14155550102', callerId: OURS, ringS: 20 };
    await control.transfer(credentials(), callId, target, signal);
    const [call] = twilio.calls;
    expect((await call?.waitFor('dialed'))?.detail).toEqual(target);
    while (line.closed === undefined) await new Promise((resolve) => setImmediate(resolve));
    expect(call?.status).toBe('in-progress');
    call?.hangUp();
    expect(await call?.ended).toBe('completed');
  });

  it('reports its statuses twice and out of order on request', async () => {
    await twilio.close();
    await gateway.close();
    await start({ mischief: { deliveries: 2, reorder: true } });
    twilio.onOutboundCall((call) => call.refuse('busy'));
    await control.dial(credentials(), dialRequest(), signal);
    const [call] = twilio.calls;
    await call?.ended;
    await call?.callbacksSettled();
    expect(statuses()).toEqual(['ringing', 'ringing', 'initiated', 'initiated', 'busy', 'busy']);
    const keys = gateway.events.map(({ dedupeKey }) => dedupeKey);
    expect(new Set(keys).size).toBe(3);
  });

  it('is not placed with a wrong password, to nowhere, or from a number of others', async () => {
    const failure = (code: string) => expect.objectContaining({ code });
    const dial = (token: string, more: Partial<DialRequest>) =>
      control.dial(credentials(token), { ...dialRequest(), ...more }, signal);
    await expect(dial('wrong', {})).rejects.toThrow(failure('PROVIDER_AUTH'));
    await expect(dial('secret', { to: 'nowhere' })).rejects.toThrow(
      failure('PROVIDER_DESTINATION'),
    );
    await expect(dial('secret', { from: THEIRS })).rejects.toThrow(failure('PROVIDER_DESTINATION'));
    expect(twilio.calls).toEqual([]);
  });
});

describe('a number at the fake', () => {
  it('is owned, and rings where it is pointed', async () => {
    expect(await control.ownsNumber(credentials(), OURS, signal)).toBe(true);
    expect(await control.ownsNumber(credentials(), THEIRS, signal)).toBe(false);
    const url = `${gateway.base}/somewhere/inbound`;
    const done = await control.configureInbound(credentials(), OURS, url, signal);
    expect(done).toEqual({ ok: true, message: null });
    await connected();
    expect(twilio.webhooks[0]?.url).toBe(url);
  });
});

describe('the parts of the fake', () => {
  it('plays in order and reaches a mark with the frame that holds its last audio', () => {
    const playout = new Playout();
    const frame = new Uint8Array(FRAME_BYTES);
    expect(playout.mark('empty')).toBe(true);
    playout.push(new Uint8Array(200).fill(1));
    playout.mark('a');
    playout.push(new Uint8Array(10).fill(2));
    playout.mark('b');
    expect(playout.reached()).toEqual([]);
    playout.play(frame);
    expect([frame[0], frame[159], playout.bufferedBytes]).toEqual([1, 1, 50]);
    expect(playout.reached()).toEqual([]);
    playout.play(frame);
    expect([frame[39], frame[40], frame[49], frame[50]]).toEqual([1, 2, 2, 0xff]);
    expect(playout.reached()).toEqual(['a', 'b']);
    playout.push(new Uint8Array(5_000));
    playout.mark('c');
    expect(playout.clear()).toEqual(['c']);
    expect(playout.bufferedBytes).toBe(0);
  });

  it('finds speech and silence by loudness', async () => {
    const timeline = new Timeline();
    const feed = (samples: Int16Array) => {
      const bytes = mulaw.encode(samples);
      for (let at = 0; at < bytes.length; at += 160) timeline.append(bytes.subarray(at, at + 160));
    };
    const speech = timeline.wait(true, { forMs: 60 });
    feed(new Int16Array(160 * 10));
    feed(tone(200));
    feed(new Int16Array(160 * 10));
    expect(await speech).toBe(200);
    expect(await timeline.wait(false, { fromMs: 220, forMs: 100 })).toBe(400);
    await expect(timeline.wait(true, { fromMs: 420, withinMs: 100 })).rejects.toThrow('no speech');
    const never = timeline.wait(true, {});
    timeline.end();
    await expect(never).rejects.toThrow('ended');
    expect(timeline.ms).toBe(600);
  });

  it.each([
    ['an unescaped &', '<Response><Say>a & b</Say></Response>'],
    ['an open element', '<Response><Say>a</Response>'],
    ['a verb it does not know', '<Response><Gather/></Response>'],
    ['something else', '{"a":1}'],
    ['nothing', ''],
  ])('does not read %s as markup', (_what, document) => {
    expect(() => readTwiml(document)).toThrow();
  });
});

describe('a call at the fake that waits', () => {
  it('does not wait beyond the end of the call', async () => {
    const { call }: { call: FakeCall } = await connected();
    const speech = call.waitForSpeech();
    const said = call.say(tone(10_000));
    call.hangUp();
    await expect(speech).rejects.toThrow('ended');
    await expect(said).rejects.toThrow('ended');
    await expect(call.waitForSilence()).rejects.toThrow('ended');
  });
});
