// Where requests of an organization may go: public addresses, and what the operator has opened beside
// them, by host name, address or network.

import { BlockList, isIP } from 'node:net';
import { isPublicAddress } from './public-address.ts';

/** Whether `address`, to which `host` resolved, may be called. */
export type SsrfGuard = (address: string, host: string) => boolean;

/** `opened` holds host names, addresses and networks, as in `crm.internal`, `10.1.0.0/16`. */
export function ssrfGuard(opened: readonly string[]): SsrfGuard {
  const networks = new BlockList();
  const hosts = new Set<string>();
  for (const each of opened) {
    const [address = '', bits] = each.split('/');
    const version = isIP(address);
    const family = version === 6 ? 'ipv6' : 'ipv4';
    if (version === 0) hosts.add(each.toLowerCase());
    else if (bits === undefined) networks.addAddress(address, family);
    else networks.addSubnet(address, Number(bits), family);
  }
  return (address, host) => {
    if (isPublicAddress(address)) return true;
    const version = isIP(address);
    if (version === 0) return false;
    if (hosts.has(host.toLowerCase())) return true;
    return networks.check(address, version === 6 ? 'ipv6' : 'ipv4');
  };
}
