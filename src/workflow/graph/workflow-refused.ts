// An error with a list of a workflow's problems. Source: contract appendix A.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type WorkflowProblem, workflowProblem } from '../../model/workflow.ts';
import { parseJson } from '../../std/json.ts';

export class WorkflowRefused extends GatewayError {
  /** `code`: WORKFLOW_INVALID for the definition itself, WORKFLOW_CONFLICT for a conflict with stored data. */
  constructor(
    code: 'WORKFLOW_INVALID' | 'WORKFLOW_CONFLICT',
    problems: readonly WorkflowProblem[],
  ) {
    const text = problems.map(({ message }) => message).join('; ');
    // The list is a fact too, so that it reaches other processes with the error.
    super(code, { problems: text, list: JSON.stringify(problems) });
  }
}

/** The problems in an error of these codes; one for the whole workflow if it has no list. */
export function problemsIn({ facts, message }: GatewayError): WorkflowProblem[] {
  const listed = z.array(workflowProblem).safeParse(parseJson(String(facts['list'] ?? ''))).data;
  return listed ?? [{ kind: 'workflow', id: null, field: null, message }];
}
