// Warm transfers over a hosted provider: the gateway dials the destination, speaks with it, and has the provider join it
// with the caller. The provider is Twilio's; what differs between providers is in the provider contract.

import { describe, expect, it } from 'vitest';
import { withClosing } from '../../../src/app/call-parts.ts';
import { leftDestinations } from '../../../src/call/end/closing/cut-off-call.ts';
import { CrashRecovery } from '../../../src/call/end/crash-recovery.ts';
import { EventLog } from '../../../src/call/events/event-log.ts';
import type { Run } from '../../../src/model/run.ts';
import {
  CALL,
  type CallHarness,
  PUBLIC_URL,
  signed,
  twilioAnswers,
  withCallHarness,
} from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import { frontDesk, withToolsOf } from '../session/tools-harness.ts';
import type { Stream } from '../stream.ts';

/** Another process with the same store closes what is open, as after a kill. */
async function recover({ deps, at: { sql } }: CallHarness): Promise<void> {
  await sql('update runs set owner_epoch = 1');
  const { clock, log, store } = deps;
  const events = new EventLog({ sink: store.runs, clock, log });
  const recovery = new CrashRecovery(withClosing({ ...deps, events }));
  expect(await recovery.start()).toBe(1);
  recovery.stop();
}

const at = withCallHarness();
const LEG = `CA${'9'.repeat(32)}`;
const TOLD = 'Call from +14155550100 about a bill.';

interface Transferring {
  harness: CallHarness;
  llm: ScriptedModel;
  caller: Stream;
  run: Run;
  transferId: string;
  report(status: string, sequence?: number): Promise<void>;
  /** The destination answers; its media. */
  answer(): Promise<Stream>;
}

/** A caller for whom the destination is being dialled. */
async function transferring(warm: object = {}, data = {}): Promise<Transferring> {
  const { harness } = at;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = [{ call: 'front_desk', given: { topic: 'a bill' } }, { say: ['Nobody has time.'] }];
  harness.speech.llm = llm;
  const message = 'Call from {{caller_number}} about {{topic}}.';
  const tool = frontDesk({ message, timeout: 10, ...warm });
  await withToolsOf(harness, { settings: {}, data }, tool);
  harness.rest.answer = (asked) =>
    asked.path.endsWith('/Calls.json')
      ? { status: 201, body: { sid: LEG, status: 'queued' } }
      : twilioAnswers(asked);
  const { stream: caller, run } = await harness.inboundCall();
  await harness.heardOut(caller);
  await harness.says(caller, 'please');
  await harness.passThrough(() => harness.dials.length === 1);
  const form = new URLSearchParams(harness.dials[0]?.body);
  const [, transferId = ''] =
    /\/transfer-result\/([\w-]+)$/.exec(form.get('StatusCallback') ?? '') ?? [];
  const leg = `CallSid=${LEG}&AccountSid=AC00000000000000000000000000000001&Direction=outbound-api`;
  return {
    harness,
    llm,
    caller,
    run,
    transferId,
    async report(status, sequence = 1) {
      const url = form.get('StatusCallback') ?? '';
      const request = signed(url, `${leg}&CallStatus=${status}&SequenceNumber=${sequence}`);
      await harness.callControl.event('twilio', transferId, request);
    },
    async answer() {
      const url = form.get('Url') ?? '';
      const request = signed(url, `${leg}&CallStatus=in-progress&ApiVersion=2010-04-01`);
      const reply = await harness.callControl.answer('twilio', transferId, request);
      const [, media = ''] = /<Stream url="([^"]+)"/.exec(reply.body) ?? [];
      const stream = await harness.connectTo(media, { callId: LEG });
      stream.start();
      return stream;
    },
  };
}

const results = (llm: ScriptedModel) =>
  llm.spoken
    .at(-1)
    ?.messages.flatMap((message) => (message.role === 'tool' ? [JSON.parse(message.content)] : []));

const outcomes = async ({ harness, run }: Transferring) =>
  (await harness.bodies(run, 'transfer.result')).map(({ outcome }) => outcome);

/** Calls that were put into a conference, in order, and its name. */
const joins = ({ rest }: CallHarness) =>
  rest.asked.flatMap(({ path, body }) => {
    const document = new URLSearchParams(body).get('Twiml') ?? '';
    const name = /<Conference [^>]*>([\w-]+)<\/Conference>/.exec(document)?.[1];
    return name === undefined ? [] : [{ call: /Calls\/(\w+)\.json/.exec(path)?.[1], name }];
  });

const hungUp = ({ hangUps }: CallHarness) =>
  hangUps.map(({ path }) => /Calls\/(\w+)\.json/.exec(path)?.[1]);

