// Routes of the watched lines of a telephony configuration: …/telephony-configs/{id}/lines. Not part of the reference's
// API.

import { z } from 'zod';
import { firstTestMs } from '../../call/examination/line-watch.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { configurationIdInPath, lineIdInPath } from '../http/path-parameters.ts';
import { configurationOf } from './configuration-routes.ts';
import {
  changedLine,
  createdLine,
  lineCreate,
  lineOnWire,
  lineOut,
  lineTestOnWire,
  lineTestOut,
  lineUpdate,
} from './line-schema.ts';

const common = { tags: ['telephony'], security: keyRequired };
const ROOT = '/organizations/telephony-configs/:config_id/lines';
const parent = z.object({ config_id: configurationIdInPath });
const params = z.object({ config_id: configurationIdInPath, line_id: lineIdInPath });

export function lineRoutes(api: Api, deps: ApiDeps): void {
  readRoutes(api, deps);
  createRoute(api, deps);
  changeRoutes(api, deps);
}

function readRoutes(api: Api, deps: ApiDeps): void {
  const { lines } = deps.store;

  api.get(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'listWatchedLines',
        summary: 'List watched lines',
        description:
          'The lines of the configuration that are tested on a schedule, with their state.',
        params: parent,
        response: {
          200: z.object({ lines: z.array(lineOut) }).describe('The watched lines.'),
          ...faults('CONFIGURATION_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await configurationOf(deps, organizationId, request.params.config_id);
      return { lines: (await lines.list(id)).map(lineOnWire) };
    },
  );

  api.get(
    `${ROOT}/:line_id/tests`,
    {
      schema: {
        ...common,
        operationId: 'listWatchedLineTests',
        summary: 'List test calls of a line',
        description: 'What the last hundred test calls found, the newest first.',
        params,
        response: {
          200: z.object({ tests: z.array(lineTestOut) }).describe('The last test calls.'),
          ...faults('CONFIGURATION_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await configurationOf(deps, organizationId, request.params.config_id);
      return { tests: (await lines.results(id, request.params.line_id)).map(lineTestOnWire) };
    },
  );
}

function createRoute(api: Api, deps: ApiDeps): void {
  const { store, random } = deps;
  api.post(
    ROOT,
    {
      schema: {
        ...common,
        operationId: 'createWatchedLine',
        summary: 'Watch a line',
        description:
          'Tests a line by a call on a schedule, the first time within a minute: audio both ways, delay, loss, codec, keys, and whether the call arrives as the number that was dialled. A test call starts no agent, has no run, and is not placed while the places of the line or of the organization are taken. Nothing is watched unless it is added here. Over a hosted provider a `trunk` is watched, and the provider charges for each call.',
        params: parent,
        body: lineCreate,
        response: {
          200: lineOut,
          ...faults('CONFIGURATION_NOT_FOUND', 'LINES_FULL', 'LINE_INVALID'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id, provider } = await configurationOf(
        deps,
        organizationId,
        request.params.config_id,
      );
      const of = { organizationId, configurationId: id };
      const settings = createdLine(request.body, !deps.pbxProviders.includes(provider));
      return lineOnWire(await store.lines.create(of, settings, firstTestMs(random)));
    },
  );
}

function changeRoutes(api: Api, deps: ApiDeps): void {
  const { store, random } = deps;

  api.put(
    `${ROOT}/:line_id`,
    {
      schema: {
        ...common,
        operationId: 'updateWatchedLine',
        summary: 'Change a watched line',
        description:
          'Changes a watched line, or switches its test calls on and off; what is left out stays. The next test call is due within a minute.',
        params,
        body: lineUpdate,
        response: {
          200: lineOut,
          ...faults('CONFIGURATION_NOT_FOUND', 'LINE_NOT_FOUND', 'LINE_INVALID'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { config_id: configId, line_id: lineId } = request.params;
      const { id, provider } = await configurationOf(deps, organizationId, configId);
      const before = (await store.lines.list(id)).find((line) => line.id === lineId);
      if (before === undefined) throw new GatewayError('LINE_NOT_FOUND');
      const isHosted = !deps.pbxProviders.includes(provider);
      const settings = changedLine(before, request.body, isHosted);
      const line = await store.lines.update(id, lineId, settings, firstTestMs(random));
      if (line === undefined) throw new GatewayError('LINE_NOT_FOUND');
      return lineOnWire(line);
    },
  );

  api.delete(
    `${ROOT}/:line_id`,
    {
      schema: {
        ...common,
        operationId: 'deleteWatchedLine',
        summary: 'Stop watching a line',
        description: 'Deletes the line with its test results; its metrics end within seconds.',
        params,
        response: {
          200: z.object({ success: z.literal(true) }).describe('The line is gone.'),
          ...faults('CONFIGURATION_NOT_FOUND', 'LINE_NOT_FOUND'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { id } = await configurationOf(deps, organizationId, request.params.config_id);
      if (!(await store.lines.delete(id, request.params.line_id))) {
        throw new GatewayError('LINE_NOT_FOUND');
      }
      return { success: true as const };
    },
  );
}
