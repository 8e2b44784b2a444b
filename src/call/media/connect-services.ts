// Services that connect calls with their media, for the folders that start and end calls.

import type { UnconnectedCalls } from '../end/closing/unconnected-calls.ts';
import type { CallRegistry } from '../session/call-registry.ts';
import type { CallActions } from '../start/call-actions.ts';
import type { CallAdoptions, FormerCalls } from '../start/call-adoption.ts';
import type { CallConfirmation } from '../start/call-confirmation.ts';
import type { CallPlanner } from '../start/call-planner.ts';
import type { CallPreparation } from '../start/call-preparation.ts';
import type { MediaWatchdog } from '../start/media-watchdog.ts';
import type { AnsweredCalls } from '../webhooks/answered-calls.ts';
import type { ProviderEvents } from '../webhooks/provider-event.ts';
import type { TransferResults } from '../webhooks/transfer-results.ts';
import type { WebhookVerifier } from '../webhooks/webhook-verifier.ts';
import type { MediaAdmissions } from './media-admission.ts';
import type { TransferDestinations } from './transfer-legs.ts';

export interface ConnectServices {
  registry: CallRegistry;
  watchdog: MediaWatchdog;
  planner: CallPlanner;
  preparation: CallPreparation;
  answered: AnsweredCalls;
  actions: CallActions;
  verifier: WebhookVerifier;
  confirmation: CallConfirmation;
  adoptions: CallAdoptions;
  former: FormerCalls;
  admissions: MediaAdmissions;
  providerEvents: ProviderEvents;
  transferResults: TransferResults;
  transfers: TransferDestinations;
  unconnected: UnconnectedCalls;
}
