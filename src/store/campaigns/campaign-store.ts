// Campaigns as one repository. Every change of state is one conditional statement: of two concurrent requests, the
// second gets undefined.

import type { StoreContext } from '../db/store-context.ts';
import { withContext } from '../db/with-context.ts';
import { queueOf } from './campaign-queue.ts';
import { createRedialCampaign } from './campaign-redial.ts';
import {
  getCampaign,
  insertCampaign,
  listCampaigns,
  markCampaignCancelled,
  markCampaignDeleted,
  markCampaignPaused,
  markCampaignResumed,
  markCampaignStarted,
  updateCampaign,
} from './campaigns.ts';
import { claimSync, failSync, finishSync, renewSync, waitForFile } from './contact-sync-claims.ts';

export type CampaignStore = ReturnType<typeof campaignStore>;

export function campaignStore(context: StoreContext) {
  return withContext(context, {
    create: insertCampaign,
    get: getCampaign,
    list: listCampaigns,
    update: updateCampaign,
    start: markCampaignStarted,
    pause: markCampaignPaused,
    resume: markCampaignResumed,
    cancel: markCampaignCancelled,
    delete: markCampaignDeleted,
    queue: queueOf,
    claimSync,
    renewSync,
    waitForFile,
    finishSync,
    failSync,
    redial: createRedialCampaign,
  });
}
