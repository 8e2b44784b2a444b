// What this gateway knows of itself at the moment, beside what stands in the database.

import type { AlertState } from '../../metrics/alert-states.ts';
import type { ClusterStatus, GatewayCondition } from '../../model/gateway-condition.ts';
import type { ServiceNotes } from '../../model/service-state.ts';
import type { ApiDeps } from '../http/api-deps.ts';

export interface SystemDeps {
  /** Default: nothing is known. */
  system?:
    | {
        condition(): Promise<GatewayCondition>;
        /** All alert rules, and which fire. */
        readonly alerts: readonly AlertState[];
        /** Services that calls have used, with their requests of the last ten minutes. */
        services(): Promise<readonly UsedService[]>;
      }
    | undefined;
}

export type UsedService = ServiceNotes & { requests: number; failedRequests: number };

/** The gateways, with the condition of this one where it stores none: a gateway with a database of its own does not. */
export async function clusterStatusOf({
  store,
  pbxProviders,
  gatewayName,
  system,
}: Pick<ApiDeps, 'store' | 'pbxProviders' | 'gatewayName'> & SystemDeps): Promise<ClusterStatus> {
  const status = await store.clusterStatus.read(pbxProviders);
  const own = status.gateways.find(({ name }) => name === gatewayName);
  if (own?.condition === null && system !== undefined) {
    Object.assign(own, { condition: await system.condition(), condition_seconds: 0 });
  }
  return { asked: gatewayName, ...status };
}
