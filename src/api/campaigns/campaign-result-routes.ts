// Routes for the results of a campaign: progress, runs, contact file. Source: specification §2.7, §4.11 and §4.13,
// contract §9.1 and §9.9.

import { z } from 'zod';
import { checkSourceKey } from '../../campaign/contact-file.ts';
import { campaignOf } from '../../campaign/lifecycle.ts';
import { GatewayError } from '../../errors/gateway-error.ts';
import { LINK_LIFE_S, linkTo } from '../files/run-artifacts.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { campaignIdInPath } from '../http/path-parameters.ts';
import { filterOf, reportOut, reportQuery, sendReport } from '../reports/run-report.ts';
import { pageOfRuns, runPageQuery } from '../runs/run-pages.ts';
import { shownProgress } from './campaign-mapping.ts';
import { campaignProgress, campaignRunPage, sourceDownload } from './campaign-schema.ts';

const common = { tags: ['campaigns'], security: keyRequired };
const params = z.object({ campaign_id: campaignIdInPath });

export function campaignResultRoutes(api: Api, deps: ApiDeps): void {
  progressRoute(api, deps);
  runsRoute(api, deps);
  sourceRoute(api, deps);
  reportRoute(api, deps);
}

function reportRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/campaign/:campaign_id/report',
    {
      schema: {
        ...common,
        operationId: 'getCampaignReport',
        summary: 'Download the report of a campaign',
        description: "A campaign's completed calls as a table, newest first.",
        params,
        querystring: reportQuery,
        response: { 200: reportOut, ...faults('CAMPAIGN_NOT_FOUND') },
      },
    },
    async (request, reply) => {
      const { organizationId } = principalOf(request);
      const { id } = await campaignOf(deps, organizationId, request.params.campaign_id);
      return sendReport(deps, reply, {
        scope: { organizationId, campaignId: id },
        filter: filterOf(request.query),
        name: `campaign_${id}_report`,
      });
    },
  );
}

function runsRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/campaign/:campaign_id/runs',
    {
      schema: {
        ...common,
        operationId: 'listCampaignRuns',
        summary: 'List runs of a campaign',
        description: "A campaign's runs, filtered and sorted, by pages.",
        params,
        querystring: runPageQuery,
        response: {
          200: campaignRunPage,
          ...faults('CAMPAIGN_ID_NOT_FOUND', 'FILTER_INVALID', 'FILTER_FORBIDDEN', 'PAGE_TOO_FAR'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { campaign_id: id } = request.params;
      const campaign = await deps.store.campaigns.get(organizationId, id);
      if (campaign === undefined) throw new GatewayError('CAMPAIGN_ID_NOT_FOUND', { id });
      const scope = { organizationId, campaignId: campaign.id };
      return pageOfRuns(deps, { scope, list: 'campaign', query: request.query });
    },
  );
}

function progressRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/campaign/:campaign_id/progress',
    {
      schema: {
        ...common,
        operationId: 'getCampaignProgress',
        summary: 'Get campaign progress',
        description: 'How far a campaign has come, at this moment.',
        params,
        response: { 200: campaignProgress, ...faults('CAMPAIGN_NOT_FOUND') },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { campaign_id: id } = request.params;
      return shownProgress(deps, await campaignOf(deps, organizationId, id));
    },
  );
}

function sourceRoute(api: Api, deps: ApiDeps): void {
  api.get(
    '/campaign/:campaign_id/source-download-url',
    {
      schema: {
        ...common,
        operationId: 'getCampaignSource',
        summary: 'Get the contact file',
        description: 'A link to the contact file that works without a key, for an hour.',
        params,
        response: {
          200: sourceDownload,
          ...faults(
            'CAMPAIGN_NOT_FOUND',
            'CAMPAIGN_SOURCE_KEY_INVALID',
            'FILE_FORBIDDEN',
            'FILE_NOT_FOUND',
            'FILES_UNAVAILABLE',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const { campaign_id: id } = request.params;
      const { sourceId } = await campaignOf(deps, organizationId, id);
      checkSourceKey(organizationId, sourceId);
      const file = await deps.files.stat(sourceId);
      if (file === undefined) throw new GatewayError('FILE_NOT_FOUND');
      const downloadUrl = linkTo(deps, sourceId, { expiresInS: LINK_LIFE_S });
      return { download_url: downloadUrl, expires_in: LINK_LIFE_S };
    },
  );
}
