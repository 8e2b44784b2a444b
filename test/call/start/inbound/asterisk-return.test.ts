// A caller whom the agent has transferred to a queue in the dialplan (`transfer_context`), where nobody answers: the
// dialplan sends the channel back to the agent's extension by Goto. It was refused as busy, because its run was over, and
// the caller was cut off. Source: contract §7.5, asterisk §4.3.

import { afterEach, describe, expect, it } from 'vitest';
import type { Run } from '../../../../src/model/run.ts';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../../../fakes/asterisk/phone.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';
import { ScriptedModel } from '../../scripted-model.ts';
import { withToolsOf } from '../../session/tools-harness.ts';
import { APP, hasHeardOut, pace, withAsterisk } from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const held = withCallHarness();
const GOTO = { app: 'Goto', context: 'pbx-in', exten: EXTENSION } as const;
const queues: Dialplan = {
  queue: {
    /** Nobody answers. */
    '700': [{ app: 'Wait', ms: 2_000 }, GOTO],
    /** Nobody is logged in. */
    '701': [GOTO],
  },
  'out-dest': { '900': [{ app: 'Answer' }, { app: 'Wait', ms: 600_000 }] },
};
let harness: CallHarness;
let asterisk: FakeAsterisk;
let llm: ScriptedModel;
let stopClock: () => void;

async function prepared(destination: string): Promise<void> {
  harness = await withToolsOf(
    held.harness,
    {
      settings: {},
      data: {
        extraction_enabled: true,
        extraction_variables: [{ name: 'topic', type: 'string', prompt: 'What about' }],
      },
    },
    { name: 'Sales', definition: { type: 'transfer_call', config: { destination } } },
  );
  llm = new ScriptedModel(harness.clock);
  llm.answers = [{ call: 'sales', given: {} }];
  llm.extraction = '{"topic": "a bill"}';
  harness.speech.llm = llm;
  stopClock = pace(harness.clock, () => 4);
  asterisk = await startAsterisk({ clock: harness.clock, app: APP, dialplan: queues });
  await withAsterisk(harness, asterisk, {
    dial_template: 'Local/{number}@out-dest/n',
    transfer_context: 'queue',
  });
}

afterEach(async () => {
  await harness.callControl.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

const runs = async (): Promise<Run[]> =>
  (await harness.runs()).toSorted((one, other) => Number(one.id) - Number(other.id));

/** The caller has been greeted, asks for a person, and is greeted a second time. Returns both runs. */
async function returned(phone: Phone): Promise<{ first: Run; second: Run }> {
  await harness.until(() => hasHeardOut(phone));
  phone.press('1');
  await harness.until(async () => (await runs()).length === 2);
  const { length } = phone.heard;
  await harness.until(() => hasHeardOut({ heard: phone.heard.slice(length) } as Phone));
  const [first, second] = await runs();
  if (first === undefined || second === undefined) throw new Error('a leg is missing');
  return { first, second };
}

describe('a caller whom the dialplan sends back after a transfer', () => {
  it.each([
    ['from a queue in which nobody answers', '700'],
    ['at once, before the run of the leg before is closed', '701'],
  ])('is answered again, in the next leg of the call: %s', async (_, destination) => {
    await prepared(destination);
    const phone = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    const { first, second } = await returned(phone);
    expect(phone.isOver).toBe(false);
    expect(first).toMatchObject({ state: 'completed', disposition: 'transfer_call' });
    expect(second).toMatchObject({
      state: 'running',
      providerCallId: first.providerCallId,
      workflowId: first.workflowId,
      initialContext: { caller_number: '5551234', topic: 'a bill', direction: 'inbound' },
      gatheredContext: { call_leg: 2, previous_run_id: first.id, call_id: first.providerCallId },
    });
    phone.hangUp();
    const done = await harness.ended(second);
    expect(done).toMatchObject({ disposition: 'user_hangup' });
    expect(done.gatheredContext).toMatchObject({ call_leg: 2, previous_run_id: first.id });
    await harness.until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);
    expect(asterisk.complaints).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  it('is answered again where the gateway had dialled the call', async () => {
    await prepared('700');
    const { runId } = await harness.start({ phoneNumber: '900' });
    await harness.until(() => asterisk.phones.length > 0);
    const phone = asterisk.phone('900');
    const { first, second } = await returned(phone);
    expect(first).toMatchObject({ id: runId, disposition: 'transfer_call' });
    expect(second).toMatchObject({
      providerCallId: first.providerCallId,
      initialContext: { caller_number: '900', topic: 'a bill' },
      gatheredContext: { call_leg: 2, previous_run_id: first.id },
    });
    phone.hangUp();
    await harness.ended(second);
    expect(harness.errors).toEqual([]);
  });
});
