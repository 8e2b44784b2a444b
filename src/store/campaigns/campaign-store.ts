// Campaigns as the rest of the gateway sees them. Every change of state is one conditional statement: of
// two that ask at once, one gets undefined.

import type {
  Campaign,
  CampaignSettings,
  RetryReason,
  RetrySettings,
} from '../../model/campaign.ts';

export interface NewCampaign extends CampaignSettings {
  name: string;
  workflowId: string;
  sourceId: string;
  configurationId: string | null;
}

export interface Redial {
  /** Null: the parent's, with a word behind it. */
  name: string | null;
  /** How the last call of a contact ended. Contacts that nobody may have heard from us (UNHEARD) are called
   *  as well. */
  outcomes: readonly RetryReason[];
  /** Null: the parent's. */
  retry: RetrySettings | null;
}

export interface CampaignStore {
  /** In state `created`, without contacts. */
  create(organizationId: string, input: NewCampaign): Promise<Campaign>;
  get(organizationId: string, id: string): Promise<Campaign | undefined>;
  /** Newest first. */
  list(
    organizationId: string,
    page: { limit: number; offset: number },
  ): Promise<{ campaigns: Campaign[]; total: number }>;
  /** What is left out stays. Undefined if there is none of that id, or it has ended. */
  update(
    organizationId: string,
    id: string,
    patch: Partial<CampaignSettings> & { name?: string },
  ): Promise<Campaign | undefined>;

  /** `created` to `syncing`; to `running` if its contacts are a redial's. */
  start(organizationId: string, id: string): Promise<Campaign | undefined>;
  /** `running` or `syncing` to `paused`. Calls that run go on. */
  pause(organizationId: string, id: string): Promise<Campaign | undefined>;
  /** `paused` to `running`; to `syncing` while its file is being read. */
  resume(organizationId: string, id: string): Promise<Campaign | undefined>;

  /** See contact-sync-claims.ts. */
  claimSync(): Promise<Campaign | undefined>;
  renewSync(id: string): Promise<boolean>;
  finishSync(id: string): Promise<Campaign | undefined>;
  failSync(id: string, error: string): Promise<Campaign | undefined>;

  /** See campaign-redial.ts. */
  redial(
    organizationId: string,
    parentId: string,
    redial: Redial,
  ): Promise<Campaign | 'nobody' | undefined>;
}
