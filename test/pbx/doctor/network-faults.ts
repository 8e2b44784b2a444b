// Faults of asterisk §7.1 between the gateway and a real PBX: a proxy, a firewall, an address that is another machine's.

import type { Configured, FaultPlace, Findings } from './fault-place.ts';
import { OWN } from './fault-place.ts';
import { FaultyProxy, type Rule } from './faulty-proxy.ts';
import { OTHER_MACHINE } from './other-machine.ts';
import { clientMedia, type Fault, MEDIA_PATH, withSection } from './outgoing-faults.ts';

const NOT_FOUND = 'HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\nConnection: close\r\n\r\n';
const UPGRADE = /^(upgrade|connection):.*\r\n/gim;

const isUpgrade = (head: string): boolean => /^upgrade: *websocket/im.test(head);
const isMedia = (head: string): boolean => head.startsWith('GET /media/');

export const networkFaults: Readonly<Record<string, Fault>> = {
  'A firewall drops the packets, or Asterisk is stuck': (place) => behind(place, () => 'silence'),
  'No gateway is connected for the application': (place) =>
    behind(place, (head) => (isUpgrade(head) ? 'silence' : { pass: head })),
  'A proxy passes no websockets on': (place) =>
    behind(place, (head) => ({ pass: isUpgrade(head) ? head.replace(UPGRADE, '') : head })),
  'A proxy passes `/ari` on and not `/media`': (place) =>
    behind(place, (head) => (isMedia(head) ? { answer: NOT_FOUND } : { pass: head })),
  'Audio arrives at one side only': (place) => {
    // The telephone's comes first, then the leg's.
    let sockets = 0;
    return behind(place, (head) => {
      if (isMedia(head)) sockets += 1;
      return { pass: head, losesAudio: isMedia(head) && sockets === 2 };
    });
  },
  '`localhost` in `websocket_client.conf`': (place) =>
    withSection(
      place,
      (_uri, { app }) => [`uri = ws://localhost:${OWN.number}${MEDIA_PATH}${app}`],
      { ...clientMedia(), ari_endpoint: atOtherMachine(place) },
    ),
  "RTP with `localhost` as the gateway's address": (place) =>
    place.examined({ media: 'rtp', ari_endpoint: atOtherMachine(place) }),
};

const atOtherMachine = (place: FaultPlace): string =>
  place.ariUrl.replace('127.0.0.1', OTHER_MACHINE);

/** With a proxy of this rule in front of the PBX. */
async function behind(place: FaultPlace, rule: Rule): Promise<Findings> {
  const proxy = await FaultyProxy.open(Number(new URL(place.stage.pbx.account.url).port), rule);
  place.atEnd(() => proxy.stop());
  const made: Configured = await place.configured({
    ari_endpoint: `http://127.0.0.1:${proxy.port}`,
  });
  return place.examine(made);
}
