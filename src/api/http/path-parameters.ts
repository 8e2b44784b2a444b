// The ids in paths, each described once for all routes that have it, and the run that a path names.

import type { FastifyRequest } from 'fastify';
import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Run } from '../../model/run.ts';
import type { ApiDeps } from './api-deps.ts';
import { principalOf } from './authentication.ts';
import { idInPath } from './values.ts';

/** Longest UUID that is looked up. */
const UUID_LENGTH_MAX = 100;

export const workflowIdInPath = idInPath.describe(
  "The agent's `id`, a number: from `createWorkflow` or `listWorkflows`. Not its `workflow_uuid`.",
);
export const versionIdInPath = idInPath.describe(
  "The version's `id`, from `listWorkflowVersions`; not its `version_number`.",
);
export const runIdInPath = idInPath.describe(
  "The run's `id`: the `workflow_run_id` that the start of a call answers, or an `id` of `listRuns`.",
);
export const configurationIdInPath = idInPath.describe(
  "The telephony configuration's `id`, from `listTelephonyConfigurations`.",
);
export const phoneNumberIdInPath = idInPath.describe(
  "The phone number's `id`, from `listPhoneNumbers`; not the number itself.",
);
export const lineIdInPath = idInPath.describe("The line's `id`, from `listWatchedLines`.");
export const trunkIdInPath = idInPath.describe("The trunk's `id`, from `listTrunks`.");
export const campaignIdInPath = idInPath.describe("The campaign's `id`, from `listCampaigns`.");
export const folderIdInPath = idInPath.describe("The folder's `id`, from `listFolders`.");
export const apiKeyIdInPath = idInPath.describe(
  "The key's `id`, from `listApiKeys`; not the key itself.",
);
export const deliveryIdInPath = idInPath.describe(
  "The delivery's `id`, from `listWebhookDeliveries`.",
);
export const toolUuidInPath = z
  .string()
  .max(UUID_LENGTH_MAX)
  .describe("The tool's `tool_uuid`, from `listTools`. Not its `id`.");
export const credentialUuidInPath = z
  .string()
  .max(UUID_LENGTH_MAX)
  .describe("The credential's `uuid`, from `listCredentials`.");

/** Parameters of `/workflow/:workflow_id/runs/:run_id`. */
export const runInPath = z.object({ workflow_id: workflowIdInPath, run_id: runIdInPath });

/** The run of the organization that the path names. Throws RUN_NOT_FOUND, also if it is another agent's. */
export async function runByPath(
  { store }: Pick<ApiDeps, 'store'>,
  request: FastifyRequest,
  { workflow_id: workflowId, run_id: runId }: z.infer<typeof runInPath>,
): Promise<Run> {
  const run = await store.runs.get(principalOf(request).organizationId, runId);
  if (run?.workflowId !== workflowId) throw new GatewayError('RUN_NOT_FOUND');
  return run;
}
