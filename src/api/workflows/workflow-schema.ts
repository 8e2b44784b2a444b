// Schemas of workflows and their versions. Source: specification §2.4, contract §5.1, §5.5 and Appendix D.

import { z } from 'zod';
import { DEFINITION_LIMITS } from '../../model/json-limits.ts';
import { workflowConfigurations, workflowDefinition } from '../../model/workflow.ts';
import { checkedBy } from '../http/error-location.ts';
import { freeObject, idOut, nameIn, storedObject, timeOut, within } from '../http/values.ts';

export const WORKFLOW_NAME_MAX = 255;
export const workflowName = nameIn(WORKFLOW_NAME_MAX);

const definitionIn = within(workflowDefinition, DEFINITION_LIMITS);

export const workflowCreate = z.object({
  name: workflowName,
  workflow_definition: definitionIn,
});

/** Configurations are stored as sent; the schema only checks them. Null means "not set". */
const sparseConfigurations = storedObject
  .transform((settings) =>
    Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null)),
  )
  .check((context) => {
    const checked = workflowConfigurations.safeParse(context.value);
    for (const issue of checked.error?.issues ?? []) {
      context.issues.push({ ...issue, input: undefined } as z.core.$ZodRawIssue);
    }
  });
checkedBy.set(sparseConfigurations, workflowConfigurations);

export const workflowUpdate = z.object({
  name: workflowName.nullish(),
  workflow_definition: definitionIn.nullish(),
  template_context_variables: storedObject.nullish(),
  workflow_configurations: sparseConfigurations.nullish(),
});

const workflowStatus = z.enum(['active', 'archived']);
const versionStatus = z.enum(['draft', 'published', 'archived']);

export const workflowStatusUpdate = z.object({ status: workflowStatus });

export const workflowOut = z
  .object({
    id: idOut,
    name: z.string(),
    status: workflowStatus,
    created_at: timeOut,
    workflow_definition: freeObject,
    current_definition_id: idOut.nullable(),
    template_context_variables: freeObject,
    call_disposition_codes: z.object({ disposition_codes: z.array(z.string()) }),
    total_runs: z.int(),
    workflow_configurations: freeObject,
    version_number: z.int().nullable(),
    version_status: versionStatus.nullable(),
    workflow_uuid: z.string(),
  })
  .meta({ id: 'WorkflowResponse' });

export const workflowListItem = z
  .object({
    id: idOut,
    name: z.string(),
    status: workflowStatus,
    created_at: timeOut,
    total_runs: z.int(),
    folder_id: idOut.nullable(),
    workflow_uuid: z.string(),
  })
  .meta({ id: 'WorkflowListResponse' });

export const workflowVersionOut = z
  .object({
    id: idOut,
    version_number: z.int(),
    status: versionStatus,
    created_at: timeOut,
    published_at: timeOut.nullable(),
    workflow_json: freeObject,
    workflow_configurations: freeObject,
    template_context_variables: freeObject,
  })
  .meta({ id: 'WorkflowVersionResponse' });
