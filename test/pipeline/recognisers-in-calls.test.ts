// Whole calls with recognisers that find the words in the caller's audio, end turns themselves, and fail.

import { describe, expect, it } from 'vitest';
import { CircuitBreaker } from '../../src/speech/service/service-circuit-breaker.ts';
import { createSttFallback } from '../../src/speech/stt/stt-fallback.ts';
import { framesOf } from '../fakes/call/spoken-words.ts';
import type { FakeClock } from '../fakes/fake-clock.ts';
import { quietLog } from '../fakes/quiet-log.ts';
import {
  type RecognizingOptions,
  RecognizingService,
} from '../fakes/services/recognizing-service.ts';
import { FakeStt } from '../fakes/speech-services.ts';
import { CallRig } from './call-rig.ts';

type Given = Omit<RecognizingOptions, 'clock' | 'name'>;

function call(...given: Given[]) {
  const opened: RecognizingService[] = [];
  const rig = new CallRig({
    stt(clock: FakeClock) {
      const services = given.map((options, nth) => {
        const service = new RecognizingService({ clock, name: `service-${nth}`, ...options });
        opened.push(service);
        return {
          service,
          circuit: new CircuitBreaker({ clock, job: 'stt', service: service.name }),
        };
      });
      return createSttFallback({ services, clock, log: quietLog().log });
    },
  });
  return { rig, opened };
}

/** The caller's line brings these words. */
async function says(rig: CallRig, text: string): Promise<void> {
  for (const frame of framesOf(text)) await rig.plays(frame);
}

