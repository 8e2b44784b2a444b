// The gateway's own address, as a PBX is given it for audio.

import { hostname, networkInterfaces } from 'node:os';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { AriAccount } from '../rest/config.ts';

type PbxAddress = Pick<AriAccount, 'connection' | 'ari_endpoint'>;

/** `host` with the name localhost made an address: a PBX may resolve it to ::1, where nothing listens. Throws PBX_MEDIA
 *  for an address of this machine alone, unless the PBX may be on it. */
export function addressForPbx(host: string, pbx: PbxAddress): string {
  if (!isLoopback(host)) return host;
  if (!mayBeOnThisMachine(pbx)) {
    const reason = `the gateway calls itself ${host}, which is the PBX itself for the PBX: set PATCHBAY_MEDIA_HOST (or PATCHBAY_PUBLIC_URL) to the gateway's address as the PBX reaches it`;
    throw new GatewayError('PBX_MEDIA', { reason });
  }
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** An address of each machine itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}

/** False if its address is another machine's. Where the PBX opens the connection, its address is not known. */
export function mayBeOnThisMachine({ connection, ari_endpoint }: PbxAddress): boolean {
  const host = URL.parse(ari_endpoint)?.hostname ?? '';
  if (connection !== 'outgoing' || isLoopback(host)) return true;
  if (host === hostname().toLowerCase()) return true;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.some(({ address }) => address === host.replace(/^\[|\]$/g, ''));
}
