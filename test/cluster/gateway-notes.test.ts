import { describe, expect, it } from 'vitest';
import { GatewayNotes, type NotedHere } from '../../src/cluster/gateway-notes.ts';
import { FakeClock } from '../fakes/fake-clock.ts';
import { type LinkedGateways, linkedGateways } from './linked-gateways.ts';

function join(name: string, on: LinkedGateways, clock: FakeClock) {
  const noted: unknown[] = [];
  const here: NotedHere = {
    onCampaignDue: () => noted.push('campaign'),
    onTelephonyChanged: () => noted.push('telephony'),
    onCompleted: () => noted.push('completed'),
    onPaused: (...paused) => noted.push(paused),
    onAdopted: (call) => noted.push(call),
  };
  const bus = on.join(name);
  return { bus, notes: new GatewayNotes(bus, { clock, here }), noted };
}

function three() {
  const clock = new FakeClock();
  const on = linkedGateways(clock);
  const [a, b, c] = ['a', 'b', 'c:/data'].map((name) => join(name, on, clock));
  if (!a || !b || !c) throw new Error('three gateways');
  return { clock, on, a, b, c };
}

describe('a note between gateways', () => {
  it('of a campaign, of telephony or of a pause reaches all others at once', () => {
    const { a, b, c } = three();
    a.notes.campaignDue();
    a.notes.telephonyChanged();
    a.notes.paused('7', 250);
    expect(b.noted).toEqual(['campaign', 'telephony', ['7', 250]]);
    expect(c.noted).toEqual(b.noted);
    expect(a.noted).toEqual([]);
  });

  it('of ended calls is one for all of a fifth of a second', () => {
    const { clock, a, b } = three();
    for (let n = 0; n < 50; n += 1) a.notes.completed();
    expect(b.noted).toEqual([]);
    clock.advance(200);
    expect(b.noted).toEqual(['completed']);
    a.notes.completed();
    clock.advance(200);
    expect(b.noted).toHaveLength(2);
  });

  it('of an adopted call reaches the gateway of its former owner, and no other', () => {
    const { a, b, c } = three();
    const call = { runId: '9', from: 'c:/data#2' };
    a.notes.adopted(call);
    expect(c.noted).toEqual([call]);
    expect(b.noted).toEqual([]);
  });

  it('of another form has no effect, and a pause is never longer than a minute', () => {
    const { on, a, b } = three();
    for (const body of [undefined, { configurationId: '7' }, { configurationId: '7', ms: 1e9 }]) {
      a.bus.notify('b', 'paused', body);
    }
    expect(b.noted).toEqual([]);
    expect(on.lines()).toHaveLength(3);
  });
});
