// Campaign routes: create, list, read, change, and the defaults for a form. Source: specification §2.6 and §4.10,
// contract §9.1 and §9.10.

import { z } from 'zod';
import {
  type CampaignWish,
  changeCampaign,
  createCampaign,
} from '../../campaign/campaign-settings.ts';
import { campaignOf } from '../../campaign/lifecycle.ts';
import {
  type Campaign,
  type CampaignSettings,
  RATE_PER_SECOND_DEFAULT,
  RETRY_DEFAULT,
} from '../../model/campaign.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { AGENT_FAULTS, faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { campaignIdInPath } from '../http/path-parameters.ts';
import { campaignsOnWire, shownCampaign } from './campaign-mapping.ts';
import {
  type CampaignCreate,
  type CampaignUpdate,
  campaignCreate,
  campaignDefaults,
  campaignOut,
  campaignPage,
  campaignUpdate,
  pageQuery,
} from './campaign-schema.ts';
import {
  breakerOnWire,
  breakerSettingsOf,
  retryOnWire,
  retrySettingsOf,
  scheduleOnWire,
  scheduleSettingsOf,
} from './campaign-settings-schema.ts';

const common = { tags: ['campaigns'], security: keyRequired };
const params = z.object({ campaign_id: campaignIdInPath });

export function campaignRoutes(api: Api, deps: ApiDeps): void {
  createRoute(api, deps);
  readRoutes(api, deps);
  updateRoute(api, deps);
  defaultsRoute(api, deps);
}

function createRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/campaign/create',
    {
      schema: {
        ...common,
        operationId: 'createCampaign',
        summary: 'Create a campaign',
        description:
          'Makes a campaign for an uploaded contact file, which is checked here, and an agent, which must be valid.',
        body: campaignCreate,
        response: {
          200: campaignOut,
          ...faults(
            ...AGENT_FAULTS,
            'CAMPAIGN_SOURCE_KEY_INVALID',
            'FILE_FORBIDDEN',
            'CAMPAIGN_SOURCE_INVALID',
            'CAMPAIGN_CONFIGURATION_NOT_FOUND',
            'CONFIGURATION_NOT_READY',
            'CAMPAIGN_CONCURRENCY',
            'FILES_UNAVAILABLE',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const wish = campaignWishOf(request.body);
      return shownCampaign(deps, await createCampaign(deps, organizationId, wish));
    },
  );
}

function readRoutes(api: Api, deps: ApiDeps): void {
  api.get(
    '/campaign',
    {
      schema: {
        ...common,
        operationId: 'listCampaigns',
        summary: 'List campaigns',
        description: 'Campaigns, newest first, by pages.',
        querystring: pageQuery,
        response: { 200: campaignPage, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { page, limit } = request.query;
      const offset = (page - 1) * limit;
      const listed = await deps.store.campaigns.list(organizationId, { limit, offset });
      return {
        campaigns: await campaignsOnWire(deps, listed.campaigns),
        total_count: listed.total,
        page,
        limit,
        total_pages: Math.ceil(listed.total / limit),
      };
    },
  );

  api.get(
    '/campaign/:campaign_id',
    {
      schema: {
        ...common,
        operationId: 'getCampaign',
        summary: 'Get a campaign',
        description: 'One campaign with its counters and its log.',
        params,
        response: { 200: campaignOut, ...faults('CAMPAIGN_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { campaign_id: id } = request.params;
      return shownCampaign(deps, await campaignOf(deps, organizationId, id));
    },
  );
}

function updateRoute(api: Api, deps: ApiDeps): void {
  api.patch(
    '/campaign/:campaign_id',
    {
      schema: {
        ...common,
        operationId: 'updateCampaign',
        summary: 'Update a campaign',
        description:
          'Changes the name and settings. What is left out stays; null takes a setting back to its default.',
        params,
        body: campaignUpdate,
        response: {
          200: campaignOut,
          ...faults('CAMPAIGN_NOT_FOUND', 'CAMPAIGN_ENDED', 'CAMPAIGN_CONCURRENCY'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { campaign_id: id } = request.params;
      const { name, ...sent } = request.body;
      const settings = campaignPatchOf(sent);
      const patch = { ...settings, ...(typeof name === 'string' ? { name } : {}) };
      return shownCampaign(deps, await changeCampaign(deps, { organizationId, id }, patch));
    },
  );
}

function defaultsRoute(api: Api, deps: ApiDeps): void {
  const { store } = deps;
  api.get(
    '/organizations/campaign-defaults',
    {
      schema: {
        ...common,
        operationId: 'getCampaignDefaults',
        summary: 'Get campaign defaults',
        description: 'What a form for a new campaign is filled with.',
        response: { 200: campaignDefaults, ...faults() },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const configurations = await store.telephony.listConfigurations(organizationId);
      const byDefault = configurations.find(({ isDefaultOutbound }) => isDefaultOutbound);
      const { campaigns } = await store.campaigns.list(organizationId, { limit: 1, offset: 0 });
      return {
        concurrent_call_limit: await store.accounts.concurrentCallLimit(organizationId),
        from_numbers_count: byDefault?.activePhoneNumbers ?? 0,
        default_retry_config: retryOnWire(RETRY_DEFAULT),
        last_campaign_settings: campaigns.map(settingsOnWire)[0] ?? null,
      };
    },
  );
}

function settingsOnWire({ retry, maxConcurrency, ratePerSecond, schedule, breaker }: Campaign) {
  return {
    retry_config: retryOnWire(retry),
    max_concurrency: maxConcurrency,
    rate_limit_per_second: ratePerSecond,
    schedule_config: schedule === null ? null : scheduleOnWire(schedule),
    circuit_breaker: breaker === null ? null : breakerOnWire(breaker),
  };
}

function campaignWishOf(body: CampaignCreate): CampaignWish {
  return {
    name: body.name,
    workflowId: body.workflow_id,
    sourceId: body.source_id,
    configurationId: body.telephony_configuration_id ?? null,
    settings: campaignSettingsOf(body),
  };
}

/** The changes that were sent. Null resets a setting to the value of a campaign that was created without it. */
function campaignPatchOf(body: Omit<CampaignUpdate, 'name'>): Partial<CampaignSettings> {
  return {
    ...campaignSettingsOf(body),
    ...(body.retry_config === null ? { retry: RETRY_DEFAULT } : {}),
    ...(body.schedule_config === null ? { schedule: null } : {}),
    ...(body.circuit_breaker === null ? { breaker: null } : {}),
    ...(body.max_concurrency === null ? { maxConcurrency: null } : {}),
    ...(body.rate_limit_per_second === null ? { ratePerSecond: RATE_PER_SECOND_DEFAULT } : {}),
  };
}

/** The settings of a new campaign that were sent; null counts as not sent. */
function campaignSettingsOf(body: Omit<CampaignUpdate, 'name'>): Partial<CampaignSettings> {
  const {
    retry_config: retry,
    schedule_config: schedule,
    circuit_breaker: breaker,
    max_concurrency: maxConcurrency,
    rate_limit_per_second: ratePerSecond,
  } = body;
  return {
    ...(retry ? { retry: retrySettingsOf(retry) } : {}),
    ...(schedule ? { schedule: scheduleSettingsOf(schedule) } : {}),
    ...(breaker ? { breaker: breakerSettingsOf(breaker) } : {}),
    ...(typeof maxConcurrency === 'number' ? { maxConcurrency } : {}),
    ...(typeof ratePerSecond === 'number' ? { ratePerSecond } : {}),
  };
}