describe('a call', () => {
  it('informs the recogniser when the voice begins and ends', async () => {
    const { rig, opened } = call({});
    await says(rig, 'w1 w2');
    await rig.run(2_000);
    expect(opened[0]?.sessions[0]?.calls).toEqual(['start', 'stop', 'prepare', 'finalize']);
    expect(rig.turns).toEqual(['w1 w2']);
  });

  it('has the final words prepared once in each pause that is probably the end', async () => {
    const { rig, opened } = call({});
    await says(rig, 'w1 w2');
    await rig.run(320);
    await says(rig, 'w3');
    await rig.run(2_000);
    expect(opened[0]?.sessions[0]?.calls).toEqual([
      ...['start', 'stop', 'prepare'],
      ...['stop', 'prepare', 'finalize'],
    ]);
    expect(rig.turns).toEqual(['w1 w2 w3']);
  });

  it('has none prepared in a pause of a value, which people say in parts', async () => {
    const { rig, opened } = call({});
    rig.audio.expect({ closed: true, phrases: [], slots: ['date'], boost: [] });
    await says(rig, 'w1 w2');
    await rig.run(2_000);
    expect(opened[0]?.sessions[0]?.calls).toEqual(['start', 'stop', 'finalize']);
    expect(rig.turns).toEqual(['w1 w2']);
  });

  it('takes the turns of a recogniser that ends them', async () => {
    const { rig, opened } = call({ endsAfterMs: 260, capabilities: { ownTurns: 'ends' } });
    await says(rig, 'w1 w2');
    await rig.run(300);
    expect(rig.turns).toEqual(['w1 w2']);
    await rig.run(3_000);
    await says(rig, 'w3');
    await rig.run(3_000);
    expect(rig.turns).toEqual(['w1 w2', 'w3']);
    expect(opened[0]?.sessions[0]?.calls).not.toContain('finalize');
  });

  it('forces the end of a turn that the recogniser does not end', async () => {
    const { rig, opened } = call({ endsAfterMs: 60_000, capabilities: { ownTurns: 'ends' } });
    await says(rig, 'w1 w2');
    await rig.run(1_000);
    expect(rig.turns).toEqual([]);
    await rig.run(1_000);
    expect(rig.turns).toEqual(['w1 w2']);
    expect(opened[0]?.sessions[0]?.calls).toContain('finalize');
  });

  it('ends turns by silence alone where they are ours, whatever the recogniser sees', async () => {
    const { rig, opened } = call({ endsAfterMs: 100, capabilities: { ownTurns: 'none' } });
    await says(rig, 'w1 w2');
    await rig.run(300);
    await says(rig, 'w3');
    await rig.run(3_000);
    expect(rig.turns).toEqual(['w1 w2 w3']);
    expect(opened[0]?.sessions[0]?.calls).toContain('finalize');
  });

  it('ends a turn with the first of both, where both end turns', async () => {
    const both = { ownTurns: 'ends', silenceEnds: true } as const;
    const { rig } = call({ endsAfterMs: 60_000, capabilities: both });
    await says(rig, 'w1 w2');
    await rig.run(1_000);
    expect(rig.turns).toEqual(['w1 w2']);
    const { rig: other, opened } = call({ endsAfterMs: 100, capabilities: both });
    await says(other, 'w1 w2');
    await other.run(300);
    expect(other.turns).toEqual(['w1 w2']);
    expect(opened[0]?.sessions[0]?.calls).not.toContain('finalize');
  });

  it.each([
    ['in the middle of a turn', { failAtMs: 1_500 }],
    ['in place of the final words', { failOnFinalize: true }],
    ['when it is silent', { neverFinal: true, silentAtMs: 0 }],
  ])('has each word of a turn once when its recogniser fails %s', async (_when, faults) => {
    const { rig } = call({ faults: () => faults }, { capabilities: { finalMsP99: 500 } });
    await rig.run(600);
    const text = Array.from({ length: 9 }, (_, nth) => `w${nth}`).join(' ');
    await says(rig, text);
    await rig.run(9_000);
    expect(rig.turns).toEqual([text]);
    await says(rig, 'w20 w21');
    await rig.run(9_000);
    expect(rig.turns).toEqual([text, 'w20 w21']);
    expect(rig.of('fault')).toEqual([]);
  });

  it('has the first word of an interruption in its turn', async () => {
    const { rig } = call({});
    rig.say(
      'Thank you for calling, all of our agents are busy at the moment and will be with you.',
    );
    await rig.run(1_000);
    await says(rig, 'w1 w2 w3');
    await rig.run(2_000);
    expect(rig.of('interruption').length).toBe(1);
    expect(rig.turns).toEqual(['w1 w2 w3']);
  });

  it('has the first word of an interruption in its turn, also where the recogniser gets speech only', async () => {
    const { rig, opened } = call({ capabilities: { gated: true, interimWords: false } });
    rig.say(
      'Thank you for calling, all of our agents are busy at the moment and will be with you.',
    );
    await rig.run(1_000);
    await says(rig, 'w1 w2 w3');
    await rig.run(2_000);
    expect(rig.of('interruption').length).toBe(1);
    expect(rig.turns).toEqual(['w1 w2 w3']);
    // Not the second of silence before.
    expect(opened[0]?.sessions[0]?.finder.positionMs).toBeLessThan(2_400);
  });

  it('has the words that stay where interim words are taken back, and each once where it is lost then', async () => {
    const { rig } = call({ revisesPartials: true });
    await says(rig, 'w1 w2');
    await rig.run(2_000);
    expect(rig.turns).toEqual(['w1 w2']);
    expect(rig.of('partial').map(({ text }) => text)).toContain('w1 w2 w2');
    const { rig: failing } = call(
      { revisesPartials: true, faults: () => ({ failOnFinalize: true }) },
      {},
    );
    await failing.run(600);
    await says(failing, 'w1 w2');
    await failing.run(6_000);
    expect(failing.turns).toEqual(['w1 w2']);
  });

  it('is not interrupted by words that its recogniser repeats', async () => {
    const { rig } = call({ repeatsAfterMs: 600 });
    rig.react = ({ type }) => {
      if (type === 'turn')
        rig.say('Thank you for calling, all of our agents are busy at the moment.');
    };
    await says(rig, 'w1 w2');
    await rig.run(1_000);
    expect(rig.turns).toEqual(['w1 w2']);
    rig.line = 'voice';
    await rig.run(600);
    rig.line = 'silence';
    await rig.run(4_000);
    expect(rig.of('interruption')).toEqual([]);
    expect(rig.turns).toEqual(['w1 w2']);
  });

  it('goes on with the keypad when no recogniser is left', async () => {
    const { rig } = call({ faults: () => ({ failAtMs: 100, kind: 'auth' }) });
    await says(rig, 'w1');
    await rig.run(3_000);
    expect(rig.of('fault').map(({ error }) => error.code)).toEqual(['STT_FAILED']);
  });
});

