// The bodies of errors, as schemas for the API's description. Source: specification §2.9 and §7,
// contract §1.

import { z } from 'zod';

export const validationItem = z.object({
  type: z.string(),
  loc: z.array(z.union([z.string(), z.number()])),
  msg: z.string(),
  input: z.unknown(),
  ctx: z.record(z.string(), z.unknown()).optional(),
});
export type ValidationItem = z.infer<typeof validationItem>;

export const workflowProblem = z.object({
  kind: z.enum(['node', 'edge', 'workflow']),
  id: z.string().nullable(),
  field: z.string().nullable(),
  message: z.string(),
});

const plainFault = z.object({ detail: z.string() }).meta({ description: 'What went wrong.' });

const notPlacedFault = z
  .object({ detail: z.string(), workflow_run_id: z.string(), workflow_run_name: z.string() })
  .meta({ description: 'The call could not be placed; its run is stored, completed.' });

const workflowFault = z
  .object({
    detail: z.object({ is_valid: z.literal(false), errors: z.array(workflowProblem) }),
    message: z.string(),
  })
  .meta({ description: 'What is wrong with the workflow.' });

const validationFault = z
  .object({ detail: z.array(validationItem) })
  .meta({ description: 'The request is not valid.' });

const revisionFault = z
  .object({
    detail: z.object({
      message: z.string(),
      expected_revision: z.int(),
      actual_revision: z.int(),
    }),
    message: z.string(),
  })
  .meta({ description: 'A text chat has changed meanwhile.' });

const either = z.union([notPlacedFault, plainFault, workflowFault, revisionFault]);
const anyInvalid = z.union([validationFault, workflowFault, plainFault]);

/** Response schemas for the statuses with which a route may fail; 422 and the server's own are added,
 *  and beside 401 there is 429 for who fails too often. */
export function faults<Status extends number>(...statuses: Status[]) {
  const limits = statuses.some((status) => status === 401) ? { 429: plainFault } : {};
  const bodies = Object.fromEntries(statuses.map((status) => [status, either]));
  return {
    ...limits,
    ...bodies,
    413: plainFault,
    422: anyInvalid,
    500: plainFault,
    503: plainFault,
  };
}
