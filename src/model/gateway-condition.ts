// The condition of a gateway as it reports it: stored in the row of its API process, returned by GET /health/cluster,
// judged by `patchbay cluster status`.

import { z } from 'zod';

/** Whether what a gateway uses beside PostgreSQL answers. `unused`: it is not set. `unknown`: it was not asked lately. */
const peer = z.enum(['ok', 'away', 'unknown', 'unused']);
export type PeerState = z.infer<typeof peer>;

export const gatewayCondition = z.object({
  version: z.string().describe('The release that runs.'),
  not_ready: z
    .array(z.string())
    .describe('Why the gateway should get no new calls, as /ready has it; empty if it should.'),
  workers: z.int().describe('Call workers that serve.'),
  workers_wanted: z.int().describe('Call workers that should serve (`PATCHBAY_WORKERS`).'),
  clock_skew_seconds: z
    .number()
    .nullable()
    .describe("The database's clock minus that of the machine; null before the first comparison."),
  redis: peer.describe('Redis, as this gateway sees it.'),
  s3: peer.describe('The S3 store, by the last requests of this gateway.'),
  spool_bytes: z.number().nullable().describe('Files on its disk that are not in S3 yet.'),
  spool_oldest_seconds: z
    .number()
    .nullable()
    .describe('Age of the oldest file that waits for S3; 0 if none waits.'),
});
export type GatewayCondition = z.infer<typeof gatewayCondition>;

const gatewayProcess = z.object({
  name: z.string().describe('`api`, the number of a call worker, or `supervisor`.'),
  since: z.string().describe('When it started.'),
  heartbeat_seconds: z.number().describe('Age of its last heartbeat.'),
  calls: z.int().describe('Open calls that it owns, those that ring included.'),
});

const gateway = z.object({
  name: z.string().describe('Its `PATCHBAY_NODE`.'),
  url: z.string().nullable().describe('Where the other gateways reach it; null if unknown.'),
  since: z.string().describe('When it started.'),
  heartbeat_seconds: z.number().describe('Age of the oldest last heartbeat of its processes.'),
  calls: z.int().describe('Open calls of all its processes.'),
  processes: z.array(gatewayProcess),
  condition: gatewayCondition
    .nullable()
    .describe('What it last said of itself; null if it said nothing yet.'),
  condition_seconds: z.number().nullable().describe('Age of that.'),
});
export type GatewayStatus = z.infer<typeof gateway>;

const pbxLease = z.object({
  configuration_id: z.string(),
  name: z.string(),
  organization_id: z.string(),
  node: z.string().nullable().describe('The process with the connection; null if none has it.'),
  seconds_left: z.number().nullable().describe('Until the lease ends if it is not renewed.'),
  inactive_reason: z.string().nullable().describe('Why the PBX cannot be reached; null if it can.'),
});

export const clusterStatus = z
  .object({
    now: z.string().describe("The database's time."),
    asked: z.string().describe('The gateway that answered.'),
    gateways: z.array(gateway),
    pbx_leases: z.array(pbxLease),
    calls: z.int().describe('Open calls of all gateways.'),
    calls_without_owner: z
      .int()
      .describe('Open calls of processes that are gone, which nobody has taken over yet.'),
  })
  .meta({ id: 'ClusterStatusResponse', description: 'The gateways on one database.' });
export type ClusterStatus = z.infer<typeof clusterStatus>;
