// What a provider reports of a transfer's destination: proven like other webhooks, in the run's events once, also after
// the run is closed. Source: contract §7.1.

import { describe, expect, it } from 'vitest';
import { createCallControl, withClosing } from '../../../src/app/call-parts.ts';
import type { TransferOutcome } from '../../../src/model/call-event.ts';
import type { Run } from '../../../src/model/run.ts';
import type { HostedProvider } from '../../../src/telephony/provider/provider.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import { createTwilioProvider } from '../../../src/telephony/twilio/provider.ts';
import { CALL, type CallHarness, PUBLIC_URL, signed, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';
import { withTools } from '../session/tools-harness.ts';

const at = withCallHarness();
const LEG = `CA${'9'.repeat(32)}`;

/** A caller who was transferred over Twilio; the id of the transfer, from the document that did it. */
async function transferred(): Promise<{
  harness: CallHarness;
  run: { id: string };
  transferId: string;
}> {
  const { harness } = at;
  const llm = new ScriptedModel(harness.clock);
  llm.answers = [{ call: 'front_desk', given: {} }];
  harness.speech.llm = llm;
  await withTools(harness, {
    name: 'Front desk',
    definition: { type: 'transfer_call', config: { destination: '+14155550199' } },
  });
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.says(stream, 'please');
  const document = (): string | undefined =>
    harness.rest.asked.find(({ body }) => body.startsWith('Twiml='))?.body;
  await harness.passThrough(() => document() !== undefined);
  await harness.ended(run);
  const [, transferId = ''] =
    /transfer-result\/([\w-]+)"/.exec(decodeURIComponent(document() ?? '')) ?? [];
  return { harness, run, transferId };
}

/** The harness, with another variant of the provider. */
function variant(
  harness: CallHarness,
  change: (twilio: HostedProvider) => Partial<HostedProvider>,
  more: Partial<CallHarness['deps']> = {},
): CallHarness {
  const twilio = createTwilioProvider({ clock: harness.clock });
  const providers = providersOf([{ ...twilio, ...change(twilio) }, harness.pbx]);
  const callControl = createCallControl(withClosing({ ...harness.deps, providers, ...more }));
  return Object.assign(Object.create(harness) as CallHarness, { callControl });
}

const urlOf = (transferId: string) =>
  `${PUBLIC_URL}/api/v1/telephony/transfer-result/${transferId}`;
const form = (status: string, sequence: number) =>
  `CallSid=${LEG}&AccountSid=AC00000000000000000000000000000001&CallStatus=${status}&SequenceNumber=${sequence}&Direction=outbound-dial`;

async function report(
  { callControl }: CallHarness,
  transferId: string,
  [status, sequence]: readonly [string, number],
): Promise<unknown> {
  const request = signed(urlOf(transferId), form(status, sequence));
  return JSON.parse((await callControl.event('twilio', transferId, request)).body);
}

async function outcomes(harness: CallHarness, run: { id: string }): Promise<TransferOutcome[]> {
  return (await harness.bodies(run, 'transfer.result')).map(({ outcome }) => outcome);
}

describe('the result of a transfer', () => {
  it('is asked for by an address that names the run and cannot be guessed', async () => {
    const { run, transferId } = await transferred();
    expect(transferId).toMatch(new RegExp(`^${run.id}-c[0-9a-f]{32}$`));
  });

  it('is in the events of the run that has ended, once, however often and late it is reported', async () => {
    const { harness, run, transferId } = await transferred();
    const told = async (...status: [string, number]) => report(harness, transferId, status);
    expect(await told('initiated', 0)).toEqual({ status: 'pending' });
    expect(await told('ringing', 1)).toEqual({ status: 'pending' });
    const success = { status: 'success', action: 'transfer_success' };
    expect(await told('in-progress', 2)).toEqual({ status: 'completed', result: success });
    await told('in-progress', 2);
    await told('ringing', 1);
    await told('completed', 3);
    await told('in-progress', 2);
    expect(await outcomes(harness, run)).toEqual(['ringing', 'answered', 'completed']);
    const [event] = await harness.bodies(run, 'transfer.result');
    expect(event).toMatchObject({ transferId, callId: LEG, providerStatus: 'ringing' });
    const { logs, state } = await harness.run(run.id);
    expect(state).toBe('completed');
    expect(logs['telephony_status_callbacks']).toEqual(
      ['transfer-ringing', 'transfer-answered', 'transfer-completed'].map((status) =>
        expect.objectContaining({ status, transfer_id: transferId, call_id: LEG }),
      ),
    );
  });

  it.each([
    ['busy', 'busy', 'busy'],
    ['no-answer', 'no-answer', 'no_answer'],
    ['failed', 'failed', 'call_failed'],
    ['canceled', 'canceled', 'call_failed'],
  ])('that is %s is an outcome and a reason', async (status, outcome, reason) => {
    const { harness, run, transferId } = await transferred();
    expect(await report(harness, transferId, [status, 1])).toEqual({
      status: 'completed',
      result: { status: 'transfer_failed', reason, action: 'transfer_failed' },
    });
    expect(await outcomes(harness, run)).toEqual([outcome]);
  });

  it('ends the call of a caller whom the provider leaves on the line, if no process takes it', async () => {
    const { harness, run, transferId } = await transferred();
    const varied = variant(harness, ({ capabilities }) => ({
      capabilities: { ...capabilities, closeEndsCall: false },
    }));
    await report(varied, transferId, ['ringing', 1]);
    expect(harness.hangUps).toEqual([]);
    await report(varied, transferId, ['no-answer', 2]);
    await harness.until(() => harness.hangUps.length === 1);
    expect(harness.hangUps[0]?.path).toContain(CALL);
    expect(await outcomes(harness, run)).toEqual(['ringing', 'no-answer']);
  });

  // Values are extracted and services closed before the run is: the caller was left on a silent line.
  it('ends the call of such a caller also if the run is closed late', async () => {
    const { harness, transferId } = await transferred();
    const { store } = harness.deps;
    let isClosing = true;
    const runs = Object.assign(Object.create(store.runs) as typeof store.runs, {
      find: async (id: string): Promise<Run | undefined> => {
        const now = await store.runs.find(id);
        return now && { ...now, ...(isClosing && { state: 'running' as const }) };
      },
    });
    const reportedCalls = {
      find: async (id: string) => {
        const [call, run] = [await store.reportedCalls.find(id), await runs.find(id)];
        return call && run && { ...call, run };
      },
    };
    const change = ({ capabilities }: HostedProvider) => ({
      capabilities: { ...capabilities, closeEndsCall: false },
    });
    const varied = variant(harness, change, { store: { ...store, runs, reportedCalls } });
    await report(varied, transferId, ['busy', 1]);
    await harness.pass(12_000);
    expect(harness.hangUps).toEqual([]);
    isClosing = false;
    await harness.passThrough(() => harness.hangUps.length === 1);
    expect(harness.hangUps[0]?.path).toContain(CALL);
  });

  // The caller's own call is up while the destination is busy.
  it('that names the call of the caller is not confirmed by the state of that call', async () => {
    const { harness, run, transferId } = await transferred();
    const varied = variant(harness, ({ capabilities, webhook, control }) => ({
      capabilities: { ...capabilities, webhookProof: 'url-only' },
      webhook: {
        ...webhook,
        parse: () => ({
          kind: 'transfer-result',
          callId: CALL,
          status: 'busy',
          providerStatus: 'busy',

          durationS: null,
          dedupeKey: 'vobiz:transfer',
        }),
      },
      control: {
        ...control,
        getCall: async () => ({ status: 'in-progress', durationS: null, answeredBy: null }),
      },
    }));
    expect(await report(varied, transferId, ['busy', 1])).toEqual({ status: 'pending' });
    expect(await outcomes(harness, run)).toEqual([]);
  });

  it('without a valid signature is refused, for a run that exists and for one that does not', async () => {
    const { harness, run, transferId } = await transferred();
    for (const id of [transferId, `999999-c${'0'.repeat(32)}`]) {
      const forged = signed(urlOf(id), form('busy', 1), 'wrong');
      await expect(harness.callControl.event('twilio', id, forged)).rejects.toMatchObject({
        code: 'WEBHOOK_SIGNATURE',
      });
    }
    expect(await outcomes(harness, run)).toEqual([]);
  });

  it('of a run that is gone is ignored, if its account has signed it', async () => {
    const { harness } = await transferred();
    const id = `999999-c${'0'.repeat(32)}`;
    expect(await report(harness, id, ['busy', 1])).toEqual({
      status: 'ignored',
      reason: 'unknown_run',
    });
  });
});
