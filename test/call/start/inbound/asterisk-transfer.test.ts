// A whole call over an Asterisk that is played, whose caller is brought to a colleague whom the agent has spoken
// to: the real call layer, store and connector. Source: contract §7.5, §8.7, and beyond it.

import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Dialplan } from '../../../fakes/asterisk/dialplan.ts';
import { type FakeAsterisk, startAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import type { Phone } from '../../../fakes/asterisk/phone.ts';
import { type CallHarness, withCallHarness } from '../../call-harness.ts';
import { ScriptedModel } from '../../scripted-model.ts';
import { withTools } from '../../session/tools-harness.ts';
import { APP, hasHeardOut, isLoud, pace, withAsterisk } from './asterisk-harness.ts';
import { EXTENSION } from './pbx-harness.ts';

const held = withCallHarness();
const TOLD = 'It is about a bill.';
let harness: CallHarness;
let llm: ScriptedModel;
let asterisk: FakeAsterisk;
let stopClock: () => void;

beforeEach(async () => {
  harness = await withTools(held.harness, {
    name: 'Front desk',
    definition: {
      type: 'transfer_call',
      config: {
        destination: '700',
        parameters: [{ name: 'topic', type: 'string', description: 'What about' }],
        warm: { message: 'It is about {{topic}}.', caller_hears: 'ringback' },
      },
    },
  });
  llm = new ScriptedModel(harness.clock);
  llm.answers = [{ call: 'front_desk', given: { topic: 'a bill' } }, { say: ['Nobody is free.'] }];
  harness.speech.llm = llm;
  const dialplan: Dialplan = {
    'out-dest': { '700': [{ app: 'Answer' }, { app: 'Wait', ms: 600_000 }] },
  };
  asterisk = await startAsterisk({ clock: harness.clock, app: APP, dialplan });
  stopClock = pace(harness.clock, () => 4);
  await withAsterisk(harness, asterisk, { dial_template: 'Local/{number}@out-dest/n' });
});

/** The room's agent transfers to this destination. */
async function transferTo(config: object): Promise<void> {
  const definition = { type: 'transfer_call', config };
  await harness.at.sql('update tools set definition = $1', [JSON.stringify(definition)]);
}

afterEach(async () => {
  await harness.callControl.pbxLines.stop();
  await asterisk.stop();
  stopClock();
});

/** A caller has asked for a colleague, who listens to the agent. */
async function asked(): Promise<{ caller: Phone; colleague: Phone }> {
  const caller = asterisk.placeCall({ from: '5551234', to: EXTENSION });
  await harness.until(() => hasHeardOut(caller));
  caller.press('1');
  await harness.until(() => asterisk.phones.length === 2);
  const colleague = asterisk.phone('700');
  await harness.until(() => colleague.heard.some(isLoud));
  return { caller, colleague };
}

const nothingIsLeft = () =>
  harness.until(() => asterisk.channels.length === 0 && asterisk.bridgeIds.length === 0);

describe('a caller who asks for a transfer', () => {
  it('is with them when they have heard why, and pressed a key', async () => {
    const { caller, colleague } = await asked();
    expect(harness.tts.asked.at(-1)).toBe(TOLD);
    colleague.press('1');
    const [run] = await harness.runs();
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'transfer_call',
    });
    const { length } = colleague.heard;
    void caller.say(new Int16Array(8_000).fill(5_000));
    await harness.until(() => colleague.heard.slice(length).some(isLoud));
    expect(asterisk.bridgeIds).toHaveLength(1);
    colleague.hangUp();
    await caller.ended;
    await nothingIsLeft();
    expect(asterisk.complaints).toEqual([]);
    expect(harness.errors).toEqual([]);
  });

  it('is joined with the destination after the keys of an extension were pressed there', async () => {
    await transferTo({ destination: '700,,204#', parameters: [] });
    llm.answers = [{ call: 'front_desk', given: {} }];
    const caller = asterisk.placeCall({ from: '5551234', to: EXTENSION });
    await harness.until(() => hasHeardOut(caller));
    caller.press('1');
    await harness.until(() => asterisk.phones.length === 2);
    const colleague = asterisk.phone('700');
    await harness.until(() => colleague.digits === '204#');
    const [run] = await harness.runs();
    expect(await harness.ended({ id: run?.id ?? '' })).toMatchObject({
      disposition: 'transfer_call',
    });
    colleague.hangUp();
    await caller.ended;
    await nothingIsLeft();
    expect(asterisk.complaints).toEqual([]);
  });
});
