// What is wrong with the gateways on one database, and what to do: for `patchbay cluster status`. The bounds are those of
// the alert rules (grafana/alerts.yml), whose sections in docs/operations.md have more.

import type { ClusterStatus, GatewayStatus } from './gateway-condition.ts';

/** Heartbeats come every two seconds: two are missing. */
const HEARTBEAT_S_MAX = 5;
/** Reports come every five seconds. */
const CONDITION_S_MAX = 20;
const SKEW_S_MAX = 2;
const SPOOL_S_MAX = 600;

export interface ClusterProblem {
  /** The gateway; null: of all. */
  gateway: string | null;
  text: string;
  remedy: string;
}

/** `wanted`: how many gateways there should be. */
export function problemsOf(status: ClusterStatus, wanted: number | undefined): ClusterProblem[] {
  return [
    ...missing(status, wanted),
    ...status.gateways.flatMap(problemsOfGateway),
    ...mixedVersions(status),
    ...orphans(status),
    ...pbxs(status),
  ];
}

function missing({ gateways }: ClusterStatus, wanted: number | undefined): ClusterProblem[] {
  if (wanted === undefined || gateways.length >= wanted) return [];
  const names = gateways.map(({ name }) => name).join(', ');
  return [
    {
      gateway: null,
      text: `${gateways.length} of ${wanted} gateways are there (${names})`,
      remedy:
        'start the missing one under its old name, on its old data folder: it closes what it left, and sends its recordings',
    },
  ];
}

function problemsOfGateway(gateway: GatewayStatus): ClusterProblem[] {
  const { name, heartbeat_seconds: heartbeat, condition } = gateway;
  if (heartbeat > HEARTBEAT_S_MAX) {
    const isSilent = (each: { heartbeat_seconds: number }): boolean =>
      each.heartbeat_seconds > HEARTBEAT_S_MAX;
    const silent = gateway.processes.filter(isSilent).map((each) => each.name);
    const remedy =
      'look at its log and its way to PostgreSQL; the others close or resume its calls by themselves';
    return [of(name, `no heartbeat for ${heartbeat.toFixed(0)} s (${silent.join(', ')})`, remedy)];
  }
  if (condition === null || (gateway.condition_seconds ?? 0) > CONDITION_S_MAX) {
    const remedy = 'look at its log: the API process has just started, or does not run';
    return [of(name, 'its API process says nothing of itself', remedy)];
  }
  return [
    ...ofReadiness(name, condition),
    ...ofWorkers(name, condition),
    ...ofPeers(name, condition),
    ...ofClock(name, condition),
  ];
}

type Condition = NonNullable<GatewayStatus['condition']>;

function of(gateway: string, text: string, remedy: string): ClusterProblem {
  return { gateway, text: `${gateway}: ${text}`, remedy };
}

const REMEDIES: Readonly<Record<string, string>> = {
  draining: 'nothing, if somebody stops it; its calls end first',
  starting: 'wait; if it lasts for minutes, its log says what it waits for',
  overloaded: 'add a gateway or workers; the balancer sends it no calls meanwhile',
  database: 'look at PostgreSQL, and at the way from this machine to it',
};

function ofReadiness(name: string, { not_ready: reasons }: Condition): ClusterProblem[] {
  return reasons.map((reason) =>
    of(name, `takes no new calls (${reason})`, REMEDIES[reason] ?? 'see its log'),
  );
}

function ofWorkers(
  name: string,
  { not_ready: reasons, workers, workers_wanted: wanted }: Condition,
): ClusterProblem[] {
  const isChanging = reasons.includes('starting') || reasons.includes('draining');
  if (workers >= wanted || isChanging) return [];
  const remedy = 'its log has the reason ("a worker died"); it starts them again by itself';
  return [of(name, `${workers} of ${wanted} call workers serve`, remedy)];
}

function ofPeers(name: string, condition: Condition): ClusterProblem[] {
  const { redis, s3, spool_oldest_seconds: oldest } = condition;
  const problems: ClusterProblem[] = [];
  if (redis === 'away') {
    const remedy =
      'bring Redis back; calls go on, live views of calls on other gateways are slower meanwhile';
    problems.push(of(name, 'Redis does not answer', remedy));
  }
  if (s3 === 'away') {
    const remedy = 'bring it back, and watch the free disk: recordings wait in the spool meanwhile';
    problems.push(of(name, 'the S3 store does not answer', remedy));
  }
  if (oldest !== null && oldest > SPOOL_S_MAX) {
    const remedy =
      'look at the S3 store, its key and bucket; keep the data folder: nothing is lost while it is there';
    problems.push(of(name, `a file waits for S3 for ${Math.round(oldest / 60)} minutes`, remedy));
  }
  return problems;
}

function ofClock(name: string, { clock_skew_seconds: skew }: Condition): ClusterProblem[] {
  if (skew === null || Math.abs(skew) <= SKEW_S_MAX) return [];
  const side = skew > 0 ? 'behind' : 'ahead of';
  const text = `its clock is ${Math.abs(skew).toFixed(1)} s ${side} the database's`;
  const remedy =
    'correct the time service (chrony, systemd-timesyncd); times in logs and signed links are wrong meanwhile';
  return [of(name, text, remedy)];
}

function mixedVersions({ gateways }: ClusterStatus): ClusterProblem[] {
  const versions = new Set(gateways.flatMap(({ condition }) => condition?.version ?? []));
  if (versions.size < 2) return [];
  const text = `the gateways run ${[...versions].sort().join(' and ')}`;
  return [{ gateway: null, text, remedy: 'finish the update' }];
}

function orphans({ calls_without_owner: calls }: ClusterStatus): ClusterProblem[] {
  if (calls === 0) return [];
  const text = `${calls} open calls belong to processes that are gone`;
  const remedy =
    'wait 15 s and look again; if they stay, look for errors of the store in the logs of the gateways';
  return [{ gateway: null, text, remedy }];
}

function pbxs({ pbx_leases: leases }: ClusterStatus): ClusterProblem[] {
  return leases.flatMap((lease) => {
    const { configuration_id: id, name, node, seconds_left: left, inactive_reason: reason } = lease;
    const pbx = `the PBX of configuration ${id} (${name})`;
    if (node === null || left === null || left <= 0) {
      const remedy = 'wait 10 s and look again; if it stays, look at the logs of the gateways';
      return { gateway: null, text: `no gateway connects to ${pbx}`, remedy };
    }
    if (reason === null) return [];
    const remedy = `npx patchbay doctor --config ${id} says what to change`;
    return { gateway: null, text: `${pbx} is out of reach: ${reason}`, remedy };
  });
}