describe('a call whose recognisers all failed', () => {
  function lost(failing: Given, next: Given) {
    const opened: RecognizingService[] = [];
    const rig = new CallRig({
      stt(clock: FakeClock) {
        const of = (options: Given, nth: number) => {
          const service = new RecognizingService({ clock, name: `service-${nth}`, ...options });
          opened.push(service);
          return {
            service,
            circuit: new CircuitBreaker({ clock, job: 'stt', service: service.name }),
          };
        };
        const [services, others] = [[of(failing, 0)], [[of(next, 1)]]];
        return createSttFallback({ services, others, clock, log: quietLog().log });
      },
    });
    const enter = (sttList: number) => rig.audio.use({ tts: rig.tts, voice: undefined, sttList });
    const reports = () => rig.kinds.filter((kind) => kind.startsWith('recognizer-'));
    return { rig, opened, enter, reports };
  }
  const refused: Given = { faults: () => ({ failAtMs: 100, kind: 'auth' }) };

  it('uses those of the next node, and has them report that they understand', async () => {
    const { rig, opened, enter, reports } = lost(refused, {});
    await rig.run(500);
    expect(reports()).toEqual(['recognizer-lost']);
    rig.audio.expect({ closed: false, phrases: [], slots: [], boost: ['Ana'] });
    enter(1);
    await rig.run(500);
    expect(reports()).toEqual(['recognizer-lost']);
    await says(rig, 'w1 w2');
    await rig.run(2_000);
    expect(rig.turns).toEqual(['w1 w2']);
    expect(reports()).toEqual(['recognizer-lost', 'recognizer-restored']);
    expect(opened[1]?.sessions[0]?.expectation.boost).toEqual(['Ana']);
    expect(opened[0]?.sessions).toHaveLength(1);
  });

  it('opens them again after a pause, which doubles up to a minute, and reports the fault once', async () => {
    const opened: number[] = [];
    const rig: CallRig = new CallRig({
      stt: (clock) => {
        const stt = new FakeStt(clock);
        const { open } = stt;
        return Object.assign(stt, {
          open(...of: Parameters<FakeStt['open']>) {
            opened.push(clock.monotonicMs());
            if (opened.length < 7) clock.after(100, () => stt.die());
            return open.apply(stt, of);
          },
        });
      },
    });
    await rig.run(180_000);
    const pauses = opened.slice(1).map((at, nth) => Math.round((at - (opened[nth] ?? 0)) / 1_000));
    expect(pauses).toEqual([5, 10, 20, 40, 60]);
    expect(rig.of('fault')).toHaveLength(1);
    expect(rig.kinds.filter((kind) => kind === 'recognizer-lost')).toHaveLength(1);
  });

  it('has one that works again after the pause report that it understands', async () => {
    const rig = new CallRig();
    await rig.run(500);
    rig.stt.die();
    await rig.run(5_500);
    await rig.says('yes please', 600);
    await rig.run(2_000);
    expect(rig.turns).toEqual(['yes please']);
    expect(rig.kinds).toContain('recognizer-restored');
  });

  it('reports the loss once while no other one understands, and tries each node’s own', async () => {
    const { rig, opened, enter, reports } = lost(refused, refused);
    await rig.run(500);
    enter(1);
    await rig.run(500);
    enter(1);
    await rig.run(500);
    expect(opened.map(({ sessions }) => sessions.length)).toEqual([1, 1]);
    expect(reports()).toEqual(['recognizer-lost']);
    expect(rig.of('fault').length).toBeGreaterThan(1);
    await rig.audio.close();
    enter(0);
    expect(opened[0]?.sessions).toHaveLength(1);
  });
});
