// What every hosted provider does, against its fake over loopback: one row each (test/fakes/hosted/hosted-rows.ts).
// Time is simulated, sockets are real. What is one provider's alone is tested in its own folder.

import { afterAll, afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { DialRequest, ProviderEvent } from '../../../src/telephony/provider/provider.ts';
import type { HostedCall } from '../../fakes/hosted/hosted-call.ts';
import type { HostedFake } from '../../fakes/hosted/hosted-fake.ts';
import { hostedRows } from '../../fakes/hosted/hosted-rows.ts';
import { SimulatedClock } from '../../fakes/simulated-clock.ts';
import { cases } from './contract-cases.ts';
import { type GatewayLine, ProviderGateway } from './provider-gateway.ts';

const OURS = '+14155550100';
const THEIRS = '+14155550101';
const THIRD = '+14155550102';
const FOREIGN = '+14155550999';
const FRAME_MS = 20;
const { signal } = new AbortController();

/** A loud tone at 8 kHz. */
function tone(ms: number): Int16Array {
  return Int16Array.from({ length: ms * 8 }, (_, i) => 8_000 * Math.sin((i * 2 * Math.PI) / 18));
}

function loudness(samples: readonly number[]): number {
  return Math.sqrt(samples.reduce((sum, each) => sum + each * each, 0) / samples.length);
}

const rank: Readonly<Record<string, number>> = { initiated: 0, ringing: 1, 'in-progress': 2 };
const rankOf = (status: string): number => rank[status] ?? 3;

describe.each(hostedRows)('$name', (row) => {
  const clock = new SimulatedClock();
  const provider = row.create({ clock });
  const { control, capabilities } = provider;
  let gateway: ProviderGateway;
  let fake: HostedFake;

  async function start(more: { deliveries?: number; reorder?: boolean } = {}): Promise<void> {
    gateway = new ProviderGateway(provider, clock);
    await gateway.listen();
    fake = await row.startFake({
      gatewayUrl: gateway.base,
      numbers: [OURS],
      mischief: more,
      clock,
    });
    gateway.credentials = row.configuration(fake.baseUrl);
  }

  async function stop(): Promise<void> {
    await fake.close();
    await gateway.close();
  }

  beforeEach(() => start());
  afterEach(() => stop());
  afterAll(() => clock.stop());

  const address = (number: string): string => provider.formatAddress(number);
  const dialRequest = (more: Partial<DialRequest> = {}): DialRequest => ({
    runId: '1',
    from: address(OURS),
    to: address(THEIRS),
    ...gateway.urls('1'),
    ringS: 30,
    callS: 300,
    ...more,
  });

  async function rungIn(): Promise<{ call: HostedCall; line: GatewayLine }> {
    const arrived = gateway.nextLine();
    const call = await fake.placeInboundCall({ from: THEIRS, to: OURS });
    return { call, line: await arrived };
  }

  async function dialled(): Promise<{ call: HostedCall; line: GatewayLine; callId: string }> {
    fake.onOutboundCall((call) => call.answer());
    const arrived = gateway.nextLine();
    const { callId } = await control.dial(gateway.credentials, dialRequest(), signal);
    const line = await arrived;
    const call = fake.calls.at(-1);
    if (call === undefined) throw new Error('nothing was dialled');
    return { call, line, callId };
  }

  /** Statuses in status webhooks; an answer webhook has a status too. */
  const statuses = (): string[] =>
    gateway.events.flatMap((each, i) =>
      each.kind === 'status' && gateway.requests[i]?.url.includes('/answer/') === false
        ? [each.status]
        : [],
    );

  /** Vonage reports that it rings at the same moment: either webhook may be the first. */
  const arrivals = () => gateway.events.filter(({ kind }) => kind === 'inbound-call');

  describe('a call from outside', () => {
    it(cases.arrives, async () => {
      const { call, line } = await rungIn();
      expect(arrivals()).toHaveLength(1);
      expect(gateway.refused).toBe(0);
      line.play(tone(300));
      await call.waitForSpeech({ fromMs: 0 });
      await call.say(tone(300));
      await gateway.until(() => loudness(line.heard.slice(-2_000)) > 1_000);
      expect(call.faults).toEqual([]);
    });

    it(cases.namesNumbers, async () => {
      await rungIn();
      const [event] = arrivals();
      const { from, to } = event as { from: string; to: string };
      expect([from, to].map((number) => number.replace(/^\+?/, '+'))).toEqual([THEIRS, OURS]);
    });

    it(cases.keyOfRepeated, async () => {
      const { call } = await rungIn();
      const [request] = gateway.requests;
      if (request === undefined) throw new Error('no request');
      const again = provider.webhook.parse(request);
      expect(again).toEqual(gateway.events[0]);
      call.hangUp();
    });

    it(cases.refused, async () => {
      gateway.inbound = 'reject';
      const call = await fake.placeInboundCall({ from: THEIRS, to: OURS });
      await call.ended;
      expect(call.events.some(({ type }) => type === 'stream-started')).toBe(false);
      expect(call.faults).toEqual([]);
    });

    it(cases.endsWithCaller, async () => {
      const { call, line } = await rungIn();
      call.hangUp();
      await gateway.until(() => line.closed !== undefined);
      expect([await call.ended, line.closed]).toEqual(['completed', 'ended']);
    });

    it.runIf(capabilities.answerStyle === 'command')(cases.connectedOnce, async () => {
      gateway.inbound = 'lose-first-reply';
      const { call, line } = await rungIn();
      await gateway.until(
        () => gateway.events.filter(({ kind }) => kind === 'inbound-call').length > 1,
      );
      line.play(tone(100));
      await call.waitForSpeech({ fromMs: 0 });
      const streams = call.events.filter(({ type }) => type === 'stream-started');
      expect([streams.length, call.faults, gateway.lines.length]).toEqual([1, [], 1]);
    });
  });

  describe('a call that we place', () => {
    it(cases.dialled, async () => {
      const { call, line, callId } = await dialled();
      expect(line.start?.callId).toBeDefined();
      line.play(tone(200));
      await call.waitForSpeech({ fromMs: 0 });
      call.hangUp();
      await gateway.until(() => statuses().some((status) => rankOf(status) === 3));
      const own = gateway.events.flatMap((each) =>
        each.kind === 'status' && each.callId === callId ? [each] : [],
      );
      expect(own.length).toBeGreaterThan(0);
      expect(own.at(-1)?.status).toBe('completed');
      const ranks = statuses().map(rankOf);
      expect(ranks).toEqual(ranks.toSorted((a, b) => a - b));
      expect([call.faults, gateway.refused]).toEqual([[], 0]);
    });

    it.each(['busy', 'no-answer'] as const)(cases.notAnswered, async (outcome) => {
      fake.onOutboundCall((call) => call.refuse(outcome));
      await control.dial(gateway.credentials, dialRequest(), signal);
      await gateway.until(() => statuses().some((status) => rankOf(status) === 3));
      expect(statuses().at(-1)).toBe(outcome);
    });

    it(cases.longest, async () => {
      const long = dialRequest({ ringS: 86_400, callS: capabilities.callS.max });
      const { callId } = await control.dial(gateway.credentials, long, signal);
      expect(callId).not.toBe('');
    });

    it(cases.foundAgain, async () => {
      const { call, callId } = await dialled();
      const wanted = {
        runId: '1',
        from: address(OURS),
        to: address(THEIRS),
        since: new Date(clock.now() - 5_000),
      };
      const found = await control.findCalls(gateway.credentials, wanted, signal);
      if (found !== undefined) expect(found.map((each) => each.callId)).toContain(callId);
      call.hangUp();
    });
  });

  describe('a call that talks', () => {
    it(cases.markPlayed, async () => {
      const { call, line } = await rungIn();
      line.play(tone(400));
      line.session.mark('first');
      const speechMs = await call.waitForSpeech({ fromMs: 0 });
      await gateway.until(() => line.marks.length > 0);
      expect(line.marks).toEqual([{ name: 'first', outcome: 'played' }]);
      expect(call.mediaMs - speechMs).toBeGreaterThanOrEqual(400 - FRAME_MS);
    });

    it(cases.cleared, async () => {
      const { call, line } = await rungIn();
      line.play(tone(2_000));
      line.session.mark('cleared-1');
      line.play(tone(2_000));
      line.session.mark('cleared-2');
      await call.waitForSpeech({ fromMs: 0 });
      line.session.clear();
      const dropped = [
        { name: 'cleared-1', outcome: 'dropped' },
        { name: 'cleared-2', outcome: 'dropped' },
      ];
      expect(line.marks).toEqual(dropped);
      await call.waitFor('clear');
      await call.waitForSilence({ forMs: 200, withinMs: 1_000 });
      line.play(tone(100));
      line.session.mark('after');
      await gateway.until(() => line.marks.length > 2);
      expect(line.marks).toEqual([...dropped, { name: 'after', outcome: 'played' }]);
      expect(call.faults).toEqual([]);
    });

    it(cases.keysIn, async () => {
      const { call, line } = await rungIn();
      await call.pressDigits('12#');
      if (!capabilities.digitsIn) return;
      await gateway.until(() => line.digits.length > 2);
      expect(line.digits).toBe('12#');
    });

    it.runIf(capabilities.digitsOut === 'request')(cases.keysOut, async () => {
      const { call, callId } = await dialled();
      await control.sendDigits?.(gateway.credentials, callId, '12w#', signal);
      const { detail } = await call.waitFor('digits-out');
      expect(String(detail['digits'])).toContain('12');
    });

    it(cases.hungUpTwice, async () => {
      const { call, callId } = await dialled();
      await control.hangUp(gateway.credentials, callId, signal);
      await call.ended;
      await control.hangUp(gateway.credentials, callId, signal);
      await control.hangUp(gateway.credentials, row.dialled.callId, signal);
    });

    it(cases.transferred, async () => {
      const { call, callId } = await dialled();
      const { transferUrl: documentUrl, resultUrl } = gateway.urls('1');
      const target = { to: address(THIRD), callerId: OURS, ringS: 20, documentUrl, resultUrl };
      await control.transfer(gateway.credentials, callId, target, signal);
      const { detail } = await call.waitFor('dialed');
      expect(String(detail['to']).replace(/^\+?/, '+')).toBe(THIRD);
      call.hangUp();
    });

    it.runIf(row.reportsTransfers)(cases.transferReported, async () => {
      const { call, callId } = await dialled();
      const { transferUrl: documentUrl, resultUrl } = gateway.urls('1');
      const target = { to: address(THIRD), callerId: OURS, ringS: 20, documentUrl, resultUrl };
      await control.transfer(gateway.credentials, callId, target, signal);
      await call.waitFor('dialed');
      call.hangUp();
      const results = () => gateway.events.filter((_, i) => gateway.requests[i]?.url === resultUrl);
      const isTaken = (each: ProviderEvent): boolean =>
        (each.kind === 'status' && each.status === 'in-progress') ||
        (each.kind === 'transfer-result' && each.status === 'completed');
      await gateway.until(() => results().some(isTaken));
      const taken = results().find(isTaken);
      expect(taken !== undefined && 'callId' in taken && taken.callId).not.toBe(callId);
      expect([call.faults, gateway.refused]).toEqual([[], 0]);
    });

    it.runIf(control.join !== undefined)(cases.joined, async () => {
      const { call, callId } = await dialled();
      const { transferUrl: documentUrl, legUrls } = gateway.urls('1');
      const arrived = gateway.nextLine();
      const dial = dialRequest({ runId: legUrls.id, to: address(THIRD), ...legUrls });
      const { callId: legId } = await control.dial(gateway.credentials, dial, signal);
      const line = await arrived;
      const leg = fake.calls.at(-1);
      line.play(tone(200));
      await leg?.waitForSpeech({ fromMs: 0 });
      const reported = (): boolean =>
        gateway.events.some((each, i) => {
          const { url } = gateway.requests[i] ?? { url: '' };
          const isOfLeg = url.includes(legUrls.id) && 'callId' in each && each.callId === legId;
          return isOfLeg && each.kind === 'status' && each.status === 'in-progress';
        });
      await gateway.until(reported);
      const calls = { callId, legId, name: legUrls.id, documentUrl };
      await control.join?.(gateway.credentials, calls, signal);
      const { detail } = await call.waitFor('joined');
      expect(detail).toMatchObject({ with: leg?.id });
      await gateway.until(() => line.closed === 'ended');
      leg?.hangUp();
      expect(await call.ended).toBe('completed');
      expect([call.faults, leg?.faults, gateway.refused]).toEqual([[], [], 0]);
    });

    it.runIf(control.join !== undefined)(cases.joinedWithNobody, async () => {
      const { call, callId, line } = await dialled();
      const { transferUrl: documentUrl } = gateway.urls('1');
      const calls = { callId, legId: row.dialled.callId, name: '1-w1', documentUrl };
      await expect(control.join?.(gateway.credentials, calls, signal)).rejects.toMatchObject({
        code: expect.stringMatching(/^PROVIDER_/),
      });
      line.play(tone(200));
      await call.waitForSpeech({ fromMs: 0 });
    });

    it(cases.lookedUp, async () => {
      const { call, callId } = await dialled();
      const up = await control.getCall(gateway.credentials, callId, signal);
      expect(up?.status).toBe('in-progress');
      call.hangUp();
      await call.ended;
      const over = await control.getCall(gateway.credentials, callId, signal);
      expect(over === undefined || rankOf(over.status) === 3).toBe(true);
      const none = await control.getCall(gateway.credentials, row.dialled.callId, signal);
      expect(none).toBeUndefined();
    });

    it.runIf(capabilities.closeEndsCall)(cases.closed, async () => {
      const { call, line } = await rungIn();
      line.session.close('over');
      expect(await call.ended).toBe('completed');
    });
  });

  describe('status webhooks', () => {
    it(cases.eventsTwice, async () => {
      await stop();
      await start({ deliveries: 2, reorder: true });
      const { call } = await dialled();
      call.hangUp();
      await call.ended;
      await call.callbacksSettled();
      const all = gateway.events.flatMap((each) => (each.kind === 'status' ? [each] : []));
      const keys = new Map(all.map((each) => [each.dedupeKey, each.status]));
      expect(all.length).toBeGreaterThan(keys.size);
      expect([...keys.values()].filter((status) => status === 'completed')).toEqual(['completed']);
      expect(gateway.refused).toBe(0);
    });

    it(cases.forged, async () => {
      await rungIn();
      const [request] = gateway.requests;
      if (request === undefined) throw new Error('no request');
      const { webhook } = provider;
      const nowMs = clock.now();
      expect(webhook.verify(request, gateway.credentials, nowMs)).toBe(true);
      const wrong = { ...gateway.credentials, ...row.wrongSecret };
      expect(webhook.verify(request, wrong, nowMs)).toBe(false);
      expect(webhook.verify({ ...request, headers: {} }, gateway.credentials, nowMs)).toBe(false);
      if (capabilities.webhookProof !== 'full') return;
      const rawBody = Buffer.from(request.rawBody.toString().replace('4155550101', '4155550109'));
      const forged = {
        ...request,
        rawBody,
        form: { ...request.form, ['From']: FOREIGN },
        formAll: 'From' in request.formAll ? { ...request.formAll, ['From']: [FOREIGN] } : {},
      };
      expect(webhook.verify(forged, gateway.credentials, nowMs)).toBe(false);
    });

    it(cases.ofOthers, () => {
      const request = { ...emptyRequest, form: { ['Hello']: 'x' }, json: { hello: 1 } };
      expect(provider.webhook.recognises(request)).toBe(false);
    });
  });

  describe('numbers', () => {
    it(cases.owned, async () => {
      expect(await control.ownsNumber(gateway.credentials, address(OURS), signal)).not.toBe(false);
      expect(await control.ownsNumber(gateway.credentials, address(FOREIGN), signal)).not.toBe(
        true,
      );
    });

    it(cases.attached, async () => {
      const url = `${gateway.base}/api/v1/telephony/inbound/run`;
      const attached = await control.configureInbound(
        gateway.credentials,
        address(OURS),
        url,
        signal,
      );
      expect(attached).toEqual({ ok: true, message: null });
      const { call } = await rungIn();
      call.hangUp();
      const detached = await control.detachInbound(gateway.credentials, address(OURS), url, signal);
      expect(detached.ok).toBe(true);
    });
  });
});

const emptyRequest = {
  method: 'POST',
  url: 'https://gw.example.com/api/v1/telephony/inbound/run',
  headers: {},
  rawBody: Buffer.alloc(0),
  form: {},
  formAll: {},
  json: undefined,
};
