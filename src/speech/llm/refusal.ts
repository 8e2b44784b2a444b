// Whether a model failed because of what the conversation contains. Other conversations get answers, and this one may
// get one without the words at fault.

import { codeOf } from '../../errors/gateway-error.ts';
import { ServiceFault } from '../service/service-fault.ts';

/** Statuses of a request that the service cannot accept as it is. */
const STATUSES: readonly unknown[] = [400, 422];

/** `content`: the model or its content filter refused. `request`: the service refused the request without such a reason;
 *  where it has answered others of the conversation, the new words are at fault. Undefined: another failure. */
export function refusalOf(error: unknown): 'content' | 'request' | undefined {
  if (codeOf(error) !== 'LLM_REFUSED') return undefined;
  if (!(error instanceof ServiceFault)) return 'content';
  return error.kind === 'request' && STATUSES.includes(error.facts['status'])
    ? 'request'
    : undefined;
}
