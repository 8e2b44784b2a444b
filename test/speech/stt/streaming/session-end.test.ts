// The end of a session of every recogniser that speaks a protocol of its own. Those of descriptions: described/.

import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { STT_ROWS } from '../../../soak/stt-rows.ts';
import { sessionEndContract } from './session-end-contract.ts';

/** Those whose services say in their last messages what they bill. */
const COUNTING = ['nova', 'assemblyai'];
/** The described one has a test of its own. */
const OTHERS = ['described'];
/** A connection or a request for each utterance. */
const BY_UTTERANCE = ['wyoming', 'openai'];

for (const { name, start, create } of STT_ROWS) {
  if (OTHERS.includes(name)) continue;
  sessionEndContract({
    name,
    counts: COUNTING.includes(name),
    connectsAhead: !BY_UTTERANCE.includes(name),
    streams: name !== 'openai',
    async start(clock, faults) {
      const server = await start(clock, () => faults);
      return { server, service: create(server.url, serviceMeans(clock)) };
    },
  });
}
