// The greeting of an agent whose voice is a service's: made once, while the first call rings.

import { describe, expect, it } from 'vitest';
import { serviceVoice } from '../../../src/speech/tts/service-voice.ts';
import { drinks, GREETING, withCallHarness } from '../call-harness.ts';

const held = withCallHarness();

describe('the greeting of an agent with the voice of a service', () => {
  it('is paid once, and is heard in every call', async () => {
    const { harness } = held;
    Object.assign(harness.speech, { tts: serviceVoice(harness.tts, harness.clock) });
    await harness.prepare(drinks);
    for (const nth of [1, 2]) {
      const { stream, run } = await harness.inboundCall({
        callId: `CA${String(nth).padStart(32, '0')}`,
      });
      await harness.until(() => harness.tts.rendered.includes(GREETING));
      await harness.heardOut(stream);
      stream.hangUp();
      const done = await harness.ended(run);
      expect(await harness.transcript(done)).toEqual([`assistant: ${GREETING}`]);
    }
    expect(harness.tts.rendered.filter((text) => text === GREETING)).toEqual([GREETING]);
    // The first call may have begun before it was made.
    expect(harness.tts.asked.length).toBeLessThanOrEqual(2);
    const second = harness.tts.asked.length;
    const { stream } = await harness.inboundCall({ callId: 'CA00000000000000000000000000000009' });
    await harness.heardOut(stream);
    expect(harness.tts.asked).toHaveLength(second);
  });
});
