// Campaigns, their contacts and their counting as the one repository that the other rooms see.

import type { StoreContext } from '../db/store-context.ts';
import { createRedialCampaign } from './campaign-redial.ts';
import type { CampaignStore } from './campaign-store.ts';
import {
  createCampaign,
  getCampaign,
  listCampaigns,
  markCampaignPaused,
  markCampaignResumed,
  markCampaignStarted,
  updateCampaign,
} from './campaigns.ts';
import { claimSync, failSync, finishSync, renewSync } from './contact-sync-claims.ts';

export function campaignStore(context: StoreContext): CampaignStore {
  return {
    create: (...from) => createCampaign(context, ...from),
    get: (...from) => getCampaign(context, ...from),
    list: (...from) => listCampaigns(context, ...from),
    update: (...from) => updateCampaign(context, ...from),
    start: (...from) => markCampaignStarted(context, ...from),
    pause: (...from) => markCampaignPaused(context, ...from),
    resume: (...from) => markCampaignResumed(context, ...from),
    claimSync: () => claimSync(context),
    renewSync: (id) => renewSync(context, id),
    finishSync: (id) => finishSync(context, id),
    failSync: (id, error) => failSync(context, id, error),
    redial: (...from) => createRedialCampaign(context, ...from),
  };
}
