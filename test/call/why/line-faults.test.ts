// Faults of providers, networks and media, injected into calls over Twilio (its wire on loopback) and a PBX under the test's
// control: who is blamed, where, and what the advice names.

import { describe, expect, it } from 'vitest';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import {
  ACCOUNT,
  CALL,
  type CallHarness,
  chat,
  twilioAnswers,
  withCallHarness,
} from '../call-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';
import { expectInjected, whyOf } from './why-harness.ts';

const held = withCallHarness();

async function dialled(): Promise<{ harness: CallHarness; run: { id: string } }> {
  const harness = await held.harness.prepare();
  const { runId: id } = await harness.start();
  return { harness, run: { id } };
}

describe('a call over Twilio that is not connected', () => {
  it.each([
    ['busy', 'busy', '', 'caller', /later/, /is busy/],
    ['not answered', 'no-answer', '', 'caller', /later/, /nobody answered/],
    ['rejected with SIP 603', 'failed', '603', 'caller', /\+14155550100/, /rejected/],
    [
      'to a number that does not exist',
      'failed',
      '404',
      'caller',
      /number \+14155550100/,
      /no number/,
    ],
    ['over a congested network', 'failed', '503', 'carrier', /Twilio/, /congestion/],
    ['over a network that fails', 'failed', '502', 'carrier', /Twilio/, /SIP 502/],
    ['refused by the network', 'failed', '403', 'carrier', /caller id/, /refused/],
    ['over a trunk that does not reply', 'failed', '408', 'carrier', /trunk/, /did not reply/],
    ['without a common codec', 'failed', '488', 'carrier', /ulaw/, /codec/],
  ] as const)('%s', async (_what, status, sip, party, advice, summary) => {
    const { harness, run } = await dialled();
    const more = sip === '' ? '' : `&SipResponseCode=${sip}`;
    await harness.status(run.id, `CallStatus=${status}&SequenceNumber=2${more}`);
    await expectInjected(harness, run, { party, provider: 'twilio', advice, summary });
  });

  it('because nobody answers, without a report, is answered by no guess at a person', async () => {
    const { harness, run } = await dialled();
    harness.rest.answer = ({ method }) =>
      method === 'GET'
        ? { status: 500, body: {} }
        : { status: 200, body: { sid: CALL, status: 'completed' } };
    await harness.pass(90_000);
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    await expectInjected(harness, run, {
      party: 'carrier',
      provider: 'twilio',
      advice: /callbacks.*PATCHBAY_PUBLIC_URL/,
      summary: /neither an answer nor an end/,
    });
  });

  it('because the media never come after the answer', async () => {
    const { harness, run } = await dialled();
    harness.rest.answer = (asked) =>
      asked.method === 'GET'
        ? { status: 200, body: { sid: CALL, status: 'in-progress' } }
        : twilioAnswers(asked);
    await harness.status(run.id, 'CallStatus=in-progress&SequenceNumber=2');
    await harness.pass(31_000);
    await harness.passThrough(async () => (await harness.run(run.id)).state === 'completed');
    await expectInjected(harness, run, {
      party: 'carrier',
      provider: 'twilio',
      advice: /PATCHBAY_PUBLIC_URL/,
      summary: /opened no media .* 3\d s/,
    });
  });

  it.each([
    ['the credentials', 401, 20003, /credentials.*Twilio/, /credentials/],
    ['the number', 400, 21211, /number \+14155550100/, /refused to call/],
    ['more calls than the account may have', 429, 20429, /limit/, /limit/],
  ])('because Twilio refuses %s', async (_what, status, code, advice, summary) => {
    const harness = await held.harness.prepare();
    harness.rest.answer = () => ({ status, body: { code, message: 'No.', status } });
    await expect(harness.start()).rejects.toBeInstanceOf(GatewayError);
    const [run] = await harness.runs();
    if (run === undefined) throw new Error('no run');
    await expectInjected(harness, run, { party: 'carrier', provider: 'twilio', advice, summary });
  });

  it("because the client hung up while it rang is nobody's fault", async () => {
    const { harness, run } = await dialled();
    const { organizationId } = harness.at.owner;
    await harness.callControl.hangUp({ organizationId, runId: run.id });
    expect(await whyOf(harness, run)).toMatchObject({ party: 'nobody', also: [] });
  });
});

