// Routes of the tools that agents may use in calls: /tools. Source: contract §10.1.

import { z } from 'zod';
import { GatewayError } from '../../errors/gateway-error.ts';
import { type Tool, type ToolStatus, toolStatus } from '../../model/tool.ts';
import type { ToolPatch } from '../../store/library/tools.ts';
import { toolCategory } from '../../workflow/tools/registry.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { toolUuidInPath } from '../http/path-parameters.ts';
import { valueError } from '../http/validation.ts';
import { restoreHeaders } from './masked-headers.ts';
import { toolCreate, toolOnWire, toolOut, toolUpdate } from './tool-schema.ts';

const common = { tags: ['tools'], security: keyRequired };
const params = z.object({ tool_uuid: toolUuidInPath });
const query = z.object({
  status: z.string().max(100).optional().meta({
    description:
      '`active`, `draft` or `archived`, or several with commas between them. Default: all but archived ones.',
  }),
  category: z
    .string()
    .max(100)
    .optional()
    .meta({
      description: 'Only tools of this type, such as `http_api`. Default: all types.',
      examples: ['http_api'],
    }),
});
const ROOT = '/tools/';

export function toolRoutes(api: Api, deps: ApiDeps): void {
  readRoutes(api, deps);
  createRoute(api, deps);
  updateRoute(api, deps);
  archiveRoutes(api, deps);
  mcpRoute(api, deps);
}

function readRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listTools',
        summary: 'List tools',
        description: 'Tools by name; archived ones only if they are asked for.',
        querystring: query,
        response: {
          200: z.array(toolOut).describe('Tools, by name.'),
          ...faults('TOOL_FILTER_UNKNOWN'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { status, category } = request.query;
      const filter = { statuses: statusesOf(status), category: categoryOf(category) };
      return (await deps.store.tools.list(organizationId, filter)).map(toolOnWire);
    },
  );

  api.get(
    `${ROOT}:tool_uuid`,
    {
      schema: {
        ...common,
        operationId: 'getTool',
        summary: 'Get a tool',
        description: 'One tool by its uuid, secrets in headers masked.',
        params,
        response: { 200: toolOut, ...faults('TOOL_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      return toolOnWire(await requireTool(deps, organizationId, request.params.tool_uuid));
    },
  );
}

function createRoute(api: Api, deps: ApiDeps): void {
  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'createTool',
        summary: 'Create a tool',
        description: 'Stores a tool; nodes of agents name it by its uuid.',
        body: toolCreate,
        response: { 200: toolOut, ...faults('CREDENTIAL_NOT_FOUND') },
      },
    },
    async (request) => {
      const { name, description, icon, icon_color: iconColor, definition } = request.body;
      const category = definition.type;
      const input = { name, description, category, icon, iconColor, definition };
      return toolOnWire(await deps.store.tools.create(principalOf(request), input));
    },
  );
}

function updateRoute(api: Api, deps: ApiDeps): void {
  api.put(
    `${ROOT}:tool_uuid`,
    {
      schema: {
        ...common,
        operationId: 'updateTool',
        summary: 'Update a tool',
        description: 'Changes a tool; what is left out stays. The next call uses it.',
        params,
        body: toolUpdate,
        response: { 200: toolOut, ...faults('TOOL_NOT_FOUND', 'CREDENTIAL_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const tool = await requireTool(deps, organizationId, request.params.tool_uuid);
      const patch = patchOf(request.body, tool);
      return toolOnWire(found(await deps.store.tools.update(organizationId, tool.uuid, patch)));
    },
  );
}

function archiveRoutes(api: Api, deps: ApiDeps): void {
  const { tools } = deps.store;

  api.delete(
    `${ROOT}:tool_uuid`,
    {
      schema: {
        ...common,
        operationId: 'archiveTool',
        summary: 'Archive a tool',
        description: 'Archives a tool: no call is offered it from then on.',
        params,
        response: {
          200: z
            .object({ status: z.literal('archived'), tool_uuid: z.string() })
            .describe('The tool is archived.'),
          ...faults('TOOL_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { tool_uuid: uuid } = request.params;
      found(await tools.update(organizationId, uuid, { status: 'archived' }));
      return { status: 'archived' as const, tool_uuid: uuid };
    },
  );

  api.post(
    `${ROOT}:tool_uuid/unarchive`,
    {
      schema: {
        ...common,
        operationId: 'unarchiveTool',
        summary: 'Restore a tool',
        description: 'Takes an archived tool back into use.',
        params,
        response: { 200: toolOut, ...faults('TOOL_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const tool = await requireTool(deps, organizationId, request.params.tool_uuid);
      if (tool.status !== 'archived') return toolOnWire(tool);
      const taken = await tools.update(organizationId, tool.uuid, { status: 'active' });
      return toolOnWire(found(taken));
    },
  );
}

function mcpRoute(api: Api, deps: ApiDeps): void {
  api.post(
    `${ROOT}:tool_uuid/mcp/refresh`,
    {
      schema: {
        ...common,
        operationId: 'refreshMcpTool',
        summary: 'Refresh an MCP tool',
        description: 'Would read the functions of an MCP server; this gateway calls none.',
        params,
        response: {
          200: toolOut,
          ...faults('TOOL_NOT_FOUND', 'TOOL_NOT_MCP', 'TOOL_MCP_UNAVAILABLE'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { category } = await requireTool(deps, organizationId, request.params.tool_uuid);
      throw new GatewayError(category === 'mcp' ? 'TOOL_MCP_UNAVAILABLE' : 'TOOL_NOT_MCP');
    },
  );
}

/** Throws TOOL_NOT_FOUND if a tool does not exist or belongs to another organization. */
export async function requireTool(
  deps: ApiDeps,
  organizationId: string,
  uuid: string,
): Promise<Tool> {
  return found(await deps.store.tools.get(organizationId, uuid));
}

function found(tool: Tool | undefined): Tool {
  if (tool === undefined) throw new GatewayError('TOOL_NOT_FOUND');
  return tool;
}

/** The change to store; a tool keeps its type. Throws RequestInvalid. */
function patchOf(body: z.infer<typeof toolUpdate>, tool: Tool): ToolPatch {
  const { name, description, icon, icon_color: iconColor, definition, status } = body;
  if (definition && definition.type !== tool.category) {
    const loc = ['body', 'definition', 'type'];
    throw valueError(loc, `the type of the definition must stay ${tool.category}`, definition.type);
  }
  return {
    ...(name ? { name } : {}),
    ...(description === undefined ? {} : { description }),
    ...(icon === undefined ? {} : { icon }),
    ...(iconColor === undefined ? {} : { iconColor }),
    ...(definition ? { definition: restoreHeaders(definition, tool.definition) } : {}),
    ...(status ? { status } : {}),
  };
}

/** Throws TOOL_FILTER_UNKNOWN. */
function statusesOf(list: string | undefined): ToolStatus[] {
  if (list === undefined || list === '') return ['active', 'draft'];
  return list.split(',').map((word) => allowed(toolStatus.options, 'status', word.trim()));
}

/** Throws TOOL_FILTER_UNKNOWN. */
function categoryOf(word: string | undefined): string | null {
  if (word === undefined || word === '') return null;
  return allowed(toolCategory.options, 'category', word);
}

function allowed<T extends string>(options: readonly T[], filter: string, value: string): T {
  const known = options.find((option) => option === value);
  if (known !== undefined) return known;
  throw new GatewayError('TOOL_FILTER_UNKNOWN', { filter, value, allowed: options.join(', ') });
}
