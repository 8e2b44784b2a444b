// Schemas of workflows and their versions. Source: specification §2.4, contract §5.1, §5.5 and Appendix D.

import { z } from 'zod';
import { DEFINITION_LIMITS } from '../../model/json-limits.ts';
import { workflowConfigurations, workflowDefinition } from '../../model/workflow.ts';
import { checkedBy } from '../http/error-location.ts';
import { freeObject, idOut, nameIn, storedObject, timeOut, within } from '../http/values.ts';

export const WORKFLOW_NAME_MAX = 255;
export const workflowName = nameIn(WORKFLOW_NAME_MAX);

const definitionIn = within(workflowDefinition, DEFINITION_LIMITS).meta({
  id: 'WorkflowDefinition',
  description:
    'The graph of the conversation: at most 1 MB and 20,000 values. What is not complete yet is stored too; `validateWorkflow` says what calls need.',
});

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
describeSettings(sparseConfigurations);

export const workflowUpdate = z.object({
  name: workflowName
    .nullish()
    .describe('The new name, of 1 to 255 characters. Takes effect at once. Left out: unchanged.'),
  workflow_definition: definitionIn
    .nullish()
    .describe(
      'Takes the place of the whole graph of the draft: at most 1 MB and 20,000 values. Left out: unchanged.',
    ),
  template_context_variables: storedObject
    .nullish()
    .describe(
      "Values of template variables for calls whose `initial_context` has none of that name: at most 64 kB and 2,000 values. Take the place of all of the draft's. Left out: unchanged.",
    ),
  workflow_configurations: sparseConfigurations
    .nullish()
    .describe(
      "Settings of the agent. Take the place of all of the draft's; a setting that is left out or null has its default. Left out: unchanged.",
    ),
});

/** Adds the known settings to the API's description of `settings`, which accepts and keeps other keys too. */
function describeSettings(settings: z.ZodType): void {
  const known = Object.entries(workflowConfigurations.shape);
  const orNull = known.map(([name, setting]) => [name, (setting as z.ZodType).nullish()]);
  const { $schema: _target, ...shown } = z.toJSONSchema(z.looseObject(Object.fromEntries(orNull)), {
    io: 'input',
  });
  z.globalRegistry.add(settings, {
    ...shown,
    id: 'WorkflowConfigurations',
    description:
      'Settings of an agent. Further ones: `voicemail_detection` (`enabled`, `long_speech_timeout` in seconds, `voicemail_action`, `voicemail_message`, `screening_message` and others: docs/contract.md, 8.8), `model_configuration_v2_override` and `model_overrides` (speech services). Unknown keys are kept.',
  });
}

const workflowStatus = z
  .enum(['active', 'archived'])
  .describe('`archived`: the agent starts and answers no calls.');
const versionStatus = z
  .enum(['draft', 'published', 'archived'])
  .describe('Calls use the `published` version. An `archived` one was published before it.');

export const workflowStatusUpdate = z.object({ status: workflowStatus });

export const workflowOut = z
  .object({
    id: idOut,
    name: z.string(),
    status: workflowStatus,
    created_at: timeOut,
    workflow_definition: freeObject.describe('The graph of the version that is shown.'),
    current_definition_id: idOut.nullable().describe('Id of the version that is shown.'),
    template_context_variables: freeObject.describe('Values of template variables.'),
    call_disposition_codes: z
      .object({ disposition_codes: z.array(z.string()) })
      .describe('Dispositions that calls of the agent have had.'),
    total_runs: z.int().describe('Runs of all versions.'),
    workflow_configurations: freeObject.describe(
      'Settings that were changed; keys of services are masked.',
    ),
    version_number: z.int().nullable().describe('Number of the version that is shown, from 1.'),
    version_status: versionStatus.nullable(),
    workflow_uuid: z.string().describe('For the paths that start calls.'),
  })
  .meta({
    id: 'WorkflowResponse',
    description: 'An agent with its draft, or with its published version if it has no draft.',
  });

export const workflowListItem = z
  .object({
    id: idOut,
    name: z.string(),
    status: workflowStatus,
    created_at: timeOut,
    total_runs: z.int().describe('Runs of all versions.'),
    folder_id: idOut.nullable().describe('Null: in no folder.'),
    published_version: z
      .int()
      .nullable()
      .describe('Number of the version that calls use. Null: none is published.'),
    has_draft: z.boolean().describe('Whether there are changes that are not published.'),
    workflow_uuid: z.string().describe('For the paths that start calls.'),
  })
  .meta({ id: 'WorkflowListResponse', description: 'An agent without its content.' });

export const workflowVersionOut = z
  .object({
    id: idOut,
    version_number: z.int().describe('Versions of an agent count from 1.'),
    status: versionStatus,
    created_at: timeOut,
    published_at: timeOut.nullable().describe('Null: never published.'),
    workflow_json: freeObject.describe('The graph.'),
    workflow_configurations: freeObject.describe('Settings that were changed.'),
    template_context_variables: freeObject.describe('Values of template variables.'),
  })
  .meta({ id: 'WorkflowVersionResponse', description: 'One version of an agent.' });