describe('media over Twilio', () => {
  it('that bring no audio of the caller are one-way audio, not a silent caller', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    stream.line = 'nothing';
    await harness.passUntil(() => stream.closed !== undefined, 120_000);
    await expectInjected(harness, run, {
      party: 'carrier',
      provider: 'twilio',
      advice: /One-way audio/,
      summary: /No audio of the caller/,
    });
  });

  it("that break their protocol are the provider's fault", async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.pass(1_000);
    const before = harness.clock.now();
    stream.text('not JSON');
    await expectInjected(harness, run, {
      party: 'carrier',
      provider: 'twilio',
      node: 'Ask',
      between: [before, harness.clock.now()],
      advice: /media message/,
      summary: /protocol/,
    });
  });

  it('that break, and over which the call does not come back, are named beside the hang-up', async () => {
    const harness = await held.harness.prepare();
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    stream.lose(1006);
    await harness.pass(4_000);
    await harness.ended(run);
    const why = await whyOf(harness, run);
    // Of a provider that reports nothing, nobody knows whether the caller hung up: the events have the break.
    expect(why.party).toBe('unknown');
    expect(why.summary).toMatch(/broke/);
    expect(why.evidence.map(({ type }) => type)).toContain('media.interrupted');
  });
});

describe('a PBX', () => {
  it('whose media cannot be opened is at fault', async () => {
    const harness = await held.harness.prepare(chat);
    const pbx = await withPbx(harness);
    pbx.onOpen = () => Promise.reject(new GatewayError('PBX_MEDIA', { reason: 'no channel' }));
    pbx.inbound('phone-1', EXTENSION);
    await harness.passThrough(async () => (await harness.runs())[0]?.state === 'completed');
    const [run] = await harness.runs();
    await expectInjected(
      harness,
      { id: run?.id ?? '' },
      {
        party: 'pbx',
        provider: 'ari',
        advice: /doctor --config \d+/,
        summary: /no channel/,
      },
    );
  });

  it('that is not connected when the call is dialled is at fault', async () => {
    const harness = await held.harness.prepare(chat);
    await withPbx(harness);
    harness.pbx.onDial = () => Promise.reject(new GatewayError('PBX_NOT_CONNECTED'));
    const configurationId = harness.configuration.id;
    await expect(harness.start({ configurationId })).rejects.toBeInstanceOf(GatewayError);
    const [run] = await harness.runs();
    await expectInjected(
      harness,
      { id: run?.id ?? '' },
      {
        party: 'pbx',
        provider: 'ari',
        advice: /Asterisk runs/,
        summary: /not connected/,
      },
    );
  });

  it('whose telephone sends no audio has one-way audio', async () => {
    const harness = await held.harness.prepare();
    const pbx = await withPbx(harness);
    pbx.inbound('phone-2', EXTENSION);
    const stream = await mediaOf(harness, 'phone-2');
    stream.line = 'nothing';
    await harness.passUntil(
      () => stream.closed !== undefined || harness.pbx.hangUps.length > 0,
      120_000,
    );
    const [run] = await harness.runs();
    await expectInjected(
      harness,
      { id: run?.id ?? '' },
      {
        party: 'pbx',
        provider: 'ari',
        advice: /external_media_address/,
      },
    );
  });
});

it('no text has the credentials of the account', async () => {
  const harness = await held.harness.prepare();
  harness.rest.answer = () => ({ status: 401, body: { code: 20003, message: 'Authenticate' } });
  await expect(harness.start()).rejects.toBeInstanceOf(GatewayError);
  const [run] = await harness.runs();
  const text = JSON.stringify(await whyOf(harness, { id: run?.id ?? '' }));
  for (const secret of [ACCOUNT, '0123456789abcdef']) expect(text).not.toContain(secret);
  expect(text).toContain('Twilio');
});
