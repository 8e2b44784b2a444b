// The interface of a node type: the schema of its `data`, facts of its catalogue entry that are not in the schema
// (graph/node-catalogue joins both), and its part in a call: a step of the conversation, a rule for all steps, or work
// before and after the call. Source: contract §5.3 and §12.1.

import type { z } from 'zod';
import type { ClipRef } from '../../model/clip.ts';
import type { NodeExample, NodeSpec, PropertyType } from '../../model/node-spec.ts';
import type { Direction } from '../../model/provider.ts';

/** Limits of the graph around a node; null where there is none. */
export interface GraphConstraints {
  incomingMin: number | null;
  incomingMax: number | null;
  outgoingMin: number | null;
  outgoingMax: number | null;
  instancesMin: number | null;
  instancesMax: number | null;
}

/** One property's facts in addition to its schema (description, default, bounds, allowed values). */
export interface PropertyFacts {
  type: PropertyType;
  displayName: string;
  /** Hint for a language model that writes agents. */
  hint?: string;
  /** Initial value in a new node, if it differs from the schema's default for stored nodes. */
  default?: unknown;
  placeholder?: string;
  /** Properties and values with which this one is shown. Default: always. */
  showIf?: Readonly<Record<string, readonly (string | boolean)[]>>;
  /** Labels of the values, for properties with a list of values. */
  labels?: Readonly<Record<string, string>>;
  /** Properties of a row, for collections. */
  columns?: Readonly<Record<string, PropertyFacts>>;
  editor?: 'textarea' | 'password';
  /** Longest text, for texts whose absence validation reports in its own words. */
  lengthMax?: number;
  pattern?: string;
}

/** Facts for every property of a schema, and no others. */
export type FactsFor<Data extends z.ZodObject> = Readonly<
  Record<keyof Data['shape'] & string, PropertyFacts>
>;

/** A node's `data` as stored. */
export type NodeData = Readonly<Record<string, unknown>>;

/** Opening of a call. */
export interface Opening {
  /** Greeting as a template; undefined if the agent has no fixed one. */
  greeting: string | undefined;
  /** Clip that is played in place of the greeting. */
  clip: ClipRef | undefined;
  /** Delay before the first words; 0 for none. */
  delayMs: number;
}

/** The request for variables before the first word. */
export interface PreCallRequest {
  url: string;
  credentialUuid: string | null;
}

/** A request to another system after a call. */
export interface WebhookSettings {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  credentialUuid: string | null;
  /** Headers, without those that seem to hold secrets: those belong in credentials. */
  headers: [string, string][];
  payloadTemplate: Record<string, unknown>;
}

/** A review of finished calls. */
export interface ReviewSettings {
  name: string;
  /** Whether the gateway's own model reviews. */
  usesGatewayModel: boolean;
  provider: string;
  model: string;
  apiKey: string | null;
  endpoint: string | null;
  /** Prompt of the reviewer; null: the gateway's own. */
  systemPrompt: string | null;
  durationMinS: number;
  reviewsVoicemail: boolean;
  /** Percentage of calls that are reviewed. */
  sampleRate: number;
}

export interface NodeType {
  /** Machine name, as in a node's `type`. */
  name: string;
  displayName: string;
  description: string;
  /** Hint for a language model that writes agents. */
  hint: string;
  category: NodeSpec['category'];
  /** Name of a lucide icon. */
  icon: string;
  constraints: GraphConstraints;
  data: z.ZodObject;
  /** Facts of the properties, in the order of the catalogue. */
  properties: Readonly<Record<string, PropertyFacts>>;
  examples: readonly NodeExample[];
  /** Part of the node in the conversation; undefined for a node that no call enters. A call begins in the one node that
   *  is `first`; after it has entered a `last` one, the agent says goodbye and the call ends. The texts and questions
   *  of a step are in the shared fields (fields.ts). */
  step?: 'first' | 'between' | 'last';
  /** Fields whose texts are templates with a call's variables. */
  templates?: readonly string[];
  /** The opening of a call, for a `first` step. Throws ZodError for invalid data. */
  opening?(data: NodeData): Opening;
  /** The text that precedes the prompts of the steps that include it. */
  globalPrompt?(data: NodeData): string | undefined;
  /** The request before a call of that direction; undefined for none. */
  preCallRequest?(data: NodeData, direction: Direction): PreCallRequest | undefined;
  /** Settings of the request after a call; undefined for none. Read leniently: an invalid field counts as not set. */
  webhook?(data: NodeData): WebhookSettings | undefined;
  /** Settings of the review; undefined for none. Read leniently. */
  review?(data: NodeData): ReviewSettings | undefined;
  /** Whether its `trigger_path` starts calls. */
  hasTriggerPath?: true;
  /** The field that is missing, so that an enabled node does nothing; undefined if it has an effect. */
  withoutEffect?(data: NodeData): { field: string; message: string } | undefined;
  /** The client's data in the stored form, with older keys replaced. */
  storedForm?(data: NodeData): NodeData;
}

export const UNCONSTRAINED: GraphConstraints = {
  incomingMin: null,
  incomingMax: null,
  outgoingMin: null,
  outgoingMax: null,
  instancesMin: null,
  instancesMax: null,
};
