// A call that ends while unconfirmed audio is replayed to the next recogniser: the best known words are the last ones. The
// words of the replay so far, a few of a long sentence, had replaced those that the failed service had given.

import { describe, expect, it } from 'vitest';
import { OpenWords } from '../../../src/speech/stt/fallback/open-words.ts';
import { call } from './recognizers-of-a-call.ts';
import { many } from './speaking-caller.ts';

type Call = ReturnType<typeof call>;

/** Milliseconds until the recogniser has finished. */
async function finished({ rig, clock }: Call): Promise<number> {
  const from = clock.monotonicMs();
  let isOver = false;
  void rig.recognizer.finish?.().then(() => {
    isOver = true;
  });
  while (!isOver && clock.monotonicMs() - from < 10_000) await clock.advanceAsync(20, 20);
  const ms = clock.monotonicMs() - from;
  // What the fakes still have on their way.
  await clock.advanceAsync(300, 100);
  return ms;
}

/** What is known when the service fails. */
const KNOWN = many(18);

describe('a call that ends within a replay', () => {
  it('has the words that the failed service gave, where the next one has fewer by then', async () => {
    const at = call({ faults: () => ({ failAtMs: 5_000, kind: 'auth' }) }, { lastMs: 100 });
    at.says(many(20));
    expect(at.rig.partials.at(-1)).toBe(KNOWN);
    expect(await finished(at)).toBeLessThanOrEqual(2_000);
    expect(at.b.service.sessions[0]?.finder.positionMs).toBeGreaterThan(1_000);
    expect([at.rig.text, at.rig.errors, at.clock.timers]).toEqual([KNOWN, [], 0]);
  });

  it('has all words, where the replay comes to its end within a second', async () => {
    const at = call({ faults: () => ({ failAtMs: 500, kind: 'auth' }) }, { lastMs: 100 });
    at.says(many(4));
    expect(at.rig.partials.at(-1)).toBe(many(2));
    expect(await finished(at)).toBeLessThan(900);
    expect([at.rig.text, at.rig.errors, at.clock.timers]).toEqual([many(4), [], 0]);
  });

  it('asks no other recogniser, and loses none, where the embedded one has no room at that moment', async () => {
    const at = call({ refuses: true }, {});
    at.rig.recognizer.speechStarted();
    await finished(at);
    expect([at.rig.errors, at.b.service.sessions, at.clock.timers]).toEqual([[], [], 0]);
  });

  it('has the words of the next service also where they are fewer than those it gave before', async () => {
    const at = call({ lastMs: 100, revisesPartials: true });
    at.says(many(4));
    await finished(at);
    expect(at.rig.text).toBe(many(4));
  });

  it('asks no other session for a replayed word of which the service gives no sign', async () => {
    const at = call(
      { faults: () => ({ failOnFinalize: true, kind: 'auth' }) },
      { faults: () => ({ deafAtMs: 0 }), lastMs: 100 },
      {},
    );
    at.turn('w1');
    expect(await finished(at)).toBeLessThan(600);
    expect([at.a, at.b, at.c].map(({ service }) => service.sessions.length)).toEqual([1, 1, 0]);
    expect(at.clock.timers).toBe(0);
  });

  it('asks no next service where the one of the replay does not connect', async () => {
    const at = call(
      { faults: () => ({ failAtMs: 600, kind: 'auth' }) },
      { faults: () => ({ unreadyAtMs: 0 }) },
      {},
    );
    at.says(many(4));
    at.silence(2_000);
    expect(await finished(at)).toBeLessThanOrEqual(2_000);
    expect([at.c.service.sessions.length, at.clock.timers]).toEqual([0, 0]);
  });

  it('waits two seconds for it, and one for the replay', async () => {
    const at = call({ faults: () => ({ failAtMs: 5_000, kind: 'auth' }) }, { lastMs: 5_000 });
    at.says(many(20));
    expect(await finished(at)).toBe(2_000);
    const passed = at.b.service.sessions[0]?.finder.positionMs ?? 0;
    expect(passed).toBeLessThanOrEqual(1_200 * 1.8 + 40);
    expect([at.rig.text, at.b.service.sessions[0]?.isClosed]).toEqual([KNOWN, true]);
  });

  it('ends at once where the next service fails too, and asks no other', async () => {
    const at = call(
      { faults: () => ({ failAtMs: 5_000, kind: 'auth' }) },
      { faults: () => ({ failAtMs: 400, kind: 'auth' }) },
      {},
    );
    at.says(many(20));
    expect(await finished(at)).toBeLessThan(400);
    expect([at.rig.text, at.rig.errors]).toEqual([KNOWN, []]);
    expect([at.c.service.sessions.length, at.clock.timers]).toEqual([0, 0]);
  });

  it('has the words that were asked for, behind which the voice went on', async () => {
    // The first service gives no final words for two seconds.
    const at = call({ finalMs: 60_000 }, { lastMs: 100 });
    at.says(many(8));
    at.rig.recognizer.finalize();
    at.says(many(12, 8));
    await finished(at);
    expect(at.b.service.sessions).toHaveLength(1);
    expect(at.rig.text).toBe(many(14));
  });

  it('is closed at once by its owner', async () => {
    const at = call({ faults: () => ({ failAtMs: 5_000, kind: 'auth' }) }, {});
    at.says(many(20));
    const ended = at.rig.recognizer.finish?.();
    at.rig.recognizer.close();
    await ended;
    await at.clock.advanceAsync(300, 100);
    expect([at.rig.text, at.clock.timers]).toEqual([KNOWN, 0]);
  });
});

describe('the words that are open at the end of a call', () => {
  const session = { lagSamples: 0 };
  const said = (text: string) => ({ text, confidence: null });

  it('are held finals with the interim words behind them', () => {
    const words = new OpenWords();
    words.hold(said('w1'));
    words.partial(said('w2'), session);
    words.finishing();
    expect(words.last(session).text).toBe('w1 w2');
  });

  it('are none where interim words alone were reported, which are the last ones then', () => {
    const words = new OpenWords();
    words.partial(said('w1'), session);
    words.finishing();
    expect(words.last(session).text).toBe('');
  });
});

describe('a service at fault at the end of a call', () => {
  const faults = () => ({ failOnFinish: true, kind: 'overload' as const });

  it('counts as at fault, and leaves the words that were known', async () => {
    const at = call({ faults, lastMs: 100 }, {});
    const calls = [at, at.again(), at.again()].map((each) => ({ ...at, ...each }));
    for (const each of calls) each.says(many(4));
    for (const each of calls) {
      expect(await finished(each)).toBeLessThan(200);
      expect([each.rig.partials.at(-1), each.rig.errors]).toEqual([many(4), []]);
    }
    expect([at.a.circuit.state, at.b.service.sessions.length]).toEqual(['open', 0]);
  });

  it('counts in a replay too', async () => {
    const at = call(
      { faults: () => ({ failAtMs: 5_000, kind: 'auth' }) },
      { faults: () => ({ failAtMs: 400, kind: 'quota' }) },
      {},
    );
    at.says(many(20));
    await finished(at);
    expect([at.b.circuit.state, at.permanent]).toEqual(['open', ['a auth', 'b quota']]);
  });
});
