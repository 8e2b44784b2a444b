// The end of a call of which a step fails: the run is completed all the same. A `release` that threw had left the run
// open until the next start of the process.

import { describe, expect, it } from 'vitest';
import { chat, twilioAnswers, withCallHarness } from '../call-harness.ts';

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

// One request was sent. Where a call goes on without its media, as at Telnyx, the other party was left on a silent line by
// a single 429, as when many calls end at once, or by a connection that broke.
describe('a call whose hang-up fails for a moment', () => {
  it.each([429, 503, 'reset'] as const)('with %s is hung up once it can be', async (fault) => {
    const { harness, run } = await talking();
    harness.rest.answer = (asked) => {
      if (harness.hangUps.length > 2) return twilioAnswers(asked);
      return fault === 'reset' ? 'reset' : { status: fault, body: {} };
    };
    await harness.pass(21_000);
    await harness.passThrough(() => harness.hangUps.length === 3);
    await harness.ended(run);
    expect(harness.errors).toEqual([]);
  });

  it('is given up after four attempts, and closed', async () => {
    const { harness, run } = await talking();
    harness.rest.answer = { status: 500, body: {} };
    await harness.pass(21_000);
    await harness.passThrough(() => harness.hangUps.length === 4);
    expect((await harness.ended(run)).state).toBe('completed');
    await harness.pass(10_000);
    expect(harness.hangUps).toHaveLength(4);
  });

  it('is not hung up again where the provider refuses', async () => {
    const { harness, run } = await talking();
    harness.rest.answer = { status: 403, body: {} };
    await harness.pass(21_000);
    await harness.ended(run);
    expect(harness.hangUps).toHaveLength(1);
  });
});

// The end of what the agent was saying had set the idle timer again, which ran for ever and kept the call in memory.
describe('a call that is ended while the agent speaks', () => {
  it('leaves no timer behind', async () => {
    const harness = await held.harness.prepare(chat);
    const { run } = await harness.inboundCall();
    await harness.pass(200);
    const { organizationId } = harness.at.owner;
    await harness.callControl.hangUp({ organizationId, runId: run.id });
    await harness.ended(run);
    harness.clock.advance(60_000);
    expect(harness.clock.timers).toBe(0);
    expect(await harness.bodies(run, 'agent.said')).toMatchObject([{ interrupted: true }]);
  });
});
