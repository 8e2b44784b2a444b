// The end of a session of every preset of a recogniser.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { sttServices } from '../../../../src/model/speech-services/services.ts';
import { createSttService } from '../../../../src/speech/vendors/stt-registry.ts';
import type { Clock } from '../../../../src/std/clock.ts';
import { type SttPreset, sttPresets } from '../../../fakes/described/presets.ts';
import { sttProtocols } from '../../../fakes/described/stt-servers.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import {
  type SttFaults,
  type SttServer,
  startSttServer,
} from '../../../fakes/services/stt-server.ts';
import {
  callAt,
  type EndingServer,
  sessionEndContract,
} from '../streaming/session-end-contract.ts';

const KEY = 'key-0123456789';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function start(provider: SttPreset, clock: Clock, faults: SttFaults = {}) {
  const fake = await startSttServer(
    { clock, key: KEY, faults: [faults] },
    sttProtocols[provider](KEY),
  );
  const row = { provider, api_key: KEY, base_url: fake.url };
  const service = createSttService(sttServices[provider].parse(row), serviceMeans(clock));
  return { fake, service, server: endingOf(fake) };
}

function endingOf({ sessions, violations, close }: SttServer): EndingServer {
  return {
    violations,
    sessions: () => sessions.length,
    open: () => sessions.filter(({ isOpen }) => isOpen).length,
    seconds: () => sessions.reduce((sum, { audioMs }) => sum + audioMs / 1_000, 0),
    close,
  };
}

/** Those whose services say in their last messages what they bill. */
const counting = new Set<SttPreset>(['gladia', 'soniox', 'xai']);

for (const provider of Object.keys(sttPresets) as SttPreset[]) {
  sessionEndContract({
    name: `the preset ${provider}`,
    counts: counting.has(provider),
    isAsked: provider !== 'vapi_transcriber',
    start: (clock, faults) => start(provider, clock, faults),
  });
}

describe('speechmatics', () => {
  it('ends the stream with the number of the last packet', async () => {
    const clock = new FakeClock();
    const { fake, server, service } = await start('speechmatics', clock);
    const rig = callAt({ server, service }, clock);
    opened.push(fake, rig.recognizer, service);
    await vi.waitFor(() => expect(fake.sessions).toHaveLength(1), { timeout: 20_000 });
    await rig.says('w1 w2 w3');
    await rig.recognizer.finish?.();
    const packets = Math.ceil((fake.sessions[0]?.audioMs ?? 0) / 60);
    const last = { message: 'EndOfStream', last_seq_no: packets };
    expect(fake.sessions[0]?.received.at(-1)).toEqual(last);
  });
});
