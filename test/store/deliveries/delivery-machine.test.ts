// Deliveries under random failures and kills of the processes that send them: each is sent, is not sent
// again once its success is stored, and never more than five times. Source: contract §8.10, appendix B.

import fc from 'fast-check';
import { expect, it } from 'vitest';
import { retryMs } from '../../../src/call/end/after/webhook-delivery.ts';
import type { Delivery } from '../../../src/store/deliveries/webhook-deliveries.ts';
import { rounds } from '../../rounds.ts';
import { withStore } from '../engines.ts';
import {
  completedRun,
  type Ground,
  ground,
  otherOrganization,
  webhook,
} from '../runs/completed-runs.ts';

const at = withStore();
const CLAIM = { limit: 4, except: [], leaseMs: 60_000, attemptsMax: 5 };

/** What becomes of one attempt. */
const fates = ['delivered', 'busy', 'refused', 'killed-before', 'killed-after', 'late'] as const;
type Fate = (typeof fates)[number];

class World {
  readonly sends = new Map<string, number>();
  readonly kills = new Map<string, number>();
  /** Delivered, and the store knows. */
  readonly done = new Set<string>();
  /** Successes that are reported after the lease has passed on. */
  late: Delivery[] = [];

  async attempt(delivery: Delivery, fate: Fate): Promise<void> {
    const { id, claims, attempts } = delivery;
    expect(this.done.has(id)).toBe(false);
    expect(attempts).toBeLessThanOrEqual(5);
    if (delivery.state === 'dead_letter') return;
    if (fate === 'killed-before') return this.#count(this.kills, id);
    this.#count(this.sends, id);
    if (fate === 'killed-after') return this.#count(this.kills, id);
    if (fate === 'late') {
      this.late.push(delivery);
      return this.#count(this.kills, id);
    }
    const facts = { responseStatus: 503, responseExcerpt: '', error: 'busy' };
    const isOver = fate === 'refused' || attempts >= 5;
    if (fate === 'delivered') await this.deliver(id, claims);
    else if (isOver)
      await at.store.deliveries.report(id, claims, { state: 'dead_letter', ...facts });
    else {
      const again = { state: 'pending', retryMs: retryMs(attempts), ...facts } as const;
      await at.store.deliveries.report(id, claims, again);
    }
  }

  async deliver(id: string, claims: number): Promise<void> {
    const outcome = { state: 'delivered', responseStatus: 200, responseExcerpt: '' } as const;
    await at.store.deliveries.report(id, claims, outcome);
    this.done.add(id);
  }

  async reportLate(): Promise<void> {
    for (const { id, claims } of this.late) await this.deliver(id, claims);
    this.late = [];
  }

  #count(counts: Map<string, number>, id: string): void {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
}

async function make(on: readonly Ground[]): Promise<void> {
  for (const each of on) {
    const run = await completedRun(at, each);
    await at.store.afterworks.finish(run.id, [webhook(), webhook({ nodeId: 'b' })]);
  }
}

interface Step {
  fates: Fate[];
  passMs: number;
  reportsLate: boolean;
}

async function play(world: World, steps: readonly Step[]): Promise<void> {
  for (const { fates: drawn, passMs, reportsLate } of steps) {
    const claimed = await at.store.deliveries.claim(CLAIM);
    for (const [i, delivery] of claimed.entries()) {
      await world.attempt(delivery, drawn[i] ?? 'delivered');
    }
    at.clock.advance(passMs);
    if (reportsLate) await world.reportLate();
  }
}

/** Nothing fails any more. */
async function calmDown(world: World): Promise<void> {
  for (let i = 0; i < 12; i++) {
    at.clock.advance(600_000);
    const claimed = await at.store.deliveries.claim(CLAIM);
    for (const delivery of claimed) await world.attempt(delivery, 'delivered');
  }
}

async function check(world: World, { organizationId }: Ground): Promise<void> {
  const page = { limit: 10, offset: 0 };
  const { deliveries } = await at.store.deliveries.list(organizationId, page);
  expect(deliveries).toHaveLength(2);
  for (const { id, state } of deliveries) {
    expect(['delivered', 'dead_letter']).toContain(state);
    expect(state === 'delivered').toBe(world.done.has(id));
    const sends = world.sends.get(id) ?? 0;
    expect(sends).toBeLessThanOrEqual(5);
    if ((world.kills.get(id) ?? 0) < 5) expect(sends).toBeGreaterThanOrEqual(1);
  }
}

it('every delivery is sent, never again once it is known to be delivered, at most five times', async () => {
  const on = [await ground(at), await ground(at, await otherOrganization(at))];
  const step = fc.record({
    fates: fc.array(fc.constantFrom(...fates), { minLength: 4, maxLength: 4 }),
    passMs: fc.constantFrom(0, 1_000, 30_000, 60_000, 240_000),
    reportsLate: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await at.sql('delete from deliveries');
      await make(on);
      const world = new World();
      await play(world, steps);
      await calmDown(world);
      for (const each of on) await check(world, each);
    }),
    { numRuns: rounds(25, 50) },
  );
}, 60_000);
