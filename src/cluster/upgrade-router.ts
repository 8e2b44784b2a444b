// Routes an upgrade of the API's port to a call worker: media of hosted providers by the worker in their signed token,
// sockets of PBXs by their application. Everything else is answered at once, in HTTP.

import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PBX_PATH } from '../telephony/provider/pbx.ts';
import {
  isWebMedia,
  MEDIA_PATH,
  type MediaTokenSigner,
  mediaPathOf,
} from '../transport/media-token.ts';
import { refuseUpgrade } from '../transport/upgrade-refusal.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { PBX_WORKER } from './ipc-message.ts';
import { type AcceptUpgrade, handOffSocket } from './socket-handoff.ts';

export interface UpgradeTargets {
  /** Numbers of the running workers. */
  readonly numbers: readonly number[];
  /** The worker that holds the PBX of that application. */
  ofApplication(application: string): number;
  /** The worker for one more call; undefined if none is running. */
  nextNumber(): number | undefined;
}

export interface UpgradeRouting {
  workers: UpgradeTargets;
  /** Label of this gateway in tokens. */
  label: string;
  signer: Pick<MediaTokenSigner, 'verified'>;
}

/** Handles the `upgrade` events of the API's server. */
export function routeUpgrades(link: IpcChannel, routing: UpgradeRouting): AcceptUpgrade {
  const { workers } = routing;
  return (request, socket, head) => {
    const worker = workerOf(request, routing);
    if (!isHttp11(request)) refuseUpgrade(socket, '400 Bad Request');
    else if (worker === undefined) refuseUpgrade(socket, '404 Not Found');
    else if (request.method !== 'GET') refuseUpgrade(socket, '405 Method Not Allowed');
    else if (!workers.numbers.includes(worker)) refuseUpgrade(socket, '503 Service Unavailable');
    else if (socket instanceof Socket) void handOff(link, worker, { request, socket, head });
    else refuseUpgrade(socket, '500 Internal Server Error'); // Our servers have no other sockets.
  };
}

async function handOff(...wanted: Parameters<typeof handOffSocket>): Promise<void> {
  if (await handOffSocket(...wanted)) return;
  refuseUpgrade(wanted[2].socket, '503 Service Unavailable');
}

/** Whether a request may be upgraded: upgrades need HTTP/1.1 (RFC 9110, 7.8) and one host. Node's server checks
 *  neither for upgrades. */
export function isHttp11({ httpVersion, rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((_each, i) => i % 2 === 0);
  const hosts = names.filter((name) => name.toLowerCase() === 'host');
  return httpVersion === '1.1' && hosts.length === 1;
}

type Upgrade = Pick<IncomingMessage, 'url' | 'headers'>;

/** The worker for an upgrade; undefined for an unknown path. */
export function workerOf(request: Upgrade, routing: UpgradeRouting): number | undefined {
  const { workers } = routing;
  const { url = '' } = request;
  if (isWebMedia(request)) return workerOfMedia(request, routing);
  const path = url.split('?', 1)[0] ?? '';
  if (path.startsWith(PBX_PATH)) return workers.ofApplication(path.slice(PBX_PATH.length));
  if (!path.startsWith(MEDIA_PATH)) return undefined;
  const words = path.slice(MEDIA_PATH.length).split('/');
  const [, application] = words;
  // The words are a PBX and perhaps its application; or a workflow, an organization, a run and a token.
  if (words.length <= 2) return application ? workers.ofApplication(application) : PBX_WORKER;
  return workerOfMedia(request, routing);
}

/** The worker that issued the token. If it is not running, or belongs to another gateway, any worker may adopt the
 *  call. */
function workerOfMedia(request: Upgrade, { workers, label, signer }: UpgradeRouting): number {
  const path = mediaPathOf(request);
  const token = path && signer.verified(path);
  if (token === undefined) return PBX_WORKER; // It refuses the token.
  if (token.label === label && workers.numbers.includes(token.worker)) return token.worker;
  return workers.nextNumber() ?? PBX_WORKER;
}
