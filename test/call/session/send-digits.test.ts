// Keys that a client has pressed in a call.

import { describe, expect, it } from 'vitest';
import { type CallParts, withClosing } from '../../../src/app/call-parts.ts';
import { DtmfDetector } from '../../../src/audio/tones/dtmf-detector.ts';
import { DigitRequests } from '../../../src/call/session/send-digits.ts';
import { codeOf } from '../../../src/errors/gateway-error.ts';
import { providersOf } from '../../../src/telephony/registry/registry.ts';
import { definition, edge, end, start } from '../../workflow/definitions.ts';
import { type CallHarness, chat, withCallHarness } from '../call-harness.ts';
import { ScriptedModel } from '../scripted-model.ts';

const held = withCallHarness();

interface Pressed {
  callId: string;
  digits: string;
}

/** The room's providers, as if their calls took keys. */
function taking(harness: CallHarness, pressed: Pressed[]) {
  const { providers } = harness.deps;
  const all = providers.hosted.map((provider) => ({
    ...provider,
    capabilities: { ...provider.capabilities, digitsOut: 'request' as const },
    control: {
      ...provider.control,
      sendDigits: (_: unknown, callId: string, digits: string) => {
        pressed.push({ callId, digits });
        return Promise.resolve();
      },
    },
  }));
  return withClosing({ ...harness.deps, providers: providersOf(all) });
}

const noCalls = { session: () => undefined };
const press = (deps: CallParts, organizationId: string, runId: string) =>
  new DigitRequests({ ...deps, registry: noCalls })
    .send({ organizationId, runId, digits: '12#' })
    .then(
      () => 'pressed',
      (error: unknown) => codeOf(error) ?? String(error),
    );

describe('keys for the far end', () => {
  it('are pressed at the provider in a call that talks', async () => {
    const harness = await held.harness.prepare(chat);
    const { run } = await harness.inboundCall();
    const pressed: Pressed[] = [];
    const { organizationId } = run;
    expect(await press(taking(harness, pressed), organizationId, run.id)).toBe('pressed');
    expect(pressed).toEqual([{ callId: run.providerCallId, digits: '12#' }]);
    expect(await press(taking(harness, pressed), '999999', run.id)).toBe('RUN_NOT_FOUND');
    expect(await press(harness.deps, organizationId, run.id)).toBe('DIGITS_UNSUPPORTED');
    expect(pressed).toHaveLength(1);
  });

  it('are sent as tones behind what is being said, where the provider presses none', async () => {
    const harness = await held.harness.prepare(chat);
    const { run, stream } = await harness.inboundCall();
    const { organizationId } = run;
    await harness.pass(200);
    await harness.callControl.sendDigits({ organizationId, runId: run.id, digits: '159w#' });
    await harness.heardOut(stream);
    await harness.pass(2_000);
    let keys = '';
    const ear = new DtmfDetector((key) => {
      keys += key;
    });
    for (const { pcm } of stream.farEnd.frames) ear.push(pcm);
    expect(keys).toBe('159#');
    await harness.says(stream, 'good day');
    expect(harness.errors).toEqual([]);
    expect(await harness.bodies(run, 'digits.sent')).toEqual([
      { type: 'digits.sent', digits: '159w#' },
    ]);
    // They are no words of the agent's.
    expect((await harness.bodies(run, 'agent.said')).every(({ text }) => text !== '')).toBe(true);
  });

  it('are refused while too much waits to be heard', async () => {
    const harness = await held.harness.prepare(chat);
    const { run } = await harness.inboundCall();
    const { organizationId } = run;
    await harness.pass(200);
    const wanted = { organizationId, runId: run.id, digits: '1' };
    const refused = async (): Promise<void> => {
      for (let keys = 0; keys < 100; keys++) await harness.callControl.sendDigits(wanted);
    };
    await expect(refused()).rejects.toMatchObject({ code: 'DIGITS_WAITING' });
    expect(harness.errors).toEqual([]);
  });

  it('are refused once the far end has left, while it is still taken down what was said', async () => {
    const extraction = { type: 'string', name: 'topic', prompt: 'What about' };
    const talk = start('talk', {
      greeting: 'Hello.',
      extraction_enabled: true,
      extraction_variables: [extraction],
    });
    const harness = await held.harness.prepare(
      definition([talk, end('bye')], [edge('talk', 'bye')]),
    );
    const llm = new ScriptedModel(harness.clock);
    llm.answers = [{ say: ['Go on.'] }];
    harness.speech.llm = llm;
    const { run, stream } = await harness.inboundCall();
    await harness.heardOut(stream);
    await harness.says(stream, 'it is about a bill');
    await harness.heardOut(stream);
    const wanted = { organizationId: run.organizationId, runId: run.id, digits: '1' };
    await harness.callControl.sendDigits(wanted);
    stream.lose();
    await harness.until(() => llm.requests.at(-1)?.json === true);
    await expect(harness.callControl.sendDigits(wanted)).rejects.toMatchObject({
      code: 'CALL_NOT_TALKING',
    });
    await harness.pass(100);
    expect(await harness.ended(run)).toMatchObject({ disposition: 'user_hangup' });
  });

  it('wait for the answer, and come too late after the end', async () => {
    const harness = await held.harness.prepare();
    const { organizationId } = harness.at.owner;
    const { runId } = await harness.start();
    const deps = taking(harness, []);
    expect(await press(deps, organizationId, runId)).toBe('CALL_NOT_TALKING');
    await harness.callControl.hangUp({ organizationId, runId });
    expect(await press(deps, organizationId, runId)).toBe('CALL_NOT_TALKING');
  });
});
