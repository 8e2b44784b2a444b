// Calls that were refused because no number of the configuration matches the dialled one: the trunk or the dialplan
// sends another form of it than is stored.

import { warn } from '../../provider/check.ts';
import type { Finding } from '../../provider/pbx.ts';
import type { CheckContext } from './check.ts';

/** Refused numbers that the finding names; the rest are counted. */
const NAMED_MAX = 5;

/** One finding for the refused calls; none if no such call came since the connection was made. */
export function refusedFindings({ live }: Pick<CheckContext, 'live'>): Finding[] {
  const noted = live?.unconfigured.list() ?? [];
  if (noted.length === 0) return [];
  const named = noted.slice(0, NAMED_MAX).map(({ dialled, nearest, calls, lastAt }) => {
    const times = calls === 1 ? 'one call' : `${calls} calls, the last`;
    const yours = nearest === null ? '' : `; you have ${nearest}`;
    return `${dialled} (${times} at ${new Date(lastAt).toISOString()}${yours})`;
  });
  const rest = noted.length - named.length;
  const message = `Refused, because no active number is like the dialled one: ${named.join(', ')}${rest > 0 ? `, and ${rest} more` : ''}.`;
  const advice =
    'Add the number as the trunk sends it, or let the dialplan send the stored one to Stasis.';
  return [{ key: 'refused', title: 'Refused calls', ...warn(message, advice) }];
}
