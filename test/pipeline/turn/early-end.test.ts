// The probable end of the caller's turn: what the recogniser says of it, and what turn-taking makes of that.

import { describe, expect, it } from 'vitest';
import { OPEN_SPEECH } from '../../../src/model/expected-input.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { createSttFallback } from '../../../src/speech/stt/stt-fallback.ts';
import { framesOf } from '../../fakes/call/spoken-words.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { RecognizingService } from '../../fakes/services/recognizing-service.ts';
import { CallRig } from '../call-rig.ts';

const EAGER_MS = 200;
const END_MS = 500;

function call(): CallRig {
  return new CallRig({
    stt(clock) {
      const service = new RecognizingService({
        clock,
        name: 'eager',
        endsAfterMs: END_MS,
        eagerAfterMs: EAGER_MS,
        capabilities: { ownTurns: 'eager' },
      });
      const circuit = new CircuitBreaker({ clock, job: 'stt', service: service.name });
      return createSttFallback({ services: [{ service, circuit }], clock, log: quietLog().log });
    },
  });
}

async function says(rig: CallRig, text: string): Promise<void> {
  for (const frame of framesOf(text)) await rig.plays(frame);
}

const reported = (rig: CallRig): string[] =>
  rig.kinds.filter((type) => ['early-end', 'turn-resumed', 'turn', 'backchannel'].includes(type));

describe('the probable end of a turn', () => {
  it('is reported with its words before the turn, which confirms it', async () => {
    const rig = call();
    await says(rig, 'w1 w2');
    await rig.run(1_000);
    expect(reported(rig)).toEqual(['early-end', 'turn']);
    const [early] = rig.of('early-end');
    expect(early).toMatchObject({ text: 'w1 w2', confidence: 0.9 });
    const [turn] = rig.of('turn');
    expect((turn?.atMs ?? 0) - (early?.atMs ?? 0)).toBe(END_MS - EAGER_MS);
  });

  it('is withdrawn when the caller goes on, and the turn has all words', async () => {
    const rig = call();
    await says(rig, 'w1 w2');
    await rig.run(240);
    await says(rig, 'w3');
    await rig.run(1_000);
    expect(reported(rig)).toEqual(['early-end', 'turn-resumed', 'early-end', 'turn']);
    expect(rig.of('early-end').map(({ text }) => text)).toEqual(['w1 w2', 'w1 w2 w3']);
    expect(rig.turns).toEqual(['w1 w2 w3']);
  });

  it('is reported twice in a turn at most, and again in the next one', async () => {
    const rig = call();
    await says(rig, 'w1 w2');
    for (const word of ['w3', 'w4', 'w5']) {
      await rig.run(240);
      await says(rig, word);
    }
    await rig.run(1_000);
    expect(rig.turns).toEqual(['w1 w2 w3 w4 w5']);
    expect(rig.of('early-end').length).toBe(2);
    await says(rig, 'w6 w7');
    await rig.run(1_000);
    expect(rig.of('early-end').length).toBe(3);
  });

  it('is not reported for one word, unless the word is expected', async () => {
    const rig = call();
    await says(rig, 'w1');
    await rig.run(3_000);
    rig.audio.expect({ ...OPEN_SPEECH, phrases: ['w1'] });
    await says(rig, 'w1');
    await rig.run(1_000);
    expect(rig.turns).toEqual(['w1', 'w1']);
    expect(reported(rig)).toEqual(['turn', 'early-end', 'turn']);
  });

  it('is not reported of words beside the agent’s own', async () => {
    const rig = call();
    rig.say(
      'Thank you for calling, all of our agents are busy at the moment and will be with you.',
    );
    await rig.run(1_000);
    await says(rig, 'w1 w2');
    await rig.run(100);
    const before = reported(rig);
    await rig.run(2_000);
    expect(rig.of('interruption').length).toBe(1);
    // The words stopped the agent: what they end is a turn as any other.
    expect([before, reported(rig)]).toEqual([[], ['early-end', 'turn']]);
  });

  it('is not reported of an acknowledgement that the agent goes on over', async () => {
    const rig = new CallRig();
    rig.say(
      'Thank you for calling, all of our agents are busy at the moment and will be with you.',
    );
    await rig.run(1_000);
    await rig.says('yeah okay');
    rig.stt.probablyEnds();
    await rig.run(2_500);
    expect(rig.of('interruption')).toEqual([]);
    expect(reported(rig)).toEqual(['backchannel']);
  });

  it('is withdrawn by further words, also where the recogniser does not say that the turn goes on', async () => {
    const rig = new CallRig();
    await rig.says('one moment');
    rig.stt.probablyEnds();
    await rig.says('one moment please');
    expect(reported(rig)).toEqual(['early-end', 'turn-resumed']);
  });

  it('is not reported within a number whose digits are missing', async () => {
    const rig = new CallRig();
    rig.audio.expect({
      ...OPEN_SPEECH,
      slots: ['digits'],
      digits: { countMax: 4, terminator: '#' },
    });
    await rig.says('one two');
    rig.stt.probablyEnds();
    await rig.run(2_500);
    await rig.says('one two three four');
    rig.stt.probablyEnds();
    await rig.run(2_500);
    expect(rig.of('early-end').map(({ text }) => text)).toEqual(['one two three four']);
  });

  it('is withdrawn when the final words are none', async () => {
    const rig = new CallRig();
    await rig.says('one moment');
    rig.stt.probablyEnds();
    rig.stt.understand('', { silently: true });
    await rig.run(3_000);
    expect(reported(rig)).toEqual(['early-end', 'turn-resumed']);
    expect(rig.of('unrecognized').length).toBe(1);
  });
});
