import { describe, expect, it } from 'vitest';
import { healthOf, mergedNotes, type ServiceNotes } from '../../../src/model/service-state.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { serviceStates } from '../../../src/speech/service/service-states.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

const fault = (service: string) => new ServiceFault('stt', service, 'network', { detail: 'x' });
const notesOf = (name: string) => serviceStates.all.filter(({ service }) => service === name);

describe('the state of a service', () => {
  it('is what its circuit breakers found last', () => {
    const clock = new FakeClock();
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'one' });
    expect(notesOf('one')).toEqual([]);
    circuit.succeeded();
    const [healthy] = notesOf('one');
    expect(healthy).toEqual({
      job: 'stt',
      service: 'one',
      openCircuits: 0,
      openSinceMs: null,
      lastFault: null,
      lastSuccessMs: clock.now(),
    });
    clock.advance(1_000);
    circuit.failed(fault('one'));
    const faultMs = clock.now();
    expect(notesOf('one')).toMatchObject([{ lastFault: { kind: 'network', atMs: faultMs } }]);
    expect(notesOf('one').map(healthOf)).toEqual(['failing']);
  });

  it('has since when calls pass by the account, until a probe succeeds', () => {
    const clock = new FakeClock();
    const account = new CircuitBreaker({ clock, job: 'stt', service: 'two' });
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'two', account });
    for (let times = 0; times < 3; times += 1) circuit.failed(fault('two'));
    const openSinceMs = clock.now();
    clock.advance(16_000);
    expect(circuit.admit()).toBe(true);
    circuit.failed(fault('two'));
    expect(notesOf('two')).toMatchObject([{ openCircuits: 1, openSinceMs }]);
    expect(notesOf('two').map(healthOf)).toEqual(['open']);
    clock.advance(31_000);
    circuit.admit();
    circuit.succeeded();
    expect(notesOf('two')).toMatchObject([{ openCircuits: 0, openSinceMs: null }]);
    expect(notesOf('two').map(healthOf)).toEqual(['healthy']);
  });

  it('forgets an open circuit that no call probes', () => {
    const clock = new FakeClock();
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'three' });
    for (let times = 0; times < 3; times += 1) circuit.failed(fault('three'));
    clock.advance(15_000 + 300_000);
    expect(notesOf('three')).toMatchObject([{ openCircuits: 0 }]);
  });
});

describe('the notes of several processes', () => {
  const notes = (more: Partial<ServiceNotes>): ServiceNotes => ({
    job: 'tts',
    service: 'a',
    openCircuits: 0,
    openSinceMs: null,
    lastFault: null,
    lastSuccessMs: null,
    ...more,
  });

  it('are one for each service, with what happened last', () => {
    const merged = mergedNotes([
      [notes({ openCircuits: 1, openSinceMs: 50, lastFault: { kind: 'rate', atMs: 50 } })],
      [notes({ lastFault: { kind: 'timeout', atMs: 70 }, lastSuccessMs: 60 })],
      [notes({ openCircuits: 2, openSinceMs: 40 }), notes({ service: 'b', lastSuccessMs: 1 })],
    ]);
    expect(merged).toEqual([
      notes({
        openCircuits: 3,
        openSinceMs: 40,
        lastFault: { kind: 'timeout', atMs: 70 },
        lastSuccessMs: 60,
      }),
      notes({ service: 'b', lastSuccessMs: 1 }),
    ]);
    expect(healthOf(notes({}))).toBe('untried');
  });
});
