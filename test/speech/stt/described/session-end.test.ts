// The end of a session of every preset of a recogniser: the service is told, its last words and its count come, and nothing
// is left open.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import {
  type SttPreset,
  sttPresetServices,
} from '../../../../src/model/speech-services/schemas/described-stt.ts';
import { CircuitBreaker } from '../../../../src/speech/service/circuit-breaker.ts';
import { createSttService } from '../../../../src/speech/stt/registry.ts';
import { createSttFallback } from '../../../../src/speech/stt/stt-fallback.ts';
import { sttProtocols } from '../../../fakes/described/stt-servers.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import { serviceMeans } from '../../../fakes/services/service-means.ts';
import { type SttFaults, startSttServer } from '../../../fakes/services/stt-server.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

const KEY = 'key-0123456789';
/** Milliseconds of the audio in which the caller says nine words, and packets of them. */
const SAID = 'w1 w2 w3 w4 w5 w6 w7 w8 w9';
const opened: { close(): unknown }[] = [];

afterEach(async () => {
  for (const each of opened.splice(0).reverse()) await each.close();
});

async function connect(provider: SttPreset, faults: SttFaults = {}) {
  const clock = new FakeClock();
  const server = await startSttServer(
    { clock, key: KEY, faults: [faults] },
    sttProtocols[provider](KEY),
  );
  const row = { provider, api_key: KEY, base_url: server.url };
  const service = createSttService(sttPresetServices[provider].parse(row), serviceMeans(clock));
  const circuit = new CircuitBreaker({ clock, service: provider });
  const services = [{ service, circuit }];
  const stt = createSttFallback({ services, clock, log: quietLog().log });
  const rig = new RecognizerRig(clock, stt, OPEN_SPEECH);
  opened.push(server, rig.recognizer, service);
  await vi.waitFor(() => expect(server.sessions).toHaveLength(1), { timeout: 20_000 });
  return { rig, server, clock };
}

const presets = Object.keys(sttPresetServices) as SttPreset[];
/** Those whose services say in their last messages what they bill. */
const counting = new Set<SttPreset>(['gladia', 'soniox', 'xai']);

describe.each(presets)('at the end of a call, the preset %s', (provider) => {
  it('gives the last words of the caller and what is billed, and leaves no session', async () => {
    const { rig, server, clock } = await connect(provider);
    await rig.says(SAID);
    await rig.recognizer.finish?.();
    expect([rig.text, rig.errors, server.violations]).toEqual([SAID, [], []]);
    expect(rig.usage).toHaveLength(1);
    const [usage] = rig.usage;
    expect(usage?.source).toBe(counting.has(provider) ? 'vendor' : 'counted');
    expect(usage?.amount).toBeCloseTo((server.sessions[0]?.audioMs ?? 0) / 1_000, 1);
    await vi.waitFor(() => expect(server.sessions.map(({ isOpen }) => isOpen)).toEqual([false]));
    await vi.waitFor(() => expect(clock.timers).toBe(0));
  });

  it('waits two seconds at most for a service that says nothing more', async () => {
    const { rig, server, clock } = await connect(provider, { stallAtMs: 300 });
    await rig.says('w1 w2 w3');
    let isOver = false;
    const end = rig.recognizer.finish?.().then(() => {
      isOver = true;
    });
    await vi.waitFor(() => expect(clock.timers).toBeGreaterThan(0));
    clock.advance(2_000);
    await end;
    expect([isOver, rig.errors]).toEqual([true, []]);
    expect(rig.usage[0]).toMatchObject({ service: provider, source: 'counted' });
    await vi.waitFor(() => expect(server.sessions.map(({ isOpen }) => isOpen)).toEqual([false]));
    await vi.waitFor(() => expect(clock.timers).toBe(0));
  });

  it('says goodbye to a service that the call leaves while it goes on', async () => {
    const { rig, server } = await connect(provider);
    await rig.says('w1 w2');
    rig.recognizer.close();
    await vi.waitFor(() => expect(server.sessions.map(({ isOpen }) => isOpen)).toEqual([false]));
    expect([rig.usage.length, rig.errors, server.violations]).toEqual([1, [], []]);
  });
});

describe('speechmatics', () => {
  it('ends the stream with the number of the last packet', async () => {
    const { rig, server } = await connect('speechmatics');
    await rig.says('w1 w2 w3');
    await rig.recognizer.finish?.();
    const packets = Math.ceil((server.sessions[0]?.audioMs ?? 0) / 60);
    const last = { message: 'EndOfStream', last_seq_no: packets };
    expect(server.sessions[0]?.received.at(-1)).toEqual(last);
  });
});

describe('a call in which nothing was heard', () => {
  it.each(presets)('asks %s for no last words', async (provider) => {
    const { rig, server } = await connect(provider);
    await rig.recognizer.finish?.();
    expect([rig.finals, rig.errors, server.violations]).toEqual([[], [], []]);
  });
});
