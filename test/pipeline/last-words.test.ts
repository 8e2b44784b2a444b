// What a caller says last, when they hang up within a sentence: a turn that nothing answers.

import { describe, expect, it } from 'vitest';
import { framesOf } from '../fakes/call/spoken-words.ts';
import type { FakeClock } from '../fakes/fake-clock.ts';
import {
  type RecognizingOptions,
  RecognizingService,
} from '../fakes/services/recognizing-service.ts';
import { CallRig } from './call-rig.ts';

function call(given: Partial<RecognizingOptions> = {}) {
  const rig = new CallRig({
    stt: (clock: FakeClock) => new RecognizingService({ clock, name: 'service', ...given }),
  });
  const lastTurns = () => rig.of('last-turn').map(({ turn }) => turn.text);
  return { rig, lastTurns };
}

async function says(rig: CallRig, text: string): Promise<void> {
  for (const frame of framesOf(text)) await rig.plays(frame);
}

describe('the last words of a caller who leaves', () => {
  it('are the interim words, where the recogniser has nothing more to say', async () => {
    const { rig, lastTurns } = call();
    await says(rig, 'w1 w2 w3');
    await rig.run(160);
    const leftMs = rig.audio.leave();
    await rig.audio.close();
    expect([lastTurns(), rig.turns]).toEqual([['w1 w2 w3'], []]);
    const [{ turn } = expect.fail('no turn')] = rig.of('last-turn');
    expect(turn.endMs).toBeLessThanOrEqual(leftMs);
  });

  it('are those that the recogniser fixes after the end, which the call waits for', async () => {
    const { rig, lastTurns } = call({ lastMs: 400 });
    await says(rig, 'w1 w2 w3');
    rig.audio.leave();
    let isClosed = false;
    const closed = rig.audio.close().then(() => {
      isClosed = true;
    });
    await rig.run(200);
    expect([isClosed, lastTurns()]).toEqual([false, []]);
    await rig.run(300);
    await closed;
    expect([lastTurns(), rig.turns]).toEqual([['w1 w2 w3'], []]);
    expect(rig.of('usage')).toHaveLength(1);
  });

  it('come once where their final words were asked for already', async () => {
    const { rig, lastTurns } = call({
      ...{ lastMs: 100, finalMs: 5_000 },
      capabilities: { finalMsP99: 2_000 },
    });
    await says(rig, 'w1 w2');
    await rig.run(1_000);
    rig.audio.leave();
    await rig.run(200);
    await rig.audio.close();
    expect([lastTurns(), rig.turns]).toEqual([['w1 w2'], []]);
  });

  it('are none where the caller had finished, or had said nothing', async () => {
    const { rig, lastTurns } = call({ lastMs: 100 });
    await says(rig, 'w1 w2');
    await rig.run(2_000);
    rig.audio.leave();
    await rig.run(200);
    await rig.audio.close();
    expect([lastTurns(), rig.turns]).toEqual([[], ['w1 w2']]);
    expect(rig.of('unrecognized')).toEqual([]);
  });
});
