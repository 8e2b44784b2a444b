// Work that is due after calls, and webhooks on their way, as the rest of the gateway sees them.
// Everything here survives a kill: what is taken up is leased, and comes back if nobody reports.

import type { DeliveryState } from '../../model/webhook-delivery.ts';
import type { DueClaim } from '../db/due-rows.ts';

/** What a completed run still needs. */
export interface PostCallJob {
  runId: string;
  organizationId: string;
  /** When the run was completed. */
  since: Date;
  /** How often it was taken up, this time included. */
  claims: number;
}

export interface NewDelivery {
  nodeId: string;
  nodeName: string;
  method: string;
  url: string;
  /** Without any that hold secrets. */
  headers: readonly (readonly [string, string])[];
  credentialUuid: string | null;
  /** JSON text; null for methods without a body. */
  body: string | null;
}

export interface Delivery extends NewDelivery {
  id: string;
  organizationId: string;
  workflowId: string;
  runId: string;
  state: DeliveryState;
  /** Since it was made or sent once more by hand, the one under way included. */
  attempts: number;
  /** Grows with every take-up; hand it back with the result. */
  claims: number;
  /** When it is tried next; while it is being sent, when its lease ends. Null once it is over. */
  dueAt: Date | null;
  createdAt: Date;
  attemptedAt: Date | null;
  finishedAt: Date | null;
  responseStatus: number | null;
  /** The begin of what the receiver answered. */
  responseExcerpt: string | null;
  error: string | null;
}

export interface PostCallJobStore {
  claim(claim: DueClaim): Promise<PostCallJob[]>;
  /** It is tried again after `delayMs`. */
  postpone(runId: string, delayMs: number): Promise<void>;
  /** One node's review of the call: its annotation, the tags it adds, the tokens it used. Does nothing
   *  if the node's annotation is there already. */
  annotate(runId: string, review: ReviewRecord): Promise<void>;
  /** Everything is done: the deliveries are made and the work is over, in one transaction. A node
   *  that has a delivery for the run keeps that one. */
  finish(runId: string, deliveries: readonly NewDelivery[]): Promise<void>;
}

export interface ReviewRecord {
  /** Key of the annotation. */
  key: string;
  annotation: Record<string, unknown>;
  tags: readonly string[];
  /** Key under `usage_info.llm` and what is added there; undefined if no model was asked. */
  usage: { key: string; tokens: Readonly<Record<string, number>> } | undefined;
}

export type DeliveryOutcome =
  | { state: 'delivered'; responseStatus: number; responseExcerpt: string }
  | {
      state: 'pending';
      retryMs: number;
      responseStatus: number | null;
      responseExcerpt: string | null;
      error: string;
    }
  | {
      state: 'dead_letter';
      responseStatus: number | null;
      responseExcerpt: string | null;
      error: string;
    };

export interface DeliveryFilter {
  state?: DeliveryState | undefined;
  runId?: string | undefined;
  limit: number;
  offset: number;
}

export interface DeliveryStore {
  /** Counts the attempt: one that a kill interrupts has been one. A delivery whose last attempt was
   *  interrupted becomes a dead letter instead. */
  claim(claim: DueClaim & { attemptsMax: number }): Promise<Delivery[]>;
  /** What came of the attempt of `claims`. A success always counts; any other result only if the
   *  delivery has not been taken up since. */
  report(id: string, claims: number, outcome: DeliveryOutcome): Promise<void>;
  /** Not sent after all, as this process stops: the attempt does not count. */
  release(id: string, claims: number): Promise<void>;
  /** Newest first. */
  list(
    organizationId: string,
    filter: DeliveryFilter,
  ): Promise<{ deliveries: Delivery[]; total: number }>;
  get(organizationId: string, id: string): Promise<Delivery | undefined>;
  /** Sent once more as if it were new; one that is under way is left alone. */
  redeliver(organizationId: string, id: string): Promise<Delivery | undefined>;
  /** Of those that are not over, all organizations. */
  oldestWaiting(): Promise<Date | undefined>;
}

export interface SigningSecret {
  /** For people to recognise it. */
  prefix: string;
  createdAt: Date;
  /** Until when the one before signs as well; null if there is none or its time is over. */
  formerUntil: Date | null;
}

export interface SigningSecretStore {
  /** Undefined if the organization has none yet. */
  get(organizationId: string): Promise<SigningSecret | undefined>;
  /** A new secret, whose text is given this once. The one before signs for `graceMs` more. */
  rotate(
    organizationId: string,
    graceMs: number,
  ): Promise<{ record: SigningSecret; secret: string }>;
  /** Texts of the secrets that sign now, newest first; the first is made if there is none. */
  inForce(organizationId: string): Promise<string[]>;
}
