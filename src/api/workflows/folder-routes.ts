// Routes of folders for agents. Source: contract §5.1 and §10.3.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { WorkflowFolder } from '../../model/workflow.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { folderIdInPath, workflowIdInPath } from '../http/path-parameters.ts';
import { idIn, idOut, isoTime, nameIn, timeOut } from '../http/values.ts';
import { listedOnWire } from './workflow-mapping.ts';
import { workflowListItem } from './workflow-schema.ts';

const common = { tags: ['workflows'], security: keyRequired };
const params = z.object({ folder_id: folderIdInPath });
const body = z.object({
  name: nameIn(100).describe(
    'A name that no other folder has, of 1 to 100 characters that are not all white space.',
  ),
});

const folderOut = z
  .object({ id: idOut, name: z.string(), created_at: timeOut })
  .meta({ id: 'FolderResponse', description: 'A folder of agents.' });

export function folderRoutes(api: Api, deps: ApiDeps): void {
  listRoutes(api, deps);
  changeRoutes(api, deps);
  fileRoute(api, deps);
}

function listRoutes(api: Api, deps: ApiDeps): void {
  const { folders } = deps.store;

  api.get(
    '/folder/',
    {
      schema: {
        ...common,
        operationId: 'listFolders',
        summary: 'List folders',
        description: 'All folders, by name.',
        response: { 200: z.array(folderOut).describe('All folders, by name.'), ...faults() },
      },
    },
    async (request) => {
      const all = await folders.list(principalOf(request).organizationId);
      return all.map(folderOnWire);
    },
  );

  api.post(
    '/folder/',
    {
      schema: {
        ...common,
        operationId: 'createFolder',
        summary: 'Create a folder',
        description: 'Makes a folder for agents.',
        body,
        response: { 200: folderOut, ...faults('FOLDER_NAME_TAKEN', 'FOLDERS_FULL') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return folderOnWire(await folders.create(organizationId, request.body.name));
    },
  );
}

function changeRoutes(api: Api, deps: ApiDeps): void {
  const { folders } = deps.store;

  api.put(
    '/folder/:folder_id',
    {
      schema: {
        ...common,
        operationId: 'renameFolder',
        summary: 'Rename a folder',
        description: 'Gives a folder another name; its agents stay in it.',
        params,
        body,
        response: { 200: folderOut, ...faults('FOLDER_NOT_FOUND', 'FOLDER_NAME_TAKEN') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { folder_id: id } = request.params;
      const folder = await folders.rename(organizationId, id, request.body.name);
      if (folder === undefined) throw new GatewayError('FOLDER_NOT_FOUND');
      return folderOnWire(folder);
    },
  );

  api.delete(
    '/folder/:folder_id',
    {
      schema: {
        ...common,
        operationId: 'deleteFolder',
        summary: 'Delete a folder',
        description: 'Deletes a folder; its agents stay, in none.',
        params,
        response: {
          200: z.object({ success: z.literal(true) }).describe('The folder is gone.'),
          ...faults('FOLDER_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const gone = await folders.delete(organizationId, request.params.folder_id);
      if (!gone) throw new GatewayError('FOLDER_NOT_FOUND');
      return { success: true as const };
    },
  );
}

function fileRoute(api: Api, deps: ApiDeps): void {
  const { workflows } = deps.store;
  api.put(
    '/workflow/:workflow_id/folder',
    {
      schema: {
        ...common,
        operationId: 'moveWorkflowToFolder',
        summary: 'Move an agent to a folder',
        description: 'Files an agent in a folder; null takes it out.',
        params: z.object({ workflow_id: workflowIdInPath }),
        body: z.object({
          folder_id: idIn
            .nullish()
            .describe("The folder's `id`. Null or left out: the agent is in no folder."),
        }),
        response: { 200: workflowListItem, ...faults('WORKFLOW_NOT_FOUND', 'FOLDER_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { workflow_id: id } = request.params;
      const folderId = request.body.folder_id ?? null;
      const moved = await workflows.moveToFolder(organizationId, id, folderId);
      const workflow = moved && (await workflows.getCounted(organizationId, id));
      if (workflow === undefined) throw new GatewayError('WORKFLOW_NOT_FOUND', { id });
      return listedOnWire(workflow);
    },
  );
}

function folderOnWire({ id, name, createdAt }: WorkflowFolder): z.infer<typeof folderOut> {
  return { id, name, created_at: isoTime(createdAt) };
}
