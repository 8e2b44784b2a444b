// Callers who speak when the call is about to end: nobody is hung up on in mid-sentence, and who comes back during the
// goodbye for silence is served.

import { describe, expect, it } from 'vitest';
import { drinks, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();

/** The call comes to the goodbye for silence; returns when its first words are audible. */
async function goodbye() {
  const harness = await held.harness.prepare(drinks, { max_user_idle_timeout: 5 });
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  await harness.pass(5_100);
  await harness.heardOut(stream);
  const frames = stream.frames;
  await harness.passUntil(() => stream.frames > frames);
  expect(harness.tts.asked.join(' ')).toContain('Thank you for your time.');
  return { harness, stream, run };
}

describe('a caller who speaks during the goodbye for silence', () => {
  it('is served', async () => {
    const { harness, stream, run } = await goodbye();
    await harness.pass(300);
    await harness.says(stream, 'coffee');
    await harness.passUntil(() => harness.tts.asked.includes('Coffee it is.'));
    await harness.heardOut(stream);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('user_qualified');
    expect(done.gatheredContext['drink']).toBe('coffee');
    expect((await harness.transcript(done)).at(-1)).toBe('assistant: Coffee it is. Goodbye.');
  });

  it('is let finish behind its end, and then served', async () => {
    const { harness, stream, run } = await goodbye();
    await harness.pass(600);
    stream.line = 'voice';
    // Its audio is over, and the caller still speaks.
    await harness.pass(4_000);
    expect(harness.hangUps).toEqual([]);
    harness.stt.understand('coffee');
    stream.line = 'silence';
    await harness.pass(1_500);
    await harness.heardOut(stream);
    expect((await harness.ended(run)).gatheredContext['drink']).toBe('coffee');
  });

  it('and says no word is let finish, and then the call ends', async () => {
    const { harness, stream, run } = await goodbye();
    await harness.pass(600);
    stream.line = 'voice';
    await harness.pass(4_000);
    expect(harness.hangUps).toEqual([]);
    stream.line = 'silence';
    await harness.pass(4_000);
    expect((await harness.ended(run)).disposition).toBe('user_idle_max_duration_exceeded');
  });
});

describe('a caller who speaks at the longest duration', () => {
  it('is cut off at the next pause', async () => {
    const harness = await held.harness.prepare(drinks, { max_call_duration: 20 });
    const { stream, run } = await harness.inboundCall();
    await harness.pass(18_000);
    stream.line = 'voice';
    await harness.pass(5_000);
    expect(harness.hangUps).toEqual([]);
    stream.line = 'silence';
    await harness.pass(3_000);
    expect((await harness.ended(run)).disposition).toBe('call_duration_exceeded');
  });

  it('or ten seconds later', async () => {
    const harness = await held.harness.prepare(drinks, { max_call_duration: 20 });
    const { stream, run } = await harness.inboundCall();
    await harness.pass(18_000);
    stream.line = 'voice';
    await harness.pass(13_000);
    const done = await harness.ended(run);
    expect(done.disposition).toBe('call_duration_exceeded');
    expect(done.durationS).toBeCloseTo(30, 0);
  });
});
