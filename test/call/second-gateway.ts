// A second gateway on the database of a call harness: another process with its own registry, tokens and event log. Both
// share the clock and the provider.

import { afterEach } from 'vitest';
import { systemRandom } from '../../src/std/random.ts';
import { openStore, type StoreHandle } from '../../src/store/open.ts';
import { TEST_CACHE } from '../store/databases.ts';
import { steeredTime } from '../store/engines.ts';
import { CallHarness } from './call-harness.ts';

export class SecondGateway {
  harness!: CallHarness;
  #store: StoreHandle | undefined;

  /** Opens it beside `first`, with the same agent and configuration. */
  async beside(first: CallHarness): Promise<CallHarness> {
    const { at, clock } = first;
    const store = await openStore({
      dataFolder: at.dataFolder,
      databaseUrl: undefined,
      isShared: true,
      node: `${at.store.node}#2`,
      gateway: { node: at.store.node, epoch: at.store.epoch },
      secrets: { keys: undefined },
      callLimit: 10,
      cacheFolder: TEST_CACHE,
      random: systemRandom,
      clock,
      time: steeredTime(() => clock),
      log: at.log,
    });
    this.#store = store;
    this.harness = new CallHarness({ ...at, store }, first.rest, undefined, 'gw2');
    const { workflow, version, configuration, number } = first;
    Object.assign(this.harness, { workflow, version, configuration, number });
    return this.harness;
  }

  async close(): Promise<void> {
    if (this.#store === undefined) return;
    this.harness.close();
    await this.harness.until(() => this.harness.callControl.activeCalls === 0);
    await this.harness.deps.events.flush();
    await this.#store.close();
    this.#store = undefined;
  }
}

/** The second gateway of each test, closed after it. Called after `withCallHarness`, whose clean-up is later. */
export function withSecondGateway(): SecondGateway {
  const second = new SecondGateway();
  afterEach(() => second.close());
  return second;
}
