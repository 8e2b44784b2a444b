// Calls in which the agent speaks to a colleague before the caller is brought to them: what they are told, what
// becomes of the call, and lines over which it cannot be done. How a colleague takes a call or does not is in
// warm-transfer.test.ts. Source: contract §8.7, and beyond it.

import { describe, expect, it } from 'vitest';
import { createCallControl, withClosing } from '../../../src/app/call-parts.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import { createTwilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { farSession } from '../../fakes/call/far-session.ts';
import { deferred } from '../../fakes/deferred.ts';
import { type CallHarness, withCallHarness } from '../call-harness.ts';
import { type Answer, ScriptedModel } from '../scripted-model.ts';
import { frontDesk, withTools } from '../session/tools-harness.ts';
import { EXTENSION, mediaOf, withPbx } from '../start/inbound/pbx-harness.ts';
import { Stream } from '../stream.ts';

const at = withCallHarness();
const asks: Answer = { call: 'front_desk', given: { topic: 'a bill' } };
const sorry: Answer = { say: ['Nobody has time.'] };
const TOLD = 'Call from +14155550100 about a bill.';

async function prepare(warm: object | null): Promise<{ harness: CallHarness; llm: ScriptedModel }> {
  const { harness } = at;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = [asks, sorry];
  harness.speech.llm = llm;
  await withTools(harness, frontDesk(warm));
  return { harness, llm };
}

/** The caller is to be put through; the colleague's end of their own audio. */
async function transferring(more: object = {}) {
  const { harness, llm } = await prepare({
    message: 'Call from {{caller_number}} about {{topic}}.',
    timeout: 10,
    ...more,
  });
  const colleague = new Stream({ clock: harness.clock, callId: 'colleague', oneWayMs: 0 });
  const answered = deferred();
  harness.pbx.onTransfer = async (signal, { warm }) => {
    signal.addEventListener('abort', () => answered.reject(signal.reason as Error));
    await answered.promise;
    const onAttach = (): void => {
      colleague.start();
      harness.streams.push(colleague);
    };
    await warm?.consult(farSession(colleague, { clock: harness.clock, onAttach }), signal);
  };
  const pbx = await withPbx(harness);
  pbx.inbound('phone', EXTENSION);
  const caller = await mediaOf(harness, 'phone');
  await harness.heardOut(caller);
  await harness.says(caller, 'please');
  await harness.passThrough(() => harness.pbx.transfers.length === 1);
  return { harness, llm, pbx, caller, colleague, answer: () => answered.resolve() };
}

const results = (llm: ScriptedModel) =>
  llm.spoken
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'tool' ? [JSON.parse(message.content)] : []));

describe('a transfer that is announced to the destination', () => {
  it('announces the caller and the reason, and is done when they press a key', async () => {
    const { harness, caller, colleague, answer } = await transferring();
    expect(harness.pbx.transfers).toMatchObject([
      { callId: 'phone', to: '14155550199', ringS: 20, warm: { callerHears: 'music' } },
    ]);
    await harness.pass(19_000);
    answer();
    await harness.passUntil(() => colleague.frames > 30);
    expect(harness.tts.asked.at(-1)).toBe(TOLD);
    expect(caller.open).toBe(true);
    const { frames } = caller;
    await harness.pass(2_000);
    expect(caller.frames).toBe(frames); // What the colleague is told is none of the caller's business.
    colleague.key('1');
    await harness.until(() => !caller.open);
    const [run] = await harness.runs();
    const done = await harness.ended({ id: run?.id ?? '' });
    expect(done).toMatchObject({ disposition: 'transfer_call' });
    expect(await harness.transcript(done)).toEqual(['assistant: Hello.', 'user: please']);
    expect(harness.pbx.hangUps).toEqual([]);
    expect(harness.errors).toEqual([]);
    expect(JSON.stringify(harness.lines)).not.toContain(TOLD);
  });

  it('and is not taken is explained to the model; the caller is spoken to', async () => {
    const { harness, llm, caller, colleague, answer } = await transferring({
      caller_hears: 'ringback',
    });
    expect(harness.pbx.transfers).toMatchObject([{ warm: { callerHears: 'ringback' } }]);
    answer();
    await harness.passUntil(() => colleague.frames > 30);
    colleague.key('*');
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toEqual([
      {
        status: 'transfer_failed',
        reason: 'declined',
        message: 'The destination answered, but did not accept the call.',
      },
    ]);
    await harness.heardOut(caller);
    expect(harness.tts.asked.at(-1)).toBe('Nobody has time.');
  });

  it('is broken off when the caller hangs up meanwhile', async () => {
    const { harness, pbx, colleague, answer } = await transferring();
    answer();
    await harness.passUntil(() => colleague.frames > 30);
    pbx.end('phone');
    const [run] = await harness.runs();
    await harness.passThrough(() => harness.callControl.activeCalls === 0);
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'user_hangup',
    });
    const { frames } = colleague;
    await harness.pass(1_000);
    expect(colleague.frames).toBe(frames);
  });

  it('for which the PBX sends no more events is abandoned in the end', async () => {
    const { harness, llm } = await transferring();
    await harness.pass(20_000 + 5_000 + 75_000);
    expect(llm.spoken).toHaveLength(1);
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ reason: 'timeout' }]);
  });
});

/** Calls over Twilio as if it could not join them. */
function withoutWarm(harness: CallHarness): void {
  const twilio = createTwilioProvider({ clock: harness.clock });
  const capabilities = { ...twilio.capabilities, transfer: ['cold'] as const };
  const providers = providersOf([{ ...twilio, capabilities }, harness.pbx]);
  const callControl = createCallControl(withClosing({ ...harness.deps, providers }));
  Object.assign(harness, { callControl });
}

describe('at a provider without announcements before a transfer', () => {
  it('the run says so from its beginning, and the transfer fails', async () => {
    const { harness, llm } = await prepare({ message: 'A call.' });
    withoutWarm(harness);
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    const faults = await harness.bodies(run, 'fault');
    expect(faults).toMatchObject([{ code: 'TRANSFER_WARM_UNSUPPORTED', fatal: false }]);
    await harness.says(stream, 'please');
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toEqual([
      {
        status: 'transfer_failed',
        reason: 'provider_does_not_support_warm_transfer',
        message:
          'This line does not support an announcement to the destination before the transfer.',
      },
    ]);
    expect(harness.rest.asked.filter(({ body }) => body.startsWith('Twiml='))).toEqual([]);
    expect(stream.open).toBe(true);
  });

  it.each([
    ['without an announcement', null],
    ['that need none', { message: 'A call.', if_unsupported: 'cold' }],
  ])('transfers %s connect both at once', async (_, warm) => {
    const { harness } = await prepare(warm);
    withoutWarm(harness);
    const { stream, run } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'please');
    await harness.passThrough(() =>
      harness.rest.asked.some(({ body }) => body.startsWith('Twiml=')),
    );
    expect(await harness.ended(run)).toMatchObject({ disposition: 'transfer_call' });
    expect(await harness.bodies(run, 'fault')).toEqual([]);
  });
});
