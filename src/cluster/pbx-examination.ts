// Providers for the API process: the worker that holds the connection to a PBX checks it, and places the test calls of
// its lines. The worker reads the credentials; they do not cross the inter-process channel.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Finding, Pbx } from '../telephony/provider/pbx.ts';
import type { PbxProvider } from '../telephony/provider/provider.ts';
import { type Providers, providersOf } from '../telephony/registry/registry.ts';
import { PBX_WORKER } from './ipc-message.ts';
import type { WorkerPool } from './worker-pool.ts';

export function examinedByWorker(
  { hosted, pbx }: Providers,
  workers: Pick<WorkerPool, 'pbxWorker'>,
): Providers {
  const remote = pbx.map((provider) => ({
    ...provider,
    pbx: {
      ...provider.pbx,
      examine: examiner(provider, workers),
      testLine: lineTester(provider, workers),
    },
  }));
  return providersOf([...hosted, ...remote]);
}

function examiner({ name }: PbxProvider, workers: Pick<WorkerPool, 'pbxWorker'>): Pbx['examine'] {
  return async (
    { organizationId, configurationId },
    { numbers, publicUrl, calls },
  ): Promise<Finding[]> => {
    const worker = workers.pbxWorker();
    if (worker === undefined) throw new GatewayError('WORKER_GONE', { worker: PBX_WORKER });
    return worker.examine({
      provider: name,
      organizationId,
      configurationId,

      numbers,
      publicUrl,
      ...(calls !== undefined && { calls }),
    });
  };
}

function lineTester(
  { name }: PbxProvider,
  workers: Pick<WorkerPool, 'pbxWorker'>,
): Pbx['testLine'] {
  return async ({ organizationId, configurationId }, { line, publicUrl }) => {
    const worker = workers.pbxWorker();
    if (worker === undefined) throw new GatewayError('WORKER_GONE', { worker: PBX_WORKER });
    return worker.testLine({ provider: name, organizationId, configurationId, publicUrl, line });
  };
}
