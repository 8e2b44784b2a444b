// The soak itself, with a few turns of each protocol.

import { describe, expect, it } from 'vitest';
import { PROTOCOLS } from './protocols.ts';
import { readCommand } from './soak-options.ts';
import { runSoak } from './soak-run.ts';

const TURNS = 40;
/** Some seconds; the clock of the calls is a fake, a busy machine is slow. */
const TEST_MS_MAX = 60_000;

describe('the soak', () => {
  it.each(PROTOCOLS.map((protocol) => [protocol.name, protocol] as const))(
    'of %s breaks no rule in a few calls with faults',
    async (_name, protocol) => {
      const { ledger, bill } = await runSoak(protocol, { turns: TURNS, seed: 7 });
      expect(ledger.breaches).toEqual([]);
      expect(ledger.turns).toBeGreaterThanOrEqual(TURNS);
      expect(ledger.faultCount).toBeGreaterThan(0);
      expect(bill.counted).toBeGreaterThan(0);
    },
    TEST_MS_MAX,
  );

  it('ends with the call in which its time is over', async () => {
    const [protocol] = PROTOCOLS;
    if (protocol === undefined) throw new Error('no protocol');
    const { ledger } = await runSoak(protocol, { turns: 1_000, seed: 1, isOver: () => true });
    // The call that shows that the circuit closes.
    expect(ledger.calls).toBeLessThanOrEqual(1);
  });

  it('reads its command line, and says what is wrong with it', () => {
    const names = (args: string[]) => readCommand(args).protocols.map(({ name }) => name);
    expect(names([])).toHaveLength(PROTOCOLS.length);
    expect(names(['--protocols', 'llm,stt/nova'])).toEqual([
      ...['stt/nova', 'llm/openai', 'llm/anthropic', 'llm/gemini'],
    ]);
    expect(() => readCommand(['--protocols', 'stt/novel'])).toThrow('there is no stt/novel');
    expect(() => readCommand(['--turns', 'many'])).toThrow('--turns: must be a number');
  });
});
