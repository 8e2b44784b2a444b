// An error that lists what is wrong with a workflow, item by item. Source: contract appendix A.3.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowProblem } from '../../model/workflow.ts';

export class WorkflowRefused extends GatewayError {
  readonly problems: readonly WorkflowProblem[];

  /** WORKFLOW_INVALID: the definition itself; WORKFLOW_CONFLICT: it and what is stored. */
  constructor(
    code: 'WORKFLOW_INVALID' | 'WORKFLOW_CONFLICT',
    problems: readonly WorkflowProblem[],
  ) {
    super(code, { problems: problems.map(({ message }) => message).join('; ') });
    this.problems = problems;
  }
}
