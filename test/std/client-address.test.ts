// Who asks, behind proxies that are trusted and those that are not.

import { expect, it } from 'vitest';
import { clientBehind } from '../../src/std/client-address.ts';

it.each([
  ['the peer, without a proxy', [], '203.0.113.9', undefined, '203.0.113.9'],
  ['the peer, if it is no proxy', ['loopback'], '203.0.113.9', '10.0.0.1', '203.0.113.9'],
  ['who a trusted proxy names', ['loopback'], '127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['the same in IPv6 form', ['loopback'], '::ffff:127.0.0.1', '203.0.113.9', '203.0.113.9'],
  ['the last that is no proxy', ['10.0.0.0/8'], '10.0.0.1', '1.1.1.1, 2.2.2.2,10.0.0.2', '2.2.2.2'],
  ['the proxy, if it names nobody', ['uniquelocal'], '192.168.1.1', '', '192.168.1.1'],
  ['the first, if all are proxies', ['loopback'], '::1', '127.0.0.2, 127.0.0.1', '127.0.0.2'],
  ['what is no address, as it is', ['fd00::/8'], 'fd00::1', 'unknown', 'unknown'],
])('the client is %s', (_, proxies, peer, forwarded, client) => {
  expect(clientBehind(proxies)(peer, forwarded)).toBe(client);
});
