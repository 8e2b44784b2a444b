// What every node type declares: the schema of its `data`, the facts of its catalogue entry that no schema
// holds (graph/node-catalogue joins the two), and its part in a call: a step of the conversation, what
// holds for all steps, or what is done before and after. Source: contract §5.3 and §12.1.

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

/** One property beyond its schema, which knows description, default, bounds and allowed values. */
export interface PropertyFacts {
  type: PropertyType;
  displayName: string;
  /** For a language model that writes agents. */
  hint?: string;
  /** What a new node starts with, where that is not what a stored node without the property means. */
  default?: unknown;
  placeholder?: string;
  /** Shown only while each of these properties has one of these values. */
  showIf?: Readonly<Record<string, readonly (string | boolean)[]>>;
  /** What people read for a value, of properties with a list of values. */
  labels?: Readonly<Record<string, string>>;
  /** The properties of a row, of collections. */
  columns?: Readonly<Record<string, PropertyFacts>>;
  editor?: 'textarea' | 'password';
  /** For texts that validation checks in words of its own. */
  lengthMax?: number;
  pattern?: string;
}

/** Facts for every property of a schema, and no others. */
export type FactsFor<Data extends z.ZodObject> = Readonly<
  Record<keyof Data['shape'] & string, PropertyFacts>
>;

/** A node's `data` as it is stored. */
export type NodeData = Readonly<Record<string, unknown>>;

/** How a call opens. */
export interface Opening {
  /** A template; undefined if the agent has no fixed greeting. */
  greeting: string | undefined;
  /** Played in place of the greeting. */
  clip: ClipRef | undefined;
  /** 0 for a call that begins at once. */
  delayMs: number;
}

/** The request for variables before the first word. */
export interface PreCallRequest {
  url: string;
  credentialUuid: string | null;
}

/** A request to another system once a call is over. */
export interface WebhookSettings {
  name: string;
  method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  url: string;
  credentialUuid: string | null;
  /** Without those that look as if they held secrets: credentials are for them. */
  headers: [string, string][];
  payloadTemplate: Record<string, unknown>;
}

/** A review of calls that are over. */
export interface ReviewSettings {
  name: string;
  /** Whether the gateway's own model is asked. */
  usesGatewayModel: boolean;
  provider: string;
  model: string;
  apiKey: string | null;
  endpoint: string | null;
  /** Null: the gateway's own. */
  systemPrompt: string | null;
  durationMinS: number;
  reviewsVoicemail: boolean;
  /** Percent of calls. */
  sampleRate: number;
}

export interface NodeType {
  /** The machine name, as in a node's `type`. */
  name: string;
  displayName: string;
  description: string;
  /** For a language model that writes agents. */
  hint: string;
  category: NodeSpec['category'];
  /** A lucide icon name. */
  icon: string;
  constraints: GraphConstraints;
  data: z.ZodObject;
  /** In the order of the catalogue. */
  properties: Readonly<Record<string, PropertyFacts>>;
  examples: readonly NodeExample[];
  /** Its part in the conversation; undefined for a node that no call enters. A call begins in the one node
   *  that is `first`; once it has entered a `last` one, it says goodbye and ends. What the step says and asks
   *  is in the fields that node types share (fields.ts). */
  step?: 'first' | 'between' | 'last';
  /** Fields whose texts are templates over a call's variables. */
  templates?: readonly string[];
  /** Of a step that is `first`: how the call opens. Throws ZodError for data that the schema refuses. */
  opening?(data: NodeData): Opening;
  /** The text that precedes the prompts of the steps that ask for it. */
  globalPrompt?(data: NodeData): string | undefined;
  /** Undefined if nothing is asked for a call of that direction. */
  preCallRequest?(data: NodeData, direction: Direction): PreCallRequest | undefined;
  /** Read leniently: a field that cannot be used counts as not set. Undefined if nothing is sent. */
  webhook?(data: NodeData): WebhookSettings | undefined;
  /** Read leniently. Undefined if nothing is reviewed. */
  review?(data: NodeData): ReviewSettings | undefined;
  /** Whether programs start calls under its `trigger_path`. */
  hasTriggerPath?: true;
  /** What a client sent, with older keys replaced by what they have become. */
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
