// An error that lists what is wrong with a workflow, item by item. Source: contract appendix A.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type WorkflowProblem, workflowProblem } from '../../model/workflow.ts';
import { parseJson } from '../../std/json.ts';

export class WorkflowRefused extends GatewayError {
  /** WORKFLOW_INVALID: the definition itself; WORKFLOW_CONFLICT: it and what is stored. */
  constructor(
    code: 'WORKFLOW_INVALID' | 'WORKFLOW_CONFLICT',
    problems: readonly WorkflowProblem[],
  ) {
    const text = problems.map(({ message }) => message).join('; ');
    // The list too is a fact, so that it survives the way from one process to another.
    super(code, { problems: text, list: JSON.stringify(problems) });
  }
}

/** The problems that an error of these codes lists; one for the whole workflow if it lists none. */
export function problemsIn({ facts, message }: GatewayError): WorkflowProblem[] {
  const listed = z.array(workflowProblem).safeParse(parseJson(String(facts['list'] ?? ''))).data;
  return listed ?? [{ kind: 'workflow', id: null, field: null, message }];
}
