// A store that knows whether a request to it is under way, for tests whose clock stands still meanwhile.

import type { StoreHandle } from '../../src/store/open.ts';

export interface CountedStore {
  store: StoreHandle;
  /** Whether a request is under way. */
  readonly isAsked: boolean;
}

export function countedStore(of: StoreHandle): CountedStore {
  let asked = 0;
  const counted = <T extends object>(repository: T): T =>
    new Proxy(repository, {
      get(target, key) {
        const value: unknown = Reflect.get(target, key);
        if (typeof value !== 'function') return value;
        return (...given: unknown[]) => {
          asked += 1;
          return Promise.resolve(value.apply(target, given)).finally(() => {
            asked -= 1;
          });
        };
      },
    });
  const { lines, places, telephony, runs, accounts } = of;
  return {
    store: {
      ...of,
      lines: counted(lines),
      places: counted(places),
      telephony: counted(telephony),
      runs: counted(runs),
      accounts: counted(accounts),
    },
    get isAsked() {
      return asked > 0;
    },
  };
}
