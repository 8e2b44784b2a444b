// The interface of the store: one repository per noun. Every read and write names the organization that owns the
// row; another organization's id behaves like an unknown id (undefined).

import type { AccountStore } from './accounts/accounts.ts';
import type { LogInAttemptStore } from './accounts/log-in-attempts.ts';
import type { OrganizationStore } from './accounts/organizations.ts';
import type { UserStore } from './accounts/users.ts';
import type { CampaignStore } from './campaigns/campaign-store.ts';
import type { ContactStore } from './campaigns/contact-store.ts';
import type { ClusterStatusStore } from './cluster-status.ts';
import type { DeathWatch } from './db/death-watch.ts';
import type { GatewayStore } from './db/gateways.ts';
import type { PlaceStore } from './db/places.ts';
import type { PostCallJobStore } from './deliveries/post-call-jobs.ts';
import type { SigningSecretStore } from './deliveries/signing-secrets.ts';
import type { DeliveryStore } from './deliveries/webhook-deliveries.ts';
import type { ClipStore } from './library/clips.ts';
import type { CredentialStore } from './library/credentials.ts';
import type { ModelConfigurationStore } from './library/model-configurations.ts';
import type { ServiceFaultStore } from './library/service-faults.ts';
import type { ToolStore } from './library/tools.ts';
import type { ReportedCallStore } from './reported-calls.ts';
import type { ReportStore } from './runs/reports.ts';
import type { RunStartStore } from './runs/run-starts.ts';
import type { RunStore } from './runs/run-store.ts';
import type { TextChatStore } from './runs/text-chats.ts';
import type { WaitingCallStore } from './runs/waiting-calls.ts';
import type { LeaseStore } from './telephony/configuration-leases.ts';
import type { LineWatchStore } from './telephony/line-watches.ts';
import type { TelephonyStore } from './telephony/telephony-store.ts';
import type { TrunkStore } from './telephony/trunks.ts';
import type { WebhookNonceStore } from './telephony/webhook-nonces.ts';
import type { FolderStore } from './workflows/folders.ts';
import type { WorkflowStore } from './workflows/workflow-store.ts';

export interface Store {
  readonly campaigns: CampaignStore;
  readonly contacts: ContactStore;
  readonly clips: ClipStore;
  readonly credentials: CredentialStore;
  readonly tools: ToolStore;
  readonly modelConfigurations: ModelConfigurationStore;
  readonly serviceFaults: ServiceFaultStore;
  readonly accounts: AccountStore;
  readonly organizations: OrganizationStore;
  readonly users: UserStore;
  readonly logInAttempts: LogInAttemptStore;
  readonly telephony: TelephonyStore;
  readonly leases: LeaseStore;
  readonly nodes: Pick<DeathWatch, keyof DeathWatch>;
  readonly places: PlaceStore;
  readonly gateways: GatewayStore;
  readonly webhookNonces: WebhookNonceStore;
  readonly trunks: TrunkStore;
  readonly lines: LineWatchStore;
  readonly workflows: WorkflowStore;
  readonly folders: FolderStore;
  readonly runs: RunStore;
  readonly reports: ReportStore;
  readonly reportedCalls: ReportedCallStore;
  readonly starts: RunStartStore;
  readonly waitingCalls: WaitingCallStore;
  readonly textChats: TextChatStore;
  readonly afterworks: PostCallJobStore;
  readonly deliveries: DeliveryStore;
  readonly signingSecrets: SigningSecretStore;
  readonly clusterStatus: ClusterStatusStore;
  /** Stores whether this process dials campaigns, among which processes they are divided. Never rejects. */
  setDialsCampaigns(dials: boolean): Promise<void>;
  /** Called when this process was declared dead and continues: others may have taken runs of it (`runs.taken`). */
  onReentered?: (() => void) | undefined;
  /** Whether the database answers within a second. */
  alive(): Promise<boolean>;
  close(): Promise<void>;
}
