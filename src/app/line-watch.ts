// The line watch of a gateway, in the process with the HTTP API: test calls over a PBX are made by the process that holds
// its connection, others here, where their webhooks come.

import { LineWatcher } from '../call/examination/line-watch.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import type { StoreHandle } from '../store/open.ts';
import { isPbx } from '../telephony/provider/provider.ts';
import type { Providers } from '../telephony/registry/registry.ts';

export function openLineWatch(
  { publicUrl }: Config,
  parts: {
    store: StoreHandle;
    /** Those of the API process: their test calls are made by a worker. */
    providers: Providers;
    takesCalls: () => boolean;
  },
  log: Log,
): LineWatcher {
  const { store, providers, takesCalls } = parts;
  return new LineWatcher({
    store,
    pbxProviders: providers.pbx.map(({ name }) => name),
    takesCalls,
    async test(line, { id: configurationId, organizationId, provider: name, credentials }, signal) {
      const provider = providers.byName(name);
      if (provider === undefined || !isPbx(provider)) return undefined;
      const account = { organizationId, configurationId, credentials };
      return await provider.pbx.testLine(account, { line, publicUrl, log }, signal);
    },
    clock,
    random,
    log,
  });
}
