// Checks whether a provider reaches this gateway: its public address, a request to it, and the upgrade of a media socket.

import { isIP } from 'node:net';
import { addressClass } from '../../egress/address-class.ts';
import type { CheckOutcome } from '../provider/check.ts';
import { fail, pass } from '../provider/check.ts';
import type { SelfCall } from './self-call.ts';

const LOCAL_NAME = /^(localhost|.*\.(local|localhost|internal|home\.arpa))$/i;

/** Finding about the public URL itself, before any request. */
export function addressOutcome(publicUrl: string): CheckOutcome {
  const url = URL.parse(publicUrl);
  const advice =
    'Set PATCHBAY_PUBLIC_URL to the https:// address at which the internet reaches this gateway, and restart it.';
  if (url === null || isLocal(url.hostname)) {
    return fail(`Providers cannot reach ${publicUrl}.`, advice);
  }
  if (url.protocol !== 'https:') {
    return fail(`${publicUrl} has no TLS: providers open media sockets over wss:// alone.`, advice);
  }
  return pass(publicUrl);
}

function isLocal(hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return isIP(address) === 0 ? LOCAL_NAME.test(hostname) : addressClass(address) !== 'public';
}

export function healthOutcome(call: SelfCall, publicUrl: string): CheckOutcome {
  if (call.kind === 'ours') return pass(`This gateway answers at ${publicUrl}.`);
  if (call.kind === 'failed') return unreached(call, publicUrl);
  return fail(
    `Something else answers at ${publicUrl}, with ${call.status}.`,
    'Let the proxy lead /api/v1/ to this gateway, or correct PATCHBAY_PUBLIC_URL.',
  );
}

export function mediaOutcome(call: SelfCall, publicUrl: string): CheckOutcome {
  const address = publicUrl.replace(/^http/, 'ws');
  if (call.kind === 'ours') return pass(`Media sockets open at ${address}.`);
  if (call.kind === 'failed') return unreached(call, publicUrl);
  return fail(
    `The upgrade of a media socket is answered with ${call.status}: calls would be silent.`,
    'The proxy must pass websockets on: HTTP/1.1 to the gateway, with the headers Upgrade and Connection.',
  );
}

function unreached(
  { code, isCertain }: Extract<SelfCall, { kind: 'failed' }>,
  publicUrl: string,
): CheckOutcome {
  if (isCertain) {
    const advice =
      code === 'ENOTFOUND'
        ? 'Correct PATCHBAY_PUBLIC_URL, or the name in the DNS.'
        : 'Providers refuse a certificate that is not trusted: install one of a public authority, with its chain.';
    return fail(`${publicUrl} does not work: ${code}.`, advice);
  }
  return {
    verdict: 'skip',
    message: `Cannot tell: ${publicUrl} is not reached from here (${code}), as behind many routers.`,
    advice: `From another network: curl ${publicUrl}/api/v1/health`,
  };
}
