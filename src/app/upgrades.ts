// Upgrades as a process with calls takes them: media sockets, and connections that PBXs open; the rest is refused.

import type { AcceptUpgrade } from '../cluster/socket-handoff.ts';
import { refuseUpgrade } from '../cluster/upgrade-router.ts';
import type { ClientOf } from '../std/client-address.ts';
import type { Providers } from '../telephony/registry/registry.ts';
import type { MediaServer } from '../transport/websocket/media-server.ts';

export function takeUpgrades(
  { providers, clientOf }: { providers: Providers; clientOf: ClientOf },
  media: MediaServer,
): AcceptUpgrade {
  return (request, socket, head) => {
    const forwarded = [request.headers['x-forwarded-for'] ?? []].flat().join(',');
    const client = clientOf(request.socket.remoteAddress, forwarded);
    const isTaken =
      media.handleUpgrade(request, socket, head) ||
      providers.pbx.some(({ pbx }) => pbx.takeUpgrade(request, socket, head, client));
    if (!isTaken) refuseUpgrade(socket, '404 Not Found');
  };
}
