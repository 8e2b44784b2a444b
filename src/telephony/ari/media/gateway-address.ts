// The gateway's own address, as a PBX is given it for audio. Pure.

import { GatewayError } from '../../../errors/gateway-error.ts';

/** `host` with the name localhost made an address: a PBX may resolve it to ::1, where nothing listens. Throws PBX_MEDIA
 *  for an address of this machine alone, unless the PBX (`ariEndpoint`) is on it. */
export function addressForPbx(host: string, ariEndpoint: string): string {
  if (!isOwnMachine(host)) return host;
  if (!isOwnMachine(URL.parse(ariEndpoint)?.hostname ?? '')) {
    const reason = `the gateway calls itself ${host}, which is the PBX itself for the PBX: set PATCHBAY_MEDIA_HOST (or PATCHBAY_PUBLIC_URL) to the gateway's address as the PBX reaches it`;
    throw new GatewayError('PBX_MEDIA', { reason });
  }
  return host === 'localhost' ? '127.0.0.1' : host;
}

export function isOwnMachine(host: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+|\[?::1\]?)$/i.test(host);
}
