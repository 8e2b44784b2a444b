// Schemas of error bodies, and the errors that a route declares by their codes. openapi/error-responses.ts builds the
// responses of the API's description from them. Source: specification §2.9 and §7, contract §1.

import { z } from 'zod';
import type { ErrorCode } from '../../errors/gateway-error.ts';
import { serviceProblem } from '../../model/speech-services/services-refused.ts';
import { workflowProblem } from '../../model/workflow.ts';
import { errorStatuses } from './error-status.ts';

export const validationItem = z
  .object({
    type: z.string(),
    loc: z.array(z.union([z.string(), z.number()])),
    msg: z.string(),
    input: z.unknown(),
    ctx: z.record(z.string(), z.unknown()).optional(),
  })
  .meta({ id: 'ValidationError' });
export type ValidationItem = z.infer<typeof validationItem>;

export const workflowProblemSchema = workflowProblem.meta({ id: 'WorkflowProblem' });

const code = z.string().meta({
  description:
    'What the error is, for programs: the same in every version, whatever `detail` says.',
  examples: ['CALL_LIMIT_REACHED'],
});
const retryAfter = z.int().min(1).optional().meta({
  description: 'Seconds after which to send the request again, as in the header `Retry-After`.',
});

function errorBody<Detail extends z.ZodType>(detail: Detail) {
  return z.object({ detail, code, retry_after: retryAfter });
}

const detail = z.string().meta({ description: 'What the error is, for people.' });
const plainError = errorBody(detail).meta({ id: 'ErrorResponse' });

/** All error bodies, under their names in the API's description. */
export const errorBodies = [
  plainError,
  errorBody(z.array(validationItem)).meta({ id: 'HTTPValidationError' }),
  errorBody(z.object({ is_valid: z.literal(false), errors: z.array(workflowProblemSchema) }))
    .extend({ message: z.string() })
    .meta({ id: 'WorkflowErrorResponse' }),
  errorBody(z.array(serviceProblem)).meta({ id: 'ServiceErrorResponse' }),
  errorBody(detail)
    .extend({ workflow_run_id: z.string(), workflow_run_name: z.string() })
    .meta({ id: 'CallNotPlacedResponse' }),
  errorBody(z.object({ message: z.string(), expected_revision: z.int(), actual_revision: z.int() }))
    .extend({ message: z.string() })
    .meta({ id: 'RevisionConflictResponse' }),
] as const;

/** Field of a response in the description that lists its codes. */
export const ERROR_CODES = 'x-error-codes';

/** Error codes of operations that need an agent which can run. */
export const AGENT_FAULTS = [
  'AGENT_NOT_FOUND',
  'AGENT_NOT_ACTIVE',
  'AGENT_NOT_PUBLISHED',
  'AGENT_OVERSIZED',
  'WORKFLOW_INVALID',
] as const satisfies ErrorCode[];

/** Response schemas for the errors of an operation in addition to those of all operations (invalid credentials,
 *  invalid input, the gateway's own faults). A code without a status is a mistake. */
export function faults(...codes: ErrorCode[]): { 500: typeof plainError } {
  const byStatus: Record<number, ErrorCode[]> = { 500: [] };
  for (const code of codes) {
    const status = errorStatuses[code];
    if (status === undefined) throw new Error(`${code} has no status`);
    byStatus[status] = [...(byStatus[status] ?? []), code];
  }
  const schemas = Object.entries(byStatus).map(([status, named]) => [
    status,
    z.object({ detail: z.string() }).meta({ [ERROR_CODES]: named }),
  ]);
  return Object.fromEntries(schemas);
}
