// Routes that change a campaign's state: start, pause, resume, and the redial of a completed one. Source: specification
// §4.12, contract §9.1, §9.2 and §9.11.

import { z } from 'zod';
import {
  cancelCampaign,
  deleteCampaign,
  pauseCampaign,
  redialCampaign,
  resumeCampaign,
  startCampaign,
} from '../../campaign/lifecycle.ts';
import { type RetryReason, retryReason } from '../../model/campaign.ts';
import type { Api, ApiDeps } from '../http/api-deps.ts';
import { principalOf } from '../http/authentication.ts';
import { faults } from '../http/error-schema.ts';
import { keyRequired } from '../http/openapi.ts';
import { campaignIdInPath } from '../http/path-parameters.ts';
import { shownCampaign } from './campaign-mapping.ts';
import { campaignOut, campaignRedial } from './campaign-schema.ts';
import { retrySettingsOf } from './campaign-settings-schema.ts';

const common = { tags: ['campaigns'], security: keyRequired };
const params = z.object({ campaign_id: campaignIdInPath });

const moves = {
  start: {
    operationId: 'startCampaign',
    summary: 'Start a campaign',
    description: 'Reads the contact file, then calls.',
    make: startCampaign,
  },
  pause: {
    operationId: 'pauseCampaign',
    summary: 'Pause a campaign',
    description: 'Places no more calls; those under way go on.',
    make: pauseCampaign,
  },
  resume: {
    operationId: 'resumeCampaign',
    summary: 'Resume a campaign',
    description: 'Goes on where the campaign was paused.',
    make: resumeCampaign,
  },
  cancel: {
    operationId: 'cancelCampaign',
    summary: 'Cancel a campaign',
    description: 'Ends the campaign: calls in progress go on, and no further contact is called.',
    make: cancelCampaign,
  },
};

export function campaignStateRoutes(api: Api, deps: ApiDeps): void {
  moveRoutes(api, deps);
  redialRoute(api, deps);
  deleteRoute(api, deps);
}

function moveRoutes(api: Api, deps: ApiDeps): void {
  for (const [name, { make, ...described }] of Object.entries(moves)) {
    api.post(
      `/campaign/:campaign_id/${name}`,
      {
        schema: {
          ...common,
          ...described,
          params,
          response: {
            200: campaignOut,
            ...faults(
              'CAMPAIGN_NOT_FOUND',
              'CAMPAIGN_STATE',
              'CAMPAIGN_TELEPHONY_MISSING',
              'CAMPAIGN_CONFIGURATION_NOT_FOUND',
              'CONFIGURATION_NOT_READY',
              'CONFIGURATION_INACTIVE',
              'PROVIDER_NOT_BUILT',
              'WORKFLOW_INVALID',
            ),
          },
        },
      },
      async (request) => {
        const { organizationId } = principalOf(request);
        return shownCampaign(deps, await make(deps, organizationId, request.params.campaign_id));
      },
    );
  }
}

function deleteRoute(api: Api, deps: ApiDeps): void {
  api.delete(
    '/campaign/:campaign_id',
    {
      schema: {
        ...common,
        operationId: 'deleteCampaign',
        summary: 'Delete a campaign',
        description: 'Removes an ended campaign from lists; its runs and reports of calls stay.',
        params,
        response: {
          200: z.object({ message: z.string() }).describe('The campaign is gone.'),
          ...faults('CAMPAIGN_NOT_FOUND', 'CAMPAIGN_STATE'),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      await deleteCampaign(deps, organizationId, request.params.campaign_id);
      return { message: 'Campaign deleted' };
    },
  );
}

function redialRoute(api: Api, deps: ApiDeps): void {
  api.post(
    '/campaign/:campaign_id/redial',
    {
      schema: {
        ...common,
        operationId: 'redialCampaign',
        summary: 'Redial a campaign',
        description: 'Creates a campaign for the contacts that a completed one did not reach.',
        params,
        body: campaignRedial.nullish(),
        response: {
          200: campaignOut,
          ...faults(
            'CAMPAIGN_NOT_FOUND',
            'CAMPAIGN_STATE',
            'CAMPAIGN_REDIALED',
            'CAMPAIGN_NOBODY_LEFT',
          ),
        },
      },
    },
    async (request) => {
      const { organizationId } = principalOf(request);
      const body = request.body ?? campaignRedial.parse({});
      const { name, retry_config: retry, ...chosen } = body;
      const child = await redialCampaign(deps, organizationId, request.params.campaign_id, {
        name: name ?? null,
        outcomes: outcomesOf(chosen),
        retry: retry ? retrySettingsOf(retry) : null,
      });
      return shownCampaign(deps, child);
    },
  );
}

function outcomesOf(chosen: {
  retry_on_voicemail: boolean;
  retry_on_no_answer: boolean;
  retry_on_busy: boolean;
}): RetryReason[] {
  return retryReason.options.filter((reason) => chosen[`retry_on_${reason}`]);
}
