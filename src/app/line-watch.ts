// The line watch of a gateway, in the process with the HTTP API: test calls over a PBX are made by the process that holds
// its connection, those over hosted providers here, where their webhooks come.

import type { ExaminationCalls } from '../call/examination/examination-calls.ts';
import { type LineWatchDeps, LineWatcher } from '../call/examination/line-watch.ts';
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
    examinations: Pick<ExaminationCalls, 'testLine'>;
    takesCalls: () => boolean;
  },
  log: Log,
): LineWatcher {
  const { store, providers, examinations, takesCalls } = parts;
  const test: LineWatchDeps['test'] = async (line, configuration, signal) => {
    const { id: configurationId, organizationId, credentials } = configuration;
    const provider = providers.byName(configuration.provider);
    if (provider === undefined) return undefined;
    if (isPbx(provider)) {
      const account = { organizationId, configurationId, credentials };
      return await provider.pbx.testLine(account, { line, publicUrl, log }, signal);
    }
    // Webhooks of an examination come to any gateway behind a balancer, and only one has the call.
    if ((await store.gateways.living()).length > 1) return undefined;
    const phoneNumber = line.number ?? '';
    const wish = { organizationId, configurationId, phoneNumber, fromPhoneNumberId: null };
    return await examinations.testLine(wish, { testsKeys: line.testsKeys, signal });
  };
  const pbxProviders = providers.pbx.map(({ name }) => name);
  return new LineWatcher({ store, pbxProviders, takesCalls, test, clock, random, log });
}
