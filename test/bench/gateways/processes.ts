// Processor time of every process of several gateways and their engines, by name.

import { familyOf, processFigures } from '../../load/figures/process-figures.ts';
import type { GatewayCluster } from '../../several-gateways/cluster.ts';
import { type Role, roleOf } from '../idle-figures.ts';

/** Milliseconds so far, by name of the process: `gw1 api`, `postgresql`. */
export function cpuByProcess(cluster: GatewayCluster): Map<string, number> {
  const cpu = new Map<string, number>();
  for (const [name, pid] of Object.entries(cluster.pids())) {
    if (cluster.gateways.every((gateway) => gateway.name !== name)) {
      cpu.set(name, processFigures(pid).cpuMs);
      continue;
    }
    for (const [role, ms] of cpuByRole(pid)) cpu.set(`${name} ${role}`, ms);
  }
  return cpu;
}

function cpuByRole(pid: number): Map<Role, number> {
  const [, ...children] = familyOf(pid);
  const cpu = new Map<Role, number>();
  let childrenMs = 0;
  for (const child of children) {
    const { cpuMs } = processFigures(child);
    childrenMs += cpuMs;
    cpu.set(roleOf(child), (cpu.get(roleOf(child)) ?? 0) + cpuMs);
  }
  return cpu.set('supervisor', processFigures(pid).cpuMs - childrenMs);
}

/** Percent of one core for each, the largest first. */
export function percentBetween(
  before: ReadonlyMap<string, number>,
  after: ReadonlyMap<string, number>,
  elapsedMs: number,
): [string, number][] {
  return [...after]
    .map(([name, ms]): [string, number] => [
      name,
      Math.round(((ms - (before.get(name) ?? 0)) / elapsedMs) * 100),
    ])
    .sort(([, one], [, other]) => other - one);
}

const FULL_PERCENT = 90;

/** What keeps more from being done, by the figures. */
export function bottleneck(
  percents: readonly [string, number][],
  { cores, busyPercent }: { cores: number; busyPercent: number },
): string {
  const single = percents.find(([name, percent]) => percent >= FULL_PERCENT && isOneThread(name));
  if (single !== undefined) return `${single[0]}: ${single[1]} % of its core`;
  if (busyPercent >= FULL_PERCENT * cores) {
    return `the machine's ${cores} cores; most of them: ${percents[0]?.join(' ')} %`;
  }
  return 'waiting: no process and no core is busy';
}

/** A server with a process for each connection has more. */
function isOneThread(name: string): boolean {
  return name !== 'postgresql';
}
