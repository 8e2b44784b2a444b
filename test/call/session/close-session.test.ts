// The end of a call of which a step fails: the run is completed all the same. A `release` that threw had left the run
// open until the next start of the process.

import { describe, expect, it } from 'vitest';
import { chat, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();
const broken = (): never => {
  throw new Error('broken');
};

async function talking() {
  const { harness } = held;
  await harness.prepare(chat, { max_call_duration: 20 });
  const { stream, run } = await harness.inboundCall();
  await harness.heardOut(stream);
  return { harness, stream, run };
}

describe('a call whose end meets a fault', () => {
  it.each([
    [
      'its services are released',
      'release the services',
      () => Object.assign(held.harness.speech, { release: broken }),
    ],
    [
      'the call is hung up',
      'hang up',
      () => Object.assign(held.harness.deps.hangUps, { hangUp: broken }),
    ],
  ])('when %s is completed all the same', async (_, step, breaks) => {
    const { harness, run } = await talking();
    breaks();
    await harness.pass(21_000);
    const done = await harness.ended(run);
    expect(done.state).toBe('completed');
    expect((await harness.events(run)).at(-1)?.body.type).toBe('call.ended');
    expect(harness.errors.map(({ step: failed }) => failed)).toEqual([step]);
  });
});
