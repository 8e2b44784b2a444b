// Upgrades that belong to other gateways, in the process with the API. A gateway with its own database has none.

import { ForeignUpgrades } from '../cluster/foreign-upgrades.ts';
import type { AcceptUpgrade } from '../cluster/socket-handoff.ts';
import { SocketSplices } from '../cluster/socket-splice.ts';
import { isHttp11 } from '../cluster/upgrade-router.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import type { StoreHandle } from '../store/open.ts';
import type { Providers } from '../telephony/registry/registry.ts';
import { gatewayLabel, MediaTokenSigner } from '../transport/media-token.ts';
import { gatewayNode } from './node-options.ts';

export interface OpenForeignUpgrades {
  takeUpgrades(next: AcceptUpgrade): AcceptUpgrade;
  /** Settles when no socket of another gateway is passed on any more, or after `limitMs`. */
  drain(limitMs: number): Promise<void>;
  close(): void;
}

const NONE: OpenForeignUpgrades = {
  takeUpgrades: (next) => next,
  drain: () => Promise.resolve(),
  close: () => undefined,
};

export function openForeignUpgrades(
  config: Config,
  of: {
    store: StoreHandle;
    providers: Providers;
    hasApplication: (application: string) => boolean;
    log: Log;
  },
): OpenForeignUpgrades {
  if (config.databaseUrl === undefined) return NONE;
  const { store, providers, hasApplication, log } = of;
  const label = gatewayLabel(gatewayNode(config));
  const splices = new SocketSplices({ clock, log, label });
  const signer = new MediaTokenSigner(store.mediaKeys);
  const pbxs = providers.pbx;
  const foreign = new ForeignUpgrades({
    store,
    pbxs,
    signer,
    label,
    hasApplication,
    splices,
    clock,
    log,
  });
  return {
    takeUpgrades: (next) => {
      const take = foreign.takeUpgrades(next);
      // What is no upgrade is refused here.
      return (...upgrade) => (isHttp11(upgrade[0]) ? take : next)(...upgrade);
    },
    drain: (limitMs) => splices.drain(limitMs),
    close: () => splices.close(),
  };
}
