// A campaign for those whom a completed one did not reach. Source: contract §9.1, §9.11.

import { GatewayError } from '../errors/gateway-error.ts';
import type { Campaign } from '../model/campaign.ts';
import type { Redial } from '../store/campaigns/campaign-store.ts';
import { type CampaignLifecycleDeps, campaignOf } from './lifecycle.ts';

/** The child, in state `created`. Throws CAMPAIGN_NOT_FOUND, CAMPAIGN_STATE, CAMPAIGN_REDIALED,
 *  CAMPAIGN_NOBODY_LEFT. */
export async function redialCampaign(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  parentId: string,
  redial: Redial,
): Promise<Campaign> {
  const child = await deps.store.campaigns.redial(organizationId, parentId, redial);
  if (child === 'nobody') {
    throw new GatewayError('CAMPAIGN_NOBODY_LEFT', { outcomes: redial.outcomes.join(', ') });
  }
  return child ?? refused(deps, organizationId, parentId);
}

async function refused(
  deps: CampaignLifecycleDeps,
  organizationId: string,
  id: string,
): Promise<never> {
  const { state, redialedCampaignId } = await campaignOf(deps, organizationId, id);
  if (state !== 'completed') {
    throw new GatewayError('CAMPAIGN_STATE', { action: 'redial', wanted: "'completed'", state });
  }
  throw new GatewayError('CAMPAIGN_REDIALED', { id: redialedCampaignId ?? '' });
}
