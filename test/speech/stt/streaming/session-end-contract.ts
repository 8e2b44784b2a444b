// How a session at a service ends with its call: the last words come, what is billed is reported, and nothing is left
// open. One contract for all recognisers whose services have something to say at the end.

import { afterEach, describe, expect, it, vi } from 'vitest';
import { serviceFaults } from '../../../../src/metrics/speech-metrics.ts';
import { OPEN_SPEECH } from '../../../../src/model/expected-input.ts';
import { CircuitBreaker } from '../../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../../src/speech/service/service-fault.ts';
import type { SpeechToText } from '../../../../src/speech/stt/stt.ts';
import { createSttFallback } from '../../../../src/speech/stt/stt-fallback.ts';
import { FakeClock } from '../../../fakes/fake-clock.ts';
import { quietLog } from '../../../fakes/quiet-log.ts';
import type { SttFaults } from '../../../fakes/services/stt-server.ts';
import { RecognizerRig } from '../recognizer-rig.ts';

/** A fake of the service. */
export interface EndingServer {
  violations: readonly string[];
  /** Connections so far, and those that are open. */
  sessions(): number;
  open(): number;
  /** As the service bills it. */
  seconds(): number;
  close(): Promise<unknown>;
}

interface EndingService {
  server: EndingServer;
  service: SpeechToText;
}

export interface SessionEndOptions {
  name: string;
  start(clock: FakeClock, faults: SttFaults): Promise<EndingService>;
  /** The service says at the end what it bills. */
  counts: boolean;
  /** It connects when the call begins. Default: true. */
  connectsAhead?: boolean;
  /** It gets the audio while the caller speaks. Default: true. */
  streams?: boolean;
  /** It has a message for its last words: without one nothing is waited for. Default: true. */
  isAsked?: boolean;
}

/** Milliseconds of the audio in which the caller says nine words, and packets of them. */
const SAID = 'w1 w2 w3 w4 w5 w6 w7 w8 w9';

/** A recogniser of a call at this service alone. */
export function callAt(
  { service }: EndingService,
  clock: FakeClock,
  circuit = new CircuitBreaker({ clock, job: 'stt', service: service.name }),
): RecognizerRig {
  const services = [{ service, circuit }];
  const stt = createSttFallback({ services, clock, log: quietLog().log });
  return new RecognizerRig(clock, stt, OPEN_SPEECH);
}

/** As the metric counts them. */
async function faultsOf({ name }: SpeechToText): Promise<number> {
  const { values } = await serviceFaults.get();
  const own = values.filter(({ labels }) => labels.kind === 'stt' && labels.service === name);
  return own.reduce((sum, { value }) => sum + value, 0);
}

const plain = (text: string): string => text.replace(/[.,?!]/g, '');

export function sessionEndContract(options: SessionEndOptions): void {
  const { name, counts, connectsAhead = true, streams = true, isAsked = true } = options;
  const opened: { close(): unknown }[] = [];

  async function connect(faults: SttFaults = {}) {
    const clock = new FakeClock();
    const under = await options.start(clock, faults);
    const { server, service } = under;
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: service.name });
    const rig = callAt(under, clock, circuit);
    opened.push(server, rig.recognizer, service);
    const count = connectsAhead ? 1 : 0;
    await vi.waitFor(() => expect(server.sessions()).toBe(count), { timeout: 20_000 });
    return { rig, server, service, clock, circuit };
  }

  describe(`at the end of a call, ${name}`, () => {
    afterEach(async () => {
      for (const each of opened.splice(0).reverse()) await each.close();
    });

    it('gives the last words of the caller and what is billed, and leaves no session', async () => {
      const { rig, server, service, clock } = await connect();
      const before = await faultsOf(service);
      await rig.says(SAID);
      await rig.recognizer.finish?.();
      expect(await faultsOf(service)).toBe(before);
      expect([plain(rig.text), rig.errors, server.violations]).toEqual([SAID, [], []]);
      expect(rig.usage).toHaveLength(1);
      const [usage] = rig.usage;
      expect(usage?.source).toBe(counts ? 'vendor' : 'counted');
      await vi.waitFor(() => expect(server.open()).toBe(0));
      await vi.waitFor(() => expect(usage?.amount).toBeCloseTo(server.seconds(), 1));
      await vi.waitFor(() => expect(clock.timers).toBe(0));
    });

    it('gives the words behind a turn that was answered, each once', async () => {
      const { rig, server } = await connect();
      await rig.turn('w1 w2');
      await rig.silence(2_600);
      await rig.says('w3 w4');
      await rig.recognizer.finish?.();
      expect([plain(rig.text), rig.errors, server.violations]).toEqual(['w1 w2 w3 w4', [], []]);
    });

    it('gives the words once that were asked for as the call ended', async () => {
      const { rig, server } = await connect();
      await rig.says('w1 w2');
      rig.recognizer.finalize();
      await rig.recognizer.finish?.();
      expect([plain(rig.text), rig.errors, server.violations]).toEqual(['w1 w2', [], []]);
    });

    it('waits two seconds at most for a service that says nothing more', async () => {
      const { rig, server, service, clock } = await connect({ stallAtMs: 300 });
      await rig.says('w1 w2 w3');
      let isOver = false;
      const end = rig.recognizer.finish?.().then(() => {
        isOver = true;
      });
      await vi.waitFor(() => expect(clock.timers).toBeGreaterThan(0));
      clock.advance(2_000);
      await end;
      expect([isOver, rig.errors]).toEqual([true, []]);
      expect(rig.usage[0]).toMatchObject({ service: service.name, source: 'counted' });
      await vi.waitFor(() => expect(server.open()).toBe(0));
      await vi.waitFor(() => expect(clock.timers).toBe(0));
    });

    it('counts a connection that breaks before the last words as a fault of the service', async ({
      skip,
    }) => {
      skip(!isAsked);
      const { rig, server, service, clock, circuit } = await connect({ stallAtMs: 300 });
      await rig.says('w1 w2 w3');
      // The next one opens it.
      for (let nth = 0; nth < 2; nth++) {
        circuit.failed(new ServiceFault('stt', service.name, 'network', { detail: 'x' }));
      }
      const before = await faultsOf(service);
      const end = rig.recognizer.finish?.();
      if (!connectsAhead) await vi.waitFor(() => expect(server.sessions()).toBe(1));
      await server.close();
      await end;
      clock.advance(60_000);
      expect([circuit.state, rig.errors, clock.timers]).toEqual(['half-open', [], 0]);
      expect(await faultsOf(service)).toBe(before + 1);
    });

    it('says goodbye to a service that the call leaves while it goes on', async () => {
      const { rig, server } = await connect();
      await rig.says('w1 w2');
      rig.recognizer.close();
      await vi.waitFor(() => expect(server.open()).toBe(0));
      const bills = streams ? 1 : 0;
      expect([rig.usage.length, rig.errors, server.violations]).toEqual([bills, [], []]);
    });

    it('asks for no last words where nothing was heard', async () => {
      const { rig, server } = await connect();
      await rig.recognizer.finish?.();
      expect([rig.finals, rig.errors, server.violations]).toEqual([[], [], []]);
    });
  });
}
