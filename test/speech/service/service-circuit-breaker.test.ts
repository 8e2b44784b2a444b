import { describe, expect, it } from 'vitest';
import { openCircuits } from '../../../src/metrics/speech-metrics.ts';
import { CircuitBreaker } from '../../../src/speech/service/service-circuit-breaker.ts';
import { type FaultKind, ServiceFault } from '../../../src/speech/service/service-fault.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';

function breaker() {
  const clock = new FakeClock();
  const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'acme' });
  const fail = (kind: FaultKind, retryAfterMs?: number) =>
    circuit.failed(new ServiceFault('stt', 'acme', kind, { detail: 'x', retryAfterMs }));
  return { clock, circuit, fail };
}

describe('a circuit breaker', () => {
  it('opens after three transient faults in a row within a minute', () => {
    const { circuit, fail, clock } = breaker();
    fail('network');
    fail('network');
    clock.advance(60_000);
    fail('timeout');
    fail('overload');
    expect(circuit.admit()).toBe(true);
    fail('network');
    expect(circuit.admit()).toBe(false);
    expect(circuit.state).toBe('open');
  });

  it('has the last fault while calls pass it by, that of its account included', () => {
    const { circuit, fail, clock } = breaker();
    expect(circuit.lastFault).toBeUndefined();
    for (const kind of ['network', 'timeout', 'overload'] as const) fail(kind);
    expect(circuit.lastFault?.kind).toBe('overload');
    const own = new CircuitBreaker({ clock, job: 'stt', service: 'acme', account: circuit });
    expect(own.lastFault?.kind).toBe('overload');
    clock.advance(15_000);
    circuit.admit();
    circuit.succeeded();
    expect([circuit.lastFault, own.lastFault]).toEqual([undefined, undefined]);
  });

  it('opens when more than three in ten of the last twenty results are faults', () => {
    const { circuit, fail } = breaker();
    const stateAfter = (results: string) => {
      for (const result of results) {
        if (result === 'F') fail('timeout');
        else circuit.succeeded();
      }
      return circuit.state;
    };
    expect(stateAfter('FSSS'.repeat(10))).toBe('closed');
    expect(stateAfter('FSS'.repeat(7))).toBe('open');
  });

  it('admits one probe after its pause, and closes when it succeeds', () => {
    const { circuit, fail, clock } = breaker();
    for (let i = 0; i < 3; i++) fail('network');
    clock.advance(14_999);
    expect(circuit.admit()).toBe(false);
    clock.advance(1);
    expect([circuit.admit(), circuit.admit()]).toEqual([true, false]);
    circuit.succeeded();
    expect([circuit.admit(), circuit.admit()]).toEqual([true, true]);
  });

  it('doubles its pause with each failed probe, to five minutes', () => {
    const { circuit, fail, clock } = breaker();
    for (let i = 0; i < 3; i++) fail('network');
    for (const pauseMs of [15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]) {
      clock.advance(pauseMs - 1);
      expect(circuit.admit()).toBe(false);
      clock.advance(1);
      expect(circuit.admit()).toBe(true);
      fail('timeout');
    }
  });

  it('admits another probe when one does not report', () => {
    const { circuit, fail, clock } = breaker();
    for (let i = 0; i < 3; i++) fail('network');
    clock.advance(15_000);
    expect(circuit.admit()).toBe(true);
    clock.advance(29_999);
    expect(circuit.admit()).toBe(false);
    clock.advance(1);
    expect(circuit.admit()).toBe(true);
  });

  it('opens at once for five minutes when a key is refused', () => {
    const { circuit, fail, clock } = breaker();
    fail('auth');
    clock.advance(299_999);
    expect(circuit.admit()).toBe(false);
    clock.advance(1);
    expect(circuit.admit()).toBe(true);
  });

  it('opens for as long as a rate limit asks', () => {
    const { circuit, fail, clock } = breaker();
    fail('rate', 3_000);
    clock.advance(2_999);
    expect(circuit.state).toBe('open');
    clock.advance(1);
    expect(circuit.state).toBe('half-open');
  });

  it('rests no shorter because of a fault of a call that began before', () => {
    const { circuit, fail, clock } = breaker();
    fail('auth');
    fail('rate', 1_000);
    clock.advance(299_999);
    expect(circuit.state).toBe('open');
    clock.advance(1);
    expect(circuit.state).toBe('half-open');
  });

  it('begins with the first pause again once it has closed', () => {
    const { circuit, fail, clock } = breaker();
    for (let i = 0; i < 3; i++) fail('network');
    clock.advance(15_000);
    expect(circuit.admit()).toBe(true);
    fail('timeout');
    clock.advance(30_000);
    expect(circuit.admit()).toBe(true);
    circuit.succeeded();
    for (let i = 0; i < 3; i++) fail('network');
    clock.advance(14_999);
    expect(circuit.state).toBe('open');
    clock.advance(1);
    expect(circuit.state).toBe('half-open');
  });

  it.each([
    ['a session reached its longest time', 'session'],
    ['a conversation is longer than a model takes', 'context'],
  ] as const)('stays closed when %s', (_, kind) => {
    const { circuit, fail } = breaker();
    for (let i = 0; i < 10; i++) fail(kind);
    expect(circuit.state).toBe('closed');
  });

  it('is not closed by calls that began before it opened', () => {
    const { circuit, fail } = breaker();
    for (let i = 0; i < 3; i++) fail('network');
    circuit.succeeded();
    expect(circuit.admit()).toBe(false);
  });

  it('is counted while it is open, whatever other accounts of the service do', async () => {
    const openOf = async () => {
      const { values } = await openCircuits.gauge.get();
      return values.find(({ labels }) => labels.service === 'acme')?.value ?? 0;
    };
    const before = await openOf();
    const [one, other] = [breaker(), breaker()];
    one.fail('auth');
    one.fail('auth');
    other.fail('quota');
    expect((await openOf()) - before).toBe(2);
    other.clock.advance(300_000);
    other.circuit.admit();
    other.circuit.succeeded();
    other.circuit.succeeded();
    expect((await openOf()) - before).toBe(1);
    // Its key was replaced: no call tries it any more. From the pause of a permanent fault on.
    one.clock.advance(600_000);
    expect((await openOf()) - before).toBe(0);
  });

  it('names the permanent fault until the service works again', () => {
    const { circuit, fail, clock } = breaker();
    fail('network');
    expect(circuit.permanentFault).toBeUndefined();
    fail('quota');
    expect(circuit.permanentFault?.kind).toBe('quota');
    clock.advance(300_000);
    expect(circuit.permanentFault?.kind).toBe('quota');
    expect(circuit.admit()).toBe(true);
    circuit.succeeded();
    expect(circuit.permanentFault).toBeUndefined();
  });

  it('leaves the probe of the account to another call, where its own circuit refuses one', () => {
    const clock = new FakeClock();
    const fault = (kind: FaultKind) => new ServiceFault('stt', 'acme', kind, { detail: 'x' });
    const account = new CircuitBreaker({ clock, job: 'stt', service: 'acme' });
    const [one, other] = [1, 2].map(
      () => new CircuitBreaker({ clock, job: 'stt', service: 'acme', account }),
    ) as [CircuitBreaker, CircuitBreaker];
    one.failed(fault('request'));
    clock.advance(300_000);
    expect([one.state, one.admit()]).toEqual(['half-open', true]);
    for (let i = 0; i < 3; i++) account.failed(fault('network'));
    clock.advance(15_000);
    // Its own probe has not reported yet: the call is refused before the account is asked.
    expect([account.state, one.admit()]).toEqual(['half-open', false]);
    expect(other.admit()).toBe(true);
    expect(other.admit()).toBe(false);
    account.succeeded();
    expect(other.admit()).toBe(true);
  });

  it.each(['request', 'forbidden', 'session', 'context'] as const)(
    'leaves the probe of the account to another call at once, where its own ends with a fault of %s alone',
    (kind) => {
      const clock = new FakeClock();
      const fault = (of: FaultKind) => new ServiceFault('stt', 'acme', of, { detail: 'x' });
      const account = new CircuitBreaker({ clock, job: 'stt', service: 'acme' });
      const [one, other, third] = [1, 2, 3].map(
        () => new CircuitBreaker({ clock, job: 'stt', service: 'acme', account }),
      ) as [CircuitBreaker, CircuitBreaker, CircuitBreaker];
      for (let i = 0; i < 3; i++) account.failed(fault('network'));
      clock.advance(15_000);
      expect([one.admit(), other.admit()]).toEqual([true, false]);
      one.failed(fault(kind));
      expect(account.state).toBe('half-open');
      expect([other.admit(), third.admit()]).toEqual([true, false]);
      // The call of another one may still report: it is not the probe.
      one.failed(fault(kind));
      expect(third.admit()).toBe(false);
      other.succeeded();
      expect(third.admit()).toBe(true);
    },
  );

  it('leaves its own probe to another call at once, where a session reached its longest time', () => {
    const { circuit, fail, clock } = breaker();
    for (let i = 0; i < 3; i++) fail('network');
    clock.advance(15_000);
    expect([circuit.admit(), circuit.admit()]).toEqual([true, false]);
    fail('session');
    expect([circuit.admit(), circuit.admit()]).toEqual([true, false]);
  });

  it('keeps its own probe where the account refuses a call', () => {
    const clock = new FakeClock();
    const fault = (kind: FaultKind) => new ServiceFault('stt', 'acme', kind, { detail: 'x' });
    const account = new CircuitBreaker({ clock, job: 'stt', service: 'acme' });
    const circuit = new CircuitBreaker({ clock, job: 'stt', service: 'acme', account });
    circuit.failed(fault('request'));
    clock.advance(300_000);
    account.failed(fault('rate'));
    expect(circuit.admit()).toBe(false);
    clock.advance(10_000);
    expect(circuit.admit()).toBe(true);
  });
});
