// A gateway of its own on either engine for benchmarks of the API: with stored runs, an agent, and a provider that
// accepts every dial.

import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Client } from 'pg';
import type { DatabaseTarget } from '../../../src/store/db/connections.ts';
import { ApiClient } from '../../demo/api-client.ts';
import { Gateway } from '../../demo/gateway.ts';
import { freePort } from '../../fakes/free-port.ts';
import { startAcceptingTwilio } from '../../fakes/twilio/accepting-twilio.ts';
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

/** `kept`: a folder for what is stored, which is there already where the same folder was given before. */
export async function startApiGateway(
  engine: EngineName,
  stored: Stored,
  kept?: string,
): Promise<ApiGateway> {
  const database = await startDatabase(engine, kept);
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
  const provider = await startAcceptingTwilio(NUMBER);
  const client = await database.connect();
  const stop = async (): Promise<void> => {
    await client.end();
    await gateway.kill(); // Hundreds of calls ring that nobody will answer.
    await provider.close();
    await database.stop();
  };
  try {
    const factsFile = kept === undefined ? undefined : join(kept, 'facts.json');
    const isThere = factsFile !== undefined && existsSync(factsFile);
    const facts: Facts = isThere
      ? JSON.parse(readFileSync(factsFile, 'utf8'))
      : await fill(gateway, { client, target, stored, providerUrl: provider.url });
    if (factsFile !== undefined) writeFileSync(factsFile, JSON.stringify(facts));
    const api = new ApiClient(gateway.url, facts.apiKey);
    // The provider listens elsewhere than the last time.
    if (isThere)
      await api.updateConfiguration(facts.configurationId, configurationAt(provider.url));
    if (kept !== undefined) await client.query('checkpoint'); // It is killed at the end.
    const server = { url: gateway.url, apiKey: facts.apiKey };
    return { server, api, agent: facts.agent, stored: facts.seeded, client, logFile, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** What a filled database is asked by. */
interface Facts {
  apiKey: string;
  configurationId: string;
  agent: { id: string; uuid: string };
  seeded: StoredRuns;
}

async function fill(
  gateway: Gateway,
  of: { client: Client; target: DatabaseTarget; stored: Stored; providerUrl: string },
): Promise<Facts> {
  const { client, target, stored, providerUrl } = of;
  const apiKey = await gateway.firstKey();
  const api = new ApiClient(gateway.url, apiKey);
  const configuration = configurationAt(providerUrl);
  const configurationId = await api.createConfiguration('Bench', configuration);
  await api.addNumber(configurationId, { address: NUMBER, is_default_caller_id: true });
  const agent = await api.createWorkflow('Bench', {
    nodes: [
      { id: '1', type: 'startCall', position: { x: 0, y: 0 }, data: { name: 'A', prompt: 'Hi' } },
      { id: '2', type: 'endCall', position: { x: 0, y: 9 }, data: { name: 'B', prompt: 'Bye' } },
    ],
    edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
  });
  const seeded = await storeRuns(client, target, { ...stored, workflowId: agent.id });
  return { apiKey, configurationId, agent, seeded };
}

function configurationAt(url: string): Record<string, string> {
  return {
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: 'bench-token',
    api_base_url: url,
  };
}
