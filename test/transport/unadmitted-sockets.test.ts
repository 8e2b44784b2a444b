// Budgets of sockets that nobody has admitted yet.

import { expect, it } from 'vitest';
import { UnadmittedSockets } from '../../src/transport/unadmitted-sockets.ts';

function budget(isPbx?: (client: string) => boolean) {
  const limits = { socketsMax: 4, socketsOfClientMax: 3, socketsOfPbxsMax: 2 };
  const sockets = new UnadmittedSockets({ limits, ...(isPbx && { isPbx }) });
  const evicted: string[] = [];
  const enter = (client: string, name: string) => sockets.enter(client, () => evicted.push(name));
  return { sockets, evicted, enter };
}

it('a client beyond its own share loses its oldest socket', () => {
  const { sockets, evicted, enter } = budget();
  for (const name of ['a', 'b', 'c', 'd']) enter('192.0.2.1', name);
  expect(evicted).toEqual(['a']);
  expect(sockets.size).toBe(3);
});

it('a newcomer to a full budget gets the place of the largest holder', () => {
  const { sockets, evicted, enter } = budget();
  enter('192.0.2.2', 'one');
  for (const name of ['a', 'b', 'c']) enter('192.0.2.1', name);
  enter('192.0.2.3', 'new');
  expect(evicted).toEqual(['a']);
  expect(sockets.size).toBe(4);
});

it('addresses of one network of 64 bits are one client', () => {
  const { evicted, enter } = budget();
  for (const name of ['a', 'b', 'c', 'd']) enter(`2001:db8:0:1::${name}`, name);
  expect(evicted).toEqual(['a']);
});

it('a socket that was admitted or closed gives its place back once', () => {
  const { sockets, evicted, enter } = budget();
  const leave = enter('192.0.2.1', 'a');
  leave();
  leave();
  expect(sockets.size).toBe(0);
  for (const name of ['b', 'c', 'd']) enter('192.0.2.1', name);
  expect(evicted).toEqual([]);
});

it('strangers take no place of a known PBX, and it none of theirs', () => {
  const { evicted, enter } = budget((client) => client === '192.0.2.9');
  enter('192.0.2.9', 'pbx');
  for (let i = 0; i < 100; i += 1) enter(`198.51.100.${i}`, `stranger ${i}`);
  expect(evicted).not.toContain('pbx');
  expect(evicted).toHaveLength(96);
});
