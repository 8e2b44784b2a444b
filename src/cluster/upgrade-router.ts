// Routes an upgrade of the API's port to a call worker: media of hosted providers by the worker in their token, sockets
// of PBXs by their application. Everything else is answered at once, in HTTP.

import type { IncomingMessage } from 'node:http';
import { Socket } from 'node:net';
import { PBX_PATH } from '../telephony/provider/pbx.ts';
import { MEDIA_PATH, workerOfToken } from '../transport/media-token.ts';
import { refuseUpgrade } from '../transport/upgrade-refusal.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { PBX_WORKER } from './ipc-message.ts';
import { type AcceptUpgrade, handOffSocket } from './socket-handoff.ts';

export interface UpgradeTargets {
  /** Numbers of the running workers. */
  readonly numbers: readonly number[];
  /** The worker that holds the PBX of that application. */
  ofApplication(application: string): number;
}

/** Handles the `upgrade` events of the API's server. */
export function routeUpgrades(link: IpcChannel, workers: UpgradeTargets): AcceptUpgrade {
  return (request, socket, head) => {
    const worker = workerOf(request.url ?? '', workers);
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

/** The worker for a URL; undefined for an unknown path. */
export function workerOf(url: string, workers: UpgradeTargets): number | undefined {
  const path = url.split('?', 1)[0] ?? '';
  if (path.startsWith(PBX_PATH)) return workers.ofApplication(path.slice(PBX_PATH.length));
  if (!path.startsWith(MEDIA_PATH)) return undefined;
  const words = path.slice(MEDIA_PATH.length).split('/');
  const [, application] = words;
  // The words are a PBX and perhaps its application; or a workflow, an organization, a run and a token.
  if (words.length <= 2) return application ? workers.ofApplication(application) : PBX_WORKER;
  // A worker refuses a token that names none.
  return workerOfToken(words.filter(Boolean).at(-1) ?? '') ?? PBX_WORKER;
}
