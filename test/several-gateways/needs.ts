// What this machine has of the engines that cases need.

import { engines } from '../store/databases.ts';
import type { Need } from './cluster-case.ts';
import { networkMissing } from './engines/network.ts';
import { objectStoreMissing } from './engines/object-store.ts';
import { isInstalled } from './engines/program.ts';

const CHECKS: Readonly<Record<Need, () => string | undefined>> = {
  postgresql: () => (engines().includes('server') ? undefined : 'needs postgresql'),
  redis: () => program('redis-server'),
  haproxy: () => program('haproxy'),
  pgbouncer: () => program('pgbouncer'),
  ['object store']: objectStoreMissing,
  network: networkMissing,
};

/** Why a case cannot run here; undefined if it can. */
export function missing(needs: readonly Need[]): string | undefined {
  if (!isInstalled('setpriv')) return 'needs Linux with setpriv';
  const reasons = needs.flatMap((need) => CHECKS[need]() ?? []);
  return reasons.length === 0 ? undefined : reasons.join('; ');
}

function program(name: string): string | undefined {
  return isInstalled(name) ? undefined : `needs ${name}`;
}
