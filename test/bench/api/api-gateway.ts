// A gateway of its own on either engine for benchmarks of the API: with stored runs, an agent, and a provider that
// accepts every dial.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Client } from 'pg';
import { ApiClient } from '../../demo/api-client.ts';
import { Gateway } from '../../demo/gateway.ts';
import { freePort } from '../../fakes/free-port.ts';
import { type EngineName, startDatabase } from '../../store/databases.ts';
import { type Stored, type StoredRuns, storeRuns } from './stored-runs.ts';

const ACCOUNT_SID = `AC${'6'.repeat(32)}`;
const NUMBER = '+15550100999';

export interface ApiGateway {
  server: { url: string; apiKey: string };
  api: ApiClient;
  agent: { id: string; uuid: string };
  stored: StoredRuns;
  client: Client;
  /** What the gateway has logged. */
  logFile: string;
  stop: () => Promise<void>;
}

export async function startApiGateway(engine: EngineName, stored: Stored): Promise<ApiGateway> {
  const database = await startDatabase(engine);
  const { target, dataFolder } = database;
  const logFile = join(dataFolder, 'gateway.log');
  const gateway = await Gateway.start({
    dataFolder,
    logFile,
    port: await freePort(),
    env: {
      PATCHBAY_CALL_LIMIT: '10000',
      // What it can do is measured, not what it refuses.
      PATCHBAY_LOAD_LIMIT: '0',
      PATCHBAY_DELAY_LIMIT_MS: '0',
      LOG_LEVEL: 'warn',
      PATCHBAY_STT: 'none',
      ...(target.kind === 'server' ? { DATABASE_URL: target.url } : {}),
    },
  });
  const provider = await startProvider();
  const client = await database.connect();
  const stop = async (): Promise<void> => {
    await client.end();
    await gateway.kill(); // Hundreds of calls ring that nobody will answer.
    await provider.close();
    await database.stop();
  };
  try {
    const apiKey = await gateway.firstKey();
    const api = new ApiClient(gateway.url, apiKey);
    const agent = await setUp(api, provider.url);
    const seeded = await storeRuns(client, target, { ...stored, workflowId: agent.id });
    const server = { url: gateway.url, apiKey };
    return { server, api, agent, stored: seeded, client, logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

async function setUp(api: ApiClient, url: string): Promise<{ id: string; uuid: string }> {
  const configurationId = await api.createConfiguration('Bench', {
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: 'bench-token',
    api_base_url: url,
  });
  await api.addNumber(configurationId, { address: NUMBER, is_default_caller_id: true });
  return api.createWorkflow('Bench', {
    nodes: [
      { id: '1', type: 'startCall', position: { x: 0, y: 0 }, data: { name: 'A', prompt: 'Hi' } },
      { id: '2', type: 'endCall', position: { x: 0, y: 9 }, data: { name: 'B', prompt: 'Bye' } },
    ],
    edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
  });
}

/** Answers every request as Twilio answers a dial. */
async function startProvider(): Promise<{ url: string; close: () => Promise<void> }> {
  let calls = 0;
  const server = createServer((request, response) => {
    request.resume();
    request.on('end', () => {
      calls += 1;
      const isNumbers = request.url?.includes('IncomingPhoneNumbers') === true;
      response.writeHead(isNumbers ? 200 : 201, { 'content-type': 'application/json' });
      const number = { sid: 'PN1', phone_number: NUMBER };
      const sid = `CA${String(calls).padStart(32, '0')}`;
      const body = isNumbers ? { incoming_phone_numbers: [number] } : { sid, status: 'queued' };
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo; // A TCP server has an address of this kind.
  return {
    url: `http://127.0.0.1:${port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
