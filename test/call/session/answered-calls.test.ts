// Outbound calls that no person answers, from the callee's audio to the run: a voicemail with a beep gets the message, a
// person gets the conversation.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { readWav } from '../../../src/audio/wav.ts';
import { ACCOUNT, CALL, drinks, PUBLIC_URL, signed, withCallHarness } from '../call-harness.ts';

const MESSAGE = 'Please call the clinic back.';
const settings = {
  voicemail_detection: {
    enabled: true,
    voicemail_action: 'leave_message',
    voicemail_message: { text: MESSAGE },
  },
};
const silence = (ms: number) => new Int16Array(ms * 8);
const beep = Int16Array.from({ length: 400 * 8 }, (_, i) =>
  Math.round(8_000 * Math.sin((2 * Math.PI * 1_000 * i) / 8_000)),
);
const voices: readonly Int16Array[] = [
  'book-an-appointment',
  'on-wednesday',
  'in-the-morning',
  'another-day',
].map((name) => {
  const { samples } = readWav(readFileSync(`fixtures/audio/callers/${name}.wav`));
  const isLoud = (sample: number) => Math.abs(sample) > 300;
  return samples.subarray(samples.findIndex(isLoud), samples.findLastIndex(isLoud));
});
function joined(...parts: readonly Int16Array[]): Int16Array {
  return Int16Array.from(parts.flatMap((part) => [...part]));
}

const held = withCallHarness();

describe('an outbound call', () => {
  it('leaves its message after the beep of a voicemail, and does not talk to its greeting', async () => {
    const harness = await held.harness.prepare(drinks, settings);
    const { runId } = await harness.start();
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.sound = joined(silence(300), ...voices, ...voices, silence(400), beep, silence(200));
    stream.start();
    await harness.pass(stream.sound.length / 8 + 4_000);
    const run = await harness.ended({ id: runId });
    const said = await harness.bodies(run, 'agent.said');
    expect(said.at(-1)).toMatchObject({
      kind: 'voicemail-message',
      text: MESSAGE,
      interrupted: false,
    });
    expect(said.filter(({ kind }) => kind === 'reply')).toEqual([]);
    expect(run.disposition).toBe('voicemail_detected');
    expect(run.gatheredContext).toMatchObject({
      answered_by: 'machine_end_beep',
      voicemail_message: 'left',
    });
    expect(run.gatheredContext['answer_supervisor']).toMatchObject([
      { subtype: 'VOICEMAIL', action: 'leave_message', reason: 'machine_start' },
      { subtype: 'VOICEMAIL', action: 'leave_message', reason: 'machine_end_beep' },
    ]);
  });

  it('talks to a person whom the provider takes for a machine', async () => {
    const harness = await held.harness.prepare(drinks, settings);
    const { runId } = await harness.start();
    const stream = await harness.connect(await harness.pickUp(runId));
    stream.sound = joined(silence(200), voices[1] as Int16Array, silence(200));
    stream.start();
    await harness.pass(2_500);
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answered-by/${runId}`;
    const form = `CallSid=${CALL}&AccountSid=${ACCOUNT}&AnsweredBy=machine_start`;
    await harness.callControl.event('twilio', runId, signed(url, form));
    await harness.heardOut(stream);
    stream.hangUp();
    const run = await harness.ended({ id: runId });
    expect(run.gatheredContext).toMatchObject({ answered_by: 'human' });
    expect(run.disposition).toBe('user_hangup');
  });
});
