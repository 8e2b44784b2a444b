// The requests for runs that the benchmarks of the API send.

import type { ApiGateway } from './api-gateway.ts';
import type { LoadRequest } from './http-load.ts';

type Requests = (index: number) => LoadRequest;

/** Coprime to every number of runs here: consecutive requests hit runs far apart. */
const STRIDE = 7_919;
const PAGE_RUNS = 50;
/** Pages of the filtered list. */
const PAGES = 5;

export function runRequests({ agent, stored }: ApiGateway) {
  const runsOf = `/workflow/${agent.id}/runs`;
  const get = (path: (index: number) => string): Requests => {
    return (index) => ({ method: 'GET', path: path(index) });
  };
  const pageOf = (index: number): number => 1 + (index % PAGES);
  const longest = queryOf(
    { attribute: 'dispositionCode', type: 'multiSelect', value: { codes: ['user_hangup'] } },
    { attribute: 'duration', type: 'numberRange', value: { min: 30, max: 90 } },
  );
  const byNumber = queryOf({ attribute: 'calledNumber', type: 'text', value: { value: '5012' } });
  return {
    detail: get((index) => `${runsOf}/${stored.firstRunId + ((index * STRIDE) % stored.runs)}`),
    newest: get(() => runsOf),
    newestOfOrganization: get(() => '/organizations/usage/runs'),
    filtered: get((index) => `${runsOf}?page=${pageOf(index)}&${longest}&sort_by=duration`),
    byNumber: get((index) => `/organizations/usage/runs?page=${pageOf(index)}&${byNumber}`),
    anyPage: get((index) => {
      return `${runsOf}?page=${1 + ((index * STRIDE) % (stored.runs / PAGE_RUNS))}`;
    }),
    progress: get(() => `/campaign/${stored.campaignId}/progress`),
    start: (index: number): LoadRequest => ({
      method: 'POST',
      path: `/public/agent/workflow/${agent.uuid}`,
      body: { phone_number: `+1415${2_000_000 + index}` },
    }),
  };
}

function queryOf(...filters: unknown[]): string {
  return `filters=${encodeURIComponent(JSON.stringify(filters))}`;
}
