// A case of `npm run cluster`: what it is called, which engines it needs, and what it does.

import type { ClusterWishes, GatewayCluster } from './cluster.ts';
import type { Findings } from './findings.ts';

export type Need = 'postgresql' | 'redis' | 'haproxy' | 'pgbouncer' | 'object store' | 'network';

/** Where a case runs. What it starts is ended when it is over, in the reverse order. */
export interface Stage {
  findings: Findings;
  /** Progress. */
  say(line: string): void;
  start(wishes: ClusterWishes): Promise<GatewayCluster>;
  /** Something to end after the case, before the cluster. */
  atEnd(end: () => Promise<void>): void;
  /** Seconds for which the S3 is away. */
  awaySeconds: number;
  /** Contacts of the campaign. */
  contacts: number;
  /** Checkout whose build runs; undefined: this one. */
  build: string | undefined;
  /** Checkout of the next version; undefined: the same once more. */
  next: string | undefined;
}

export interface ClusterCase {
  name: string;
  /** A sentence of what must hold. */
  title: string;
  needs: readonly Need[];
  run(stage: Stage): Promise<void>;
}

/** What every case needs. */
export const ALWAYS: readonly Need[] = ['postgresql', 'redis', 'haproxy'];
