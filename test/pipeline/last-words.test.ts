// What a caller says last, when they hang up within a sentence: a turn that nothing answers.

import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/speech/service/service-circuit-breaker.ts';
import type { SpeechToText } from '../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../src/speech/stt/stt-fallback.ts';
import { framesOf } from '../fakes/call/spoken-words.ts';
import type { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
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
      lastMs: 100,
      finalMs: 5_000,
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

  it('are those up to then where the recogniser breaks at its end, which breaks this call alone', async () => {
    const stt = (clock: FakeClock): SpeechToText => {
      const service = new RecognizingService({ clock, name: 'service' });
      const { name, model, capabilities } = service;
      const finish = () => Promise.reject(new Error('broken'));
      return {
        name,
        model,
        capabilities,
        open: (...[expectation, listener]) =>
          Object.assign(service.open(expectation, listener), { finish }),
        close: () => service.close(),
      };
    };
    const rig = new CallRig({ stt });
    await says(rig, 'w1 w2');
    await rig.run(160);
    rig.audio.leave();
    await rig.audio.close();
    expect(rig.of('broken')).toHaveLength(1);
    expect(rig.of('last-turn').map(({ turn }) => turn.text)).toEqual(['w1 w2']);
  });

  it('are not asked of the services of a node that the conversation enters afterwards', async () => {
    const services: RecognizingService[] = [];
    const stt = (clock: FakeClock): SpeechToText => {
      const [first, second] = ['first', 'second'].map((name) => {
        const service = new RecognizingService({ clock, name, lastMs: 100 });
        services.push(service);
        return [{ service, circuit: new CircuitBreaker({ clock, job: 'stt', service: name }) }];
      });
      const { log } = quietLog();
      return createSttFallback({ services: first ?? [], others: [second ?? []], clock, log });
    };
    const rig = new CallRig({ stt });
    await says(rig, 'w1 w2');
    await rig.run(2_000);
    rig.audio.leave();
    rig.audio.use({ tts: rig.tts, voice: undefined, sttList: 1 });
    await rig.run(200);
    await rig.audio.close();
    expect(services.map(({ sessions }) => sessions.length)).toEqual([1, 0]);
  });
});
