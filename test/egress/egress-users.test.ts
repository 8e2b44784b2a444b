// Whatever opens connections is listed here, with the reason why a user's address cannot leave by it unchecked. A file
// that is not listed fails: it takes the egress rule, or says here whose address it connects to.

import { readdirSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';

/** Modules with which connections are opened, and what of them opens none. */
const IMPORT =
  /^import (?!type\b)([^;]*?) from '(node:(?:net|tls|http|https|http2|dgram)|undici|ws|pg)';/gms;
const HARMLESS = new Set([
  ...['BlockList', 'isIP', 'isIPv4', 'isIPv6', 'createServer', 'Server', 'STATUS_CODES'],
  ...['IncomingMessage', 'Socket', 'WebSocketServer', 'DatabaseError', 'errors'],
]);
const OPENS = /\bfetch\(|\bnew (net\.)?Socket\(/;

/** Whether a file imports what opens a connection, under whichever name, or calls `fetch`. */
function opensConnections(text: string): boolean {
  const names = [...text.matchAll(IMPORT)].flatMap(([, list = '']) =>
    list
      .replace(/[{}]/g, '')
      .split(',')
      .map((each) => each.trim())
      .filter((each) => each !== '' && !each.startsWith('type '))
      .map((each) => each.split(' as ')[0] ?? ''),
  );
  return OPENS.test(text) || names.some((name) => !HARMLESS.has(name));
}

const checked: Record<string, string> = {
  'src/egress/guarded-http.ts': 'the egress rule',
  'src/telephony/provider/rest-client.ts': 'the egress rule',
  'src/telephony/ari/connection/event-socket.ts': 'the egress rule',
  'src/transport/websocket/websocket-handshake.ts':
    'takes the lookup of the rule from telephony/ari/media, which checks literal addresses before',
  'src/speech/service/service-http.ts': 'the egress rule',
  'src/speech/service/vendor-socket.ts': 'the egress rule',
  'src/speech/service/warm-connections.ts': 'the egress rule',
  'src/speech/vendors/wyoming/wyoming-connection.ts': 'the egress rule',
  'src/speech/llm/client/model-client.ts':
    "the egress rule from whoever opens the model of a user; else the address is the operator's",
  'src/egress/egress-rule.ts': 'the egress rule itself',
  'src/telephony/doctor/self-call.ts': "the gateway's own public address, from the settings",
  'src/transport/rtp/rtp-ports.ts':
    'announced addresses are checked in telephony/ari/media/packet-transports',
  'src/cli/gateway-client.ts': 'the command line of the operator',
  'src/cli/record/service-relay.ts': 'the command line of the operator',
  'src/runtime/listen-handle.ts': 'loopback, to itself',
  'src/runtime/socket-self-test.ts': 'loopback, to itself',
  'src/cluster/socket-splice.ts': 'another gateway of the operator, by its PATCHBAY_NODE_URL',
  'src/store/files/s3-requests.ts': "the operator's S3",
  'src/store/db/connections.ts': "the operator's database",
  'src/store/db/maintenance.ts': "the operator's database",
  'src/store/db/migrate.ts': "the operator's database",
  'src/store/open-keys.ts': "the operator's database",
  'src/store/embedded/data-folder.ts': 'a lock of the data folder',
  'src/store/db/epoch-socket.ts': 'a socket of the data folder',
};

it('every connection of the gateway is under the egress rule, or not to an address of a user', () => {
  const found = readdirSync('src', { recursive: true, encoding: 'utf8' })
    .map((path) => `src/${path}`)
    // A page in a browser connects to its own gateway alone: its policy says so.
    .filter((path) => !path.startsWith('src/console/'))
    .filter((path) => path.endsWith('.ts') && opensConnections(readFileSync(path, 'utf8')));
  expect(found.filter((path) => !(path in checked))).toEqual([]);
  expect(Object.keys(checked).filter((path) => !found.includes(path))).toEqual([]);
});
