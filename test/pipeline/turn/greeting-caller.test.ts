// "Hello?" over the agent's greeting: it was cut off, and the model greeted a second time. Source:
// fixtures/calls/hello-over-greeting.json.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { CallRig } from '../call-rig.ts';

const seen = JSON.parse(
  readFileSync(
    new URL('../../../fixtures/calls/hello-over-greeting.json', import.meta.url),
    'utf8',
  ),
);
const GREETING: string = seen.greeting;

/** The caller speaks for 1.1 s from this time of the greeting on. */
async function over(text: string, { atMs = 400, interruptible = true, greeting = GREETING } = {}) {
  const rig = new CallRig();
  if (atMs < 0) {
    rig.line = 'voice';
    await rig.run(-atMs);
  }
  rig.say(greeting, { interruptible });
  await rig.run(Math.max(0, atMs));
  await rig.says(text, 1_100);
  await rig.run(10_000);
  return rig;
}

describe('a greeting of the caller', () => {
  it.each([
    ['within the first second', 400, true],
    ['within the first seconds', 2_000, true],
    ['before the first word', -300, true],
    ['during a greeting that cannot be interrupted', 400, false],
    ['before one that cannot be interrupted', -300, false],
  ])('%s of the agent leaves it whole, and is no turn', async (_when, atMs, interruptible) => {
    const rig = await over('Hello?', { atMs, interruptible });
    expect(rig.turns).toEqual([]);
    expect(rig.reports).toMatchObject([{ heardText: GREETING, interrupted: false }]);
    expect(rig.of('backchannel')).toMatchObject([{ text: 'Hello?' }]);
  });

  it.each(['yeah hello', 'Guten Tag', 'Good morning!', 'もしもし', 'sí, dígame'])(
    'may be any: %s',
    async (text) => {
      const rig = await over(text);
      expect(rig.turns).toEqual([]);
      expect(rig.reports).toMatchObject([{ interrupted: false }]);
    },
  );

  it('leaves a short one whole too', async () => {
    const rig = await over('Hello?', { greeting: 'Hello, Acme Dental.' });
    expect(rig.turns).toEqual([]);
    expect(rig.reports).toMatchObject([{ heardText: 'Hello, Acme Dental.', interrupted: false }]);
  });

  it('at the end of the opening answers it', async () => {
    const rig = await over('Hello.', { greeting: 'This is Anna of Acme Dental.', atMs: 1_300 });
    expect(rig.turns).toEqual(['Hello.']);
  });

  it('interrupts with a request behind it', async () => {
    const rig = await over('Hello, I would like to book');
    expect(rig.turns).toEqual(['Hello, I would like to book']);
    expect(rig.reports).toMatchObject([{ interrupted: true }]);
  });

  it('interrupts later in the call, where it asks whether somebody is there', async () => {
    const rig = new CallRig();
    await rig.says('I would like to book');
    await rig.run(1_500);
    rig.say(GREETING);
    await rig.run(1_000);
    await rig.says('Hello?', 1_100);
    await rig.run(3_000);
    expect(rig.turns).toEqual(['I would like to book', 'Hello?']);
  });
});
