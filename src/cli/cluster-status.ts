// Command `patchbay cluster status`: the gateways on one database as one of them knows them, what is wrong, and what to
// do. Needs the secret for operators (PATCHBAY_DEVOPS_SECRET) and no API key.

import { GatewayError } from '../errors/gateway-error.ts';
import { problemsOf } from '../model/cluster-problems.ts';
import { type ClusterStatus, clusterStatus } from '../model/gateway-condition.ts';
import { askGateway, type CliIo, gatewayUrl } from './gateway-client.ts';

export const clusterOptions = {
  url: { type: 'string' },
  secret: { type: 'string' },
  gateways: { type: 'string' },
  json: { type: 'boolean' },
} as const;

const GATEWAYS_MAX = 1_000;

interface ClusterOptions {
  url?: string;
  secret?: string;
  gateways?: string;
  json?: boolean;
}

/** Runs the command. Returns 1 if something is wrong. Throws COMMAND_INVALID, GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function printClusterStatus(
  options: ClusterOptions,
  { env, out }: CliIo,
): Promise<number> {
  const secret = options.secret ?? env['PATCHBAY_DEVOPS_SECRET'] ?? '';
  if (secret === '') {
    const problem = "the gateways' secret is needed: --secret, or PATCHBAY_DEVOPS_SECRET";
    throw new GatewayError('COMMAND_INVALID', { problem });
  }
  const wanted = wantedGateways(options.gateways);
  const url = gatewayUrl(options.url ?? env['PATCHBAY_URL']);
  const headers = { 'x-patchbay-devops-secret': secret };
  const request = { method: 'GET', path: '/health/cluster' } as const;
  const status = await askGateway({ url, headers }, request, clusterStatus);
  const problems = problemsOf(status, wanted);
  if (options.json === true) out(`${JSON.stringify({ ...status, problems }, null, 2)}\n`);
  else {
    out(tableOf(status));
    out(leasesOf(status));
    for (const { text, remedy } of problems) out(`WRONG: ${text}\n  DO: ${remedy}\n`);
    if (problems.length === 0) out('Nothing is wrong.\n');
  }
  return problems.length === 0 ? 0 : 1;
}

/** Throws COMMAND_INVALID. */
function wantedGateways(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const count = Number(given);
  if (Number.isInteger(count) && count >= 1 && count <= GATEWAYS_MAX) return count;
  const problem = '--gateways is how many there should be, such as 2';
  throw new GatewayError('COMMAND_INVALID', { problem });
}

const COLUMNS = [
  'GATEWAY',
  'VERSION',
  'RUNNING',
  'HEARTBEAT',
  'WORKERS',
  'CALLS',
  'CLOCK',
  'REDIS',
  'S3',
  'SPOOL',
  'URL',
] as const;

function tableOf({ now, asked, gateways, calls }: ClusterStatus): string {
  const rows = gateways.map((each) => rowOf(each, now));
  const head = `${now}, as ${asked} knows it. Open calls: ${calls}.\n\n`;
  return `${head}${aligned([COLUMNS, ...rows])}\n`;
}

function rowOf(gateway: ClusterStatus['gateways'][number], now: string): string[] {
  const { name, url, since, heartbeat_seconds: heartbeat, calls, condition } = gateway;
  const running = spanOf((Date.parse(now) - Date.parse(since)) / 1_000);
  const beside = [String(calls)];
  if (condition === null) {
    return [
      name,
      '?',
      running,
      `${shortly(heartbeat)} ago`,
      '?',
      ...beside,
      '?',
      '?',
      '?',
      '?',
      url ?? '?',
    ];
  }
  const {
    version,
    workers,
    workers_wanted: wanted,
    clock_skew_seconds: skew,
    redis,
    s3,
  } = condition;
  return [
    name,
    version,
    running,
    `${shortly(heartbeat)} ago`,
    `${workers} of ${wanted}`,
    ...beside,
    skew === null ? '?' : `${skew > 0 ? '+' : ''}${skew.toFixed(2)} s`,
    redis,
    s3,
    spoolOf(condition),
    url ?? '?',
  ];
}

function spoolOf(condition: NonNullable<ClusterStatus['gateways'][number]['condition']>): string {
  const { spool_bytes: bytes, spool_oldest_seconds: oldest } = condition;
  if (bytes === null) return '-';
  const size = `${(bytes / 1e6).toFixed(1)} MB`;
  return oldest === null || oldest === 0 ? size : `${size}, ${spanOf(oldest)} old`;
}

function leasesOf({ pbx_leases: leases }: ClusterStatus): string {
  if (leases.length === 0) return '';
  const rows = leases.map(({ configuration_id: id, name, node, seconds_left: left }) => [
    id,
    name,
    node ?? 'nobody',
    left === null ? '-' : left > 0 ? `${shortly(left)} left` : `ended ${shortly(-left)} ago`,
  ]);
  return `${aligned([['PBX', 'CONFIGURATION', 'CONNECTED BY', 'LEASE'], ...rows])}\n`;
}

function aligned(rows: readonly (readonly string[])[]): string {
  const shown = rows.map((row) => row.map((cell) => cell.replace(/\p{Cc}+/gu, ' ')));
  const widths = (shown[0] ?? []).map((_, nth) =>
    Math.max(...shown.map((row) => row[nth]?.length ?? 0)),
  );
  const lines = shown.map((row) =>
    row
      .map((cell, nth) => cell.padEnd(widths[nth] ?? 0))
      .join('  ')
      .trimEnd(),
  );
  return `${lines.join('\n')}\n`;
}

function shortly(seconds: number): string {
  return `${seconds.toFixed(1)} s`;
}

/** Days and hours, hours and minutes, minutes, or seconds. */
function spanOf(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  const hours = Math.floor(minutes / 60);
  if (hours >= 24) return `${Math.floor(hours / 24)} d ${hours % 24} h`;
  if (hours > 0) return `${hours} h ${minutes % 60} min`;
  return minutes > 0 ? `${minutes} min` : `${Math.max(0, Math.round(seconds))} s`;
}