describe('a warm transfer over a hosted provider', () => {
  it('dials the destination from the own number, to addresses of the transfer', async () => {
    const { harness, transferId } = await transferring();
    const form = new URLSearchParams(harness.dials[0]?.body);
    const base = `${PUBLIC_URL}/api/v1/telephony`;
    expect(Object.fromEntries(form)).toMatchObject({
      ['To']: '+14155550199',
      ['From']: '+14155550101',
      ['Timeout']: '20',
      ['Url']: `${base}/twilio/answer/${transferId}`,
      ['StatusCallback']: `${base}/transfer-result/${transferId}`,
    });
  });

  it('plays a tone to the caller while the destination rings, and recognises nothing of the caller', async () => {
    const { harness, caller, report, llm } = await transferring();
    await report('ringing');
    const { frames } = caller;
    await harness.says(caller, 'hello');
    await harness.pass(8_000);
    expect(caller.frames - frames).toBeGreaterThan(50);
    expect(llm.spoken).toHaveLength(1);
  });

  it('speaks with the destination, joins the two when it accepts, and leaves', async () => {
    const at = await transferring();
    const { harness, caller, report, answer, transferId, run } = at;
    await report('ringing');
    const colleague = await answer();
    await harness.passUntil(() => colleague.frames > 30);
    expect(harness.tts.asked.at(-1)).toBe(TOLD);
    expect(joins(harness)).toEqual([]);
    colleague.key('1');
    await harness.passThrough(() => joins(harness).length === 2);
    expect(joins(harness)).toEqual([
      { call: LEG, name: transferId },
      { call: CALL, name: transferId },
    ]);
    colleague.hangUp(); // A redirected call leaves its stream.
    caller.hangUp();
    expect(await harness.ended(run)).toMatchObject({ disposition: 'transfer_call' });
    expect(harness.hangUps).toEqual([]);
    expect(harness.errors).toEqual([]);
    expect(await outcomes(at)).toEqual(['ringing', 'answered', 'joined']);
    expect(JSON.stringify(harness.lines)).not.toContain(TOLD);
  });

  it('that is over ends the call of the other party, when one has left before both were joined', async () => {
    const at = await transferring({ accept: 'stay' });
    const { harness, caller, report, answer, run } = at;
    const colleague = await answer();
    await harness.passUntil(() => joins(harness).length === 2);
    colleague.hangUp();
    caller.hangUp();
    await harness.ended(run);
    await report('completed', 9);
    await report('in-progress', 3);
    expect(await outcomes(at)).toEqual(['answered', 'joined', 'completed']);
    expect(hungUp(harness)).toEqual([CALL]);
  });

  it.each([
    ['busy', 'busy', 'The destination is busy.'],
    ['no-answer', 'no_answer', 'The destination does not answer.'],
    ['failed', 'call_failed', 'The destination could not be reached.'],
  ])(
    'to somebody who is %s brings the caller back to the agent',
    async (status, reason, message) => {
      const { harness, llm, caller, report } = await transferring();
      await report(status);
      await harness.passThrough(() => llm.spoken.length === 2);
      expect(results(llm)).toEqual([{ status: 'transfer_failed', reason, message }]);
      await harness.heardOut(caller);
      expect(harness.tts.asked.at(-1)).toBe('Nobody has time.');
      expect(joins(harness)).toEqual([]);
    },
  );

  it('that an answering machine takes brings the caller back, and hangs up', async () => {
    const { harness, llm, transferId, report } = await transferring();
    await report('ringing');
    const url = `${PUBLIC_URL}/api/v1/telephony/transfer-result/${transferId}`;
    const form = `CallSid=${LEG}&AccountSid=AC00000000000000000000000000000001&AnsweredBy=machine_start`;
    await harness.callControl.event('twilio', transferId, signed(url, form));
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ reason: 'answering_machine' }]);
    await harness.passThrough(() => hungUp(harness).length === 1);
    expect(hungUp(harness)).toEqual([LEG]);
  });

  it('that the destination does not take brings the caller back', async () => {
    const { harness, llm, answer, caller } = await transferring();
    const colleague = await answer();
    await harness.passUntil(() => colleague.frames > 30);
    colleague.key('*');
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ reason: 'declined' }]);
    await harness.passThrough(() => hungUp(harness).includes(LEG));
    expect(caller.open).toBe(true);
  });

  it('ends with the caller, and the destination stops ringing', async () => {
    const { harness, caller, report, run } = await transferring();
    await report('ringing');
    caller.hangUp();
    await harness.passThrough(() => hungUp(harness).includes(LEG));
    await harness.passThrough(() => harness.callControl.activeCalls === 0);
    expect(await harness.ended(run)).toMatchObject({ disposition: 'user_hangup' });
    expect(joins(harness)).toEqual([]);
  });

  it('whose join the provider refuses brings the caller back', async () => {
    const { harness, llm, answer } = await transferring({ accept: 'stay' });
    const { answer: usual } = harness.rest;
    harness.rest.answer = (asked) =>
      asked.body.includes('Conference')
        ? { status: 400, body: { code: 21_218, message: 'no' } }
        : typeof usual === 'function'
          ? usual(asked)
          : usual;
    await answer();
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ reason: 'provider_error' }]);
    await harness.passThrough(() => hungUp(harness).includes(LEG));
  });

  // The report of a destination that does not answer may be lost: the caller got the tone for two minutes.
  it('that the provider does not report on is given up after the time to ring', async () => {
    const { harness, llm, report } = await transferring();
    await report('ringing');
    await harness.pass(20_000);
    expect(llm.spoken).toHaveLength(1);
    await harness.pass(11_000);
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(results(llm)).toMatchObject([{ reason: 'no_answer' }]);
    await harness.passThrough(() => hungUp(harness).includes(LEG));
  });

  it('that was answered is not given up for the time to ring', async () => {
    const { harness, llm, answer } = await transferring({ timeout: 60 });
    await harness.pass(19_000);
    await answer();
    await harness.pass(20_000);
    expect(llm.spoken).toHaveLength(1);
    expect(hungUp(harness)).toEqual([]);
  });

  it('sends the caller no sound once both are joined, also while values are extracted', async () => {
    const extraction = { name: 'reason', type: 'string', prompt: 'Why they call' };
    const at = await transferring(
      { accept: 'stay' },
      { extraction_enabled: true, extraction_variables: [extraction] },
    );
    const { harness, caller, answer, llm, run } = at;
    const respond = llm.respond.bind(llm);
    llm.respond = (request, listener, signal) =>
      request.json ? new Promise(() => undefined) : respond(request, listener, signal);
    await answer();
    await harness.passUntil(() => joins(harness).length === 2);
    await harness.pass(500);
    expect(caller.open).toBe(true);
    const { frames } = caller;
    await harness.pass(2_000);
    expect(caller.open).toBe(true);
    expect(caller.frames).toBe(frames);
    await harness.passThrough(() => !caller.open);
    expect(await harness.ended(run)).toMatchObject({ disposition: 'transfer_call' });
  });

  it('closes a second media socket of the destination', async () => {
    const { harness, answer, report, llm } = await transferring();
    const first = await answer();
    const second = await answer();
    await harness.passUntil(() => !second.open);
    expect(first.open).toBe(true);
    await report('completed', 2);
    await harness.passThrough(() => llm.spoken.length === 2);
    expect(first.open).toBe(false);
  });

  it('refuses media without its token, and any media after its end', async () => {
    const { harness, report, transferId, llm, run } = await transferring();
    const path = `${run.workflowId}/${run.organizationId}/${transferId}/wrong`;
    const media = `${PUBLIC_URL.replace('http', 'ws')}/api/v1/telephony/ws/${path}`;
    await expect(harness.connectTo(media)).rejects.toThrow('4401');
    await report('busy');
    await harness.passThrough(() => llm.spoken.length === 2);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answer/${transferId}`;
    const form = `CallSid=${LEG}&AccountSid=AC00000000000000000000000000000001&CallStatus=in-progress&ApiVersion=2010-04-01`;
    const late = await harness.callControl.answer('twilio', transferId, signed(url, form));
    expect(late.body).not.toContain('<Stream');
    expect(late.body).toContain('<Hangup/>');
  });
});

describe('the destination of a killed process', () => {
  it.each([
    ['that has been dialled', []],
    ['that rings', ['ringing']],
    ['that has answered', ['ringing', 'in-progress']],
  ])('%s is hung up with its caller', async (_what, statuses) => {
    const { harness, report, run } = await transferring();
    const isStored = async () =>
      JSON.stringify((await harness.run(run.id)).logs).includes('transfer-dialled');
    await harness.until(isStored);
    for (const [n, status] of statuses.entries()) await report(status, n + 1);
    await harness.deps.events.flush();
    await recover(harness);
    await harness.until(() => hungUp(harness).length === 2);
    expect(hungUp(harness)).toEqual(expect.arrayContaining([CALL, LEG]));
  });

  it('that is over is left alone', async () => {
    const { harness, run } = await transferring();
    const id = `${run.id}-w${'0'.repeat(32)}`;
    const entry = { status: 'transfer-busy', call_id: LEG, transfer_id: id };
    const dialled = { ...entry, status: 'transfer-dialled' };
    const completed = { ...run, logs: { telephony_status_callbacks: [dialled, entry] } };
    expect(leftDestinations(completed, [])).toEqual([]);
    const ringing = { ...run, logs: { telephony_status_callbacks: [dialled] } };
    expect(leftDestinations(ringing, [])).toEqual([LEG]);
    await harness.deps.events.flush();
    const [event] = await harness.events(run);
    if (event === undefined) throw new Error('no event');
    const facts = { transferId: id, callId: LEG, providerStatus: 'joined', durationS: null };
    const joined = { type: 'transfer.result' as const, outcome: 'joined' as const, ...facts };
    expect(leftDestinations(ringing, [{ ...event, body: joined }])).toEqual([]);
    const cold = { ...dialled, transfer_id: id.replace('w', 'c') };
    const byProvider = { ...run, logs: { telephony_status_callbacks: [cold] } };
    expect(leftDestinations(byProvider, [])).toEqual([]);
  });
});
