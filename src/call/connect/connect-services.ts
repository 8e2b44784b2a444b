// Services that connect calls with their media, for the folders that start and end calls.

import type { UnconnectedCalls } from '../closing/unconnected-calls.ts';
import type { AnsweredCalls } from './answered-calls.ts';
import type { CallActions } from './call-actions.ts';
import type { CallConfirmation } from './call-confirmation.ts';
import type { CallPreparation } from './call-preparation.ts';
import type { CallRegistry } from './call-registry.ts';
import type { MediaAdmissions } from './media-admission.ts';
import type { MediaWatchdog } from './media-watchdog.ts';
import type { ProviderEvents } from './provider-event.ts';
import type { TransferDestinations } from './transfer-legs.ts';
import type { TransferResults } from './transfer-results.ts';
import type { WebhookVerifier } from './webhook-verifier.ts';

export interface ConnectServices {
  registry: CallRegistry;
  watchdog: MediaWatchdog;
  preparation: CallPreparation;
  answered: AnsweredCalls;
  actions: CallActions;
  verifier: WebhookVerifier;
  confirmation: CallConfirmation;
  admissions: MediaAdmissions;
  providerEvents: ProviderEvents;
  transferResults: TransferResults;
  transfers: TransferDestinations;
  unconnected: UnconnectedCalls;
}
