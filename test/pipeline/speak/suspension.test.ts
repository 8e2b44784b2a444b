// A call whose parties cannot hear each other for a while: the agent waits, and no word of it is lost.

import { describe, expect, it } from 'vitest';
import { hum } from '../../fakes/speech-services.ts';
import { CallRig } from '../call-rig.ts';

const TEXT = 'Your table is booked for Friday at seven in the evening.';
const LINE = { utteranceId: 90, text: 'The line was interrupted.', samples: hum(900, 3_300) };

/** The agent speaks for a second; then nothing can be heard for five. */
async function suspended(rig: CallRig): Promise<number> {
  rig.say(TEXT);
  await rig.run(1_000);
  rig.audio.suspend(true);
  const played = rig.farEnd.playedMs;
  await rig.run(5_000);
  expect(rig.farEnd.playedMs - played).toBeLessThanOrEqual(100); // The fade.
  return played;
}

describe('a suspended call', () => {
  it('sends nothing, and goes on at the word that was cut', async () => {
    const rig = new CallRig();
    await suspended(rig);
    expect(rig.reports).toEqual([]);
    expect(rig.audio.speaking).toBe(true);
    rig.audio.suspend(false);
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([{ utteranceId: 1, heardText: TEXT, interrupted: false }]);
    // A word is repeated, at most.
    const [whole] = rig.reports;
    const spokenMs = (whole?.endMs ?? 0) - (whole?.startMs ?? 0) - 5_000;
    const rested = new CallRig();
    rested.say(TEXT);
    await rested.run(8_000);
    const [plain] = rested.reports;
    const plainMs = (plain?.endMs ?? 0) - (plain?.startMs ?? 0);
    expect(spokenMs).toBeGreaterThanOrEqual(plainMs - 20);
    expect(spokenMs).toBeLessThanOrEqual(plainMs + 600);
  });

  it('says first what was interjected meanwhile', async () => {
    const rig = new CallRig();
    await suspended(rig);
    rig.audio.interject(LINE);
    rig.audio.suspend(false);
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([
      { utteranceId: 90, heardText: LINE.text, interrupted: false },
      { utteranceId: 1, heardText: TEXT, interrupted: false },
    ]);
  });

  it('keeps what is said meanwhile for later, and plays it once', async () => {
    const rig = new CallRig();
    rig.audio.suspend(true);
    rig.say(TEXT);
    await rig.run(3_000);
    expect(rig.of('utterance-started')).toEqual([]);
    rig.audio.suspend(false);
    await rig.run(8_000);
    expect(rig.reports).toMatchObject([{ utteranceId: 1, heardText: TEXT, interrupted: false }]);
  });

  it('recognises nothing: music on hold is no caller', async () => {
    const rig = new CallRig();
    rig.audio.suspend(true);
    await rig.says('music');
    await rig.run(2_000);
    expect(rig.kinds).toEqual([]);
    rig.audio.suspend(false);
    await rig.says('coffee');
    await rig.run(2_000);
    expect(rig.turns.join(' ')).toContain('coffee');
  });

  it('ends the turn of a caller who was speaking', async () => {
    const rig = new CallRig();
    rig.line = 'voice';
    await rig.run(400);
    rig.stt.understand('two coffees');
    await rig.run(200);
    rig.audio.suspend(true);
    await rig.run(3_000);
    expect(rig.audio.callerSpeaking).toBe(false);
    expect(rig.turns).toEqual(['two coffees']);
  });

  it('stays silent when the caller seems to interrupt, or the agent is stopped', async () => {
    const rig = new CallRig();
    await suspended(rig);
    rig.audio.stop();
    await rig.run(100);
    expect(rig.reports).toMatchObject([{ utteranceId: 1, interrupted: true }]);
    rig.audio.suspend(false);
    await rig.run(2_000);
    rig.say('Hello again.');
    await rig.run(4_000);
    expect(rig.reports.at(-1)).toMatchObject({ heardText: 'Hello again.', interrupted: false });
  });
});
