// The end of a session of every recogniser that speaks a protocol of its own. Those of descriptions: described/.

import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { STT_ROWS } from '../../../soak/stt-rows.ts';
import { sessionEndContract } from './session-end-contract.ts';

/** Those whose services say in their last messages what they bill. */
const COUNTING = ['nova', 'assemblyai'];
/** Uploads have no session; the described one has a test of its own. */
const OTHERS = ['openai', 'described'];

for (const { name, start, create } of STT_ROWS) {
  if (OTHERS.includes(name)) continue;
  sessionEndContract({
    name,
    counts: COUNTING.includes(name),
    // A connection for each utterance.
    connectsAhead: name !== 'wyoming',
    async start(clock, faults) {
      const server = await start(clock, () => faults);
      return { server, service: create(server.url, serviceMeans(clock)) };
    },
  });
}
