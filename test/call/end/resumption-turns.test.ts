// Many calls that go on at once: each reads its log and rebuilds its state beside calls that talk.

import { expect, it } from 'vitest';
import {
  CallResumptions,
  type CallResumptionsDeps,
} from '../../../src/call/end/call-resumption.ts';

type Found = Parameters<CallResumptions['found']>[0];

it('are connected four at a time', async () => {
  let [running, most] = [0, 0];
  const waiting: (() => void)[] = [];
  const takeLeft = async (): Promise<undefined> => {
    running += 1;
    most = Math.max(most, running);
    await new Promise<void>((resolve) => waiting.push(resolve));
    running -= 1;
  };
  // Another process turns out to have each run, so nothing else is asked for.
  const deps: unknown = {
    store: { runs: { takeLeft, find: async () => undefined } },
    connect: { registry: { has: () => false } },
  };
  const resumptions = new CallResumptions(deps as CallResumptionsDeps);
  const results = Array.from({ length: 10 }, (_, nth) =>
    resumptions.found({ run: { id: String(nth + 1) } } as Found, () => Promise.reject(new Error())),
  );
  const all = Promise.all(results);
  const release = setInterval(() => {
    for (const next of waiting.splice(0)) next();
  });
  expect(await all).toEqual(results.map(() => false));
  clearInterval(release);
  expect(most).toBe(4);
});
