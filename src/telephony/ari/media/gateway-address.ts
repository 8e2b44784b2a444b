// The gateway's own address for audio, as a PBX receives it.

import { hostname, networkInterfaces } from 'node:os';
import { GatewayError } from '../../../errors/gateway-error.ts';
import type { AriAccount } from '../rest/config.ts';

type PbxAddress = Pick<AriAccount, 'connection' | 'ari_endpoint'>;

/** `host` with the name localhost replaced by an address: a PBX may resolve the name to ::1, where nothing listens.
 *  Throws PBX_MEDIA for a loopback address, unless the PBX may be on this machine. */
export function addressForPbx(host: string, pbx: PbxAddress): string {
  if (!isLoopback(host)) return host;
  if (!mayBeOnThisMachine(pbx)) {
    const reason = `the gateway calls itself ${host}, which is the PBX itself for the PBX: set PATCHBAY_MEDIA_HOST (or PATCHBAY_PUBLIC_URL) to the gateway's address as the PBX reaches it`;
    throw new GatewayError('PBX_MEDIA', { reason });
  }
  return host === 'localhost' ? '127.0.0.1' : host;
}

/** Whether `host` is a loopback address, which means each machine itself. */
export function isLoopback(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}

/** Whether the PBX may be on this machine; false if its address is that of another one. Where the PBX opens the
 *  connection, its address is not known. */
export function mayBeOnThisMachine({ connection, ari_endpoint }: PbxAddress): boolean {
  const host = URL.parse(ari_endpoint)?.hostname ?? '';
  if (connection !== 'outgoing' || isLoopback(host)) return true;
  if (host === hostname().toLowerCase()) return true;
  const addresses = Object.values(networkInterfaces()).flatMap((each) => each ?? []);
  return addresses.some(({ address }) => address === host.replace(/^\[|\]$/g, ''));
}
