// The API with the hosts of speech services, and an agent that is made anew for each test.

import { afterAll, beforeEach } from 'vitest';
import { startServiceHosts } from '../../fakes/services/service-hosts.ts';
import { smallWorkflow, withApi } from '../served.ts';

export const KEY = 'sk-0123456789abcdef';
export const MASK = '************cdef';

export async function withServiceHosts() {
  const hosts = await startServiceHosts();
  afterAll(() => hosts.close());
  const served = withApi(() => ({ egress: hosts.egress }));
  const world = { hosts, served, id: '' };
  beforeEach(async () => {
    hosts.asked.length = 0;
    hosts.answer = () => ({ status: 200 });
    const sent = { name: 'agent', workflow_definition: smallWorkflow };
    world.id = (await served.ok('POST', '/workflow/create/definition', sent)).id;
  });
  return world;
}
