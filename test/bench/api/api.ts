// What the control API carries: a gateway of its own on either engine, with 100,000 runs and a campaign of
// 100,000 contacts, asked over sixteen connections (closed loop). How fast it answers at a fixed rate: api-speed.ts.

import { type EngineName, engines } from '../../store/databases.ts';
import { type ApiGateway, startApiGateway } from './api-gateway.ts';
import { type LoadFigures, loadApi } from './http-load.ts';
import { runRequests } from './run-requests.ts';

const RUNS = 100_000;
const CONTACTS = 100_000;
const REQUESTS = 2_000;
/** Each leaves an open call behind. */
const STARTS = 500;

export async function benchApi(): Promise<Record<string, number>> {
  const figures: Record<string, number> = {};
  for (const engine of engines()) {
    for (const [what, load] of Object.entries(await measure(engine))) {
      figures[`${engine}: ${what} (requests/s)`] = load.requestsPerSecond;
      figures[`${engine}: ${what} p50 (ms)`] = load.p50Ms;
      figures[`${engine}: ${what} p99 (ms)`] = load.p99Ms;
    }
  }
  return figures;
}

async function measure(engine: EngineName): Promise<Record<string, LoadFigures>> {
  const gateway = await startApiGateway(engine, { runs: RUNS, events: 0, contacts: CONTACTS });
  try {
    return await ask(gateway);
  } finally {
    await gateway.stop();
  }
}

async function ask(gateway: ApiGateway): Promise<Record<string, LoadFigures>> {
  const { detail, newest, filtered, progress, start } = runRequests(gateway);
  const { server } = gateway;
  return {
    'run detail': await loadApi(server, REQUESTS, detail),
    'run list, newest': await loadApi(server, REQUESTS / 10, newest),
    'run list, filtered and sorted': await loadApi(server, REQUESTS / 10, filtered),
    'progress of 100,000 contacts': await loadApi(server, REQUESTS / 10, progress),
    'run start': await loadApi(server, STARTS, start),
  };
}
