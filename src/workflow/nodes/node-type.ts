// What every node type declares: the schema of its `data` and the facts of its catalogue entry.
// The registry joins them. Source: contract §5.3 and §12.1.

import type { z } from 'zod';

/** Limits of the graph around a node; null where there is none. */
export interface GraphConstraints {
  incomingMin: number | null;
  incomingMax: number | null;
  outgoingMin: number | null;
  outgoingMax: number | null;
  instancesMin: number | null;
  instancesMax: number | null;
}

export interface NodeType {
  /** The machine name, as in a node's `type`. */
  name: string;
  displayName: string;
  description: string;
  category: 'call_node' | 'global_node' | 'trigger' | 'integration';
  /** A lucide icon name. */
  icon: string;
  constraints: GraphConstraints;
  data: z.ZodObject;
}

export const UNCONSTRAINED: GraphConstraints = {
  incomingMin: null,
  incomingMax: null,
  outgoingMin: null,
  outgoingMax: null,
  instancesMin: null,
  instancesMax: null,
};
