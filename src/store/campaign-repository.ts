// Campaigns, their contacts and their counting as the one repository that the other rooms see.

import type { CampaignStore } from './campaign-store.ts';
import {
  createCampaign,
  failCampaignSync,
  getCampaign,
  listCampaigns,
  pauseCampaign,
  resumeCampaign,
  startCampaign,
  updateCampaign,
} from './campaigns.ts';
import type { StoreContext } from './context.ts';

export function campaignStore(context: StoreContext): CampaignStore {
  return {
    create: (...from) => createCampaign(context, ...from),
    get: (...from) => getCampaign(context, ...from),
    list: (...from) => listCampaigns(context, ...from),
    update: (...from) => updateCampaign(context, ...from),
    start: (...from) => startCampaign(context, ...from),
    pause: (...from) => pauseCampaign(context, ...from),
    resume: (...from) => resumeCampaign(context, ...from),
    failSync: (...from) => failCampaignSync(context, ...from),
  };
}
