// The ids in paths, each described once for all routes that have it.

import { z } from 'zod';
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
