// Asterisks that are spoken to over TLS, by a gateway that trusts an authority of its own beside the public
// ones: https for requests, wss for events and audio.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createServer, type Server } from 'node:tls';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { ApiClient } from '../demo/api-client.ts';
import { Gateway } from '../demo/gateway.ts';
import { inbound } from '../demo/scenario.ts';
import { type FakeAsterisk, startAsterisk } from '../fakes/asterisk/fake-asterisk.ts';
import { type CertificateFacts, makeAuthority, makeCertificate } from '../fakes/certificates.ts';
import { freePort } from '../fakes/free-port.ts';

const folder = mkdtempSync(join(tmpdir(), 'patchbay-asterisk-tls-'));
const authority = makeAuthority('An authority of its own');
const servers: Server[] = [];
const WAIT_MS_MAX = 20_000;
let gateway: Gateway;
let asterisk: FakeAsterisk;
let api: ApiClient;

beforeAll(async () => {
  const authorityFile = join(folder, 'ca.pem');
  writeFileSync(authorityFile, authority.cert);
  gateway = await Gateway.start({
    dataFolder: join(folder, 'data'),
    logFile: join(folder, 'gateway.log'),
    port: await freePort(),
    env: { PATCHBAY_STT: 'none', NODE_EXTRA_CA_CERTS: authorityFile },
  });
  asterisk = await startAsterisk();
  api = new ApiClient(gateway.url, await gateway.firstKey());
}, 60_000);

afterAll(async () => {
  await gateway?.kill();
  await asterisk?.stop();
  for (const server of servers) server.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Asterisk's TLS port with a certificate; the configuration of it. */
async function configure(name: string, facts: CertificateFacts): Promise<string> {
  const server = createServer(makeCertificate(facts), (socket) => {
    const plain = connect(Number(new URL(asterisk.url).port), '127.0.0.1');
    for (const each of [socket, plain]) each.on('error', () => undefined);
    socket.pipe(plain).pipe(socket);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // Of a TCP server.
  return await api.createConfiguration(name, {
    provider: 'ari',
    ari_endpoint: `https://localhost:${port}`,
    app_name: 'gw',
    app_password: 'gwsecret',
  });
}

it('a call is held over https and wss with a certificate of an authority from the settings', async () => {
  const configuration = await configure('good', { names: ['localhost'], authority });
  const agent = await api.createWorkflow(inbound.agentName, inbound.definition);
  await api.addNumber(configuration, { address: '8000', inbound_workflow_id: agent.id });
  await vi.waitFor(() => expect(asterisk.openEventSockets).toBe(1), { timeout: WAIT_MS_MAX });
  const app = await api.stasisApp(configuration);
  const phone = asterisk.placeCall({ from: '5551234', to: '8000', app });
  await vi.waitFor(
    () => expect(phone.heard.some(({ pcm }) => pcm.some((each) => each > 1_000))).toBe(true),
    { timeout: WAIT_MS_MAX },
  );
  phone.hangUp();
  await vi.waitFor(() => expect(asterisk.bridgeIds).toEqual([]), { timeout: WAIT_MS_MAX });
  expect(await api.inactiveReason(configuration)).toBeNull();
}, 60_000);

it.each<[string, CertificateFacts, string]>([
  [
    'of an unknown authority',
    { names: ['localhost'] },
    'an authority that the gateway does not know',
  ],
  ['that has expired', { names: ['localhost'], authority, until: 2_021 }, 'has expired'],
  ['for another name', { names: ['pbx.example.com'], authority }, 'for another name'],
])(
  'a certificate %s makes the configuration inactive, and it says so',
  async (_, facts, words) => {
    const configuration = await configure(`bad: ${words}`, facts);
    await vi.waitFor(async () => expect(await api.inactiveReason(configuration)).toContain(words), {
      timeout: WAIT_MS_MAX,
      interval: 200,
    });
  },
  60_000,
);
