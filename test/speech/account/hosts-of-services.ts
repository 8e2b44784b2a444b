// The hosts of services and a clock, for checks of keys and voices: made anew for each test.

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { type ServiceHosts, startServiceHosts } from '../../fakes/services/service-hosts.ts';

export const KEY = 'sk-0123456789abcdef';

export function withHosts(): { hosts: ServiceHosts; clock: FakeClock } {
  const world = {} as { hosts: ServiceHosts; clock: FakeClock };
  beforeAll(async () => {
    world.hosts = await startServiceHosts();
  });
  afterAll(() => world.hosts.close());
  beforeEach(() => {
    world.clock = new FakeClock();
    world.hosts.asked.length = 0;
    world.hosts.answer = () => ({ status: 200 });
  });
  return world;
}
