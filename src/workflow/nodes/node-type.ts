// What every node type declares: the schema of its `data` and, beside it, the facts of its catalogue
// entry that no schema holds. catalogue.ts joins the two. Source: contract §5.3 and §12.1.

import type { z } from 'zod';
import type { NodeExample, NodeSpec, PropertyType } from '../../model/node-spec.ts';

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
}

export const UNCONSTRAINED: GraphConstraints = {
  incomingMin: null,
  incomingMax: null,
  outgoingMin: null,
  outgoingMax: null,
  instancesMin: null,
  instancesMax: null,
};
