// The dispatcher on the embedded store, with a provider that answers as each test says. Looks are made in
// real time, twice a second.

import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import type { Placed } from '../../src/call/start/outbound/campaign-calls.ts';
import type { CampaignRoute, Fate } from '../../src/call/start/outbound/campaign-plans.ts';
import { Dispatcher, type DispatcherDeps } from '../../src/campaign/dispatcher.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { campaignDeferred } from '../../src/metrics/metrics.ts';
import { type Campaign, RETRY_DEFAULT } from '../../src/model/campaign.ts';
import type { Run } from '../../src/model/run.ts';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { ClaimedAttempt } from '../../src/store/campaigns/dial-attempts.ts';
import { type Queue, queueOf, rows } from '../store/campaigns/dial-queue-fixture.ts';
import { withStore } from '../store/engines.ts';

const test = withStore();
let queue: Queue;
let dispatcher: Dispatcher;
/** Who was rung, in order, and how long before their turn. */
let rung: { claim: ClaimedAttempt; run: Run; waitMs: number }[];
let answer: (claim: ClaimedAttempt, run: Run) => Promise<Placed>;
let fate: () => Promise<Fate>;
let lineFault: GatewayError | undefined;
let takesCalls = true;

/** Its capabilities, as far as the dispatcher reads them. */
let provider: { capabilities: { callsPerSecond?: number } };

async function routeOf(campaign: Campaign): Promise<CampaignRoute> {
  if (lineFault !== undefined) throw lineFault;
  const configuration = { id: queue.configurationId, callsPerSecond: null };
  return { campaign, configuration, provider } as CampaignRoute; // All that the dispatcher reads.
}

const deps = (interruptedExtra = 0): DispatcherDeps => ({
  store: test.store,
  calls: {
    get takesCalls() {
      return takesCalls;
    },
    routeOf,
    runOf: ({ campaign: { id: campaignId } }, claim) => ({
      organizationId: queue.organizationId,
      workflowId: queue.workflowId,
      definitionId: queue.definitionId,
      configurationId: queue.configurationId,
      campaignId,
      name: claim.attemptId,
      mode: 'twilio',
      callType: 'outbound',
      providerCallId: null,
      initialContext: {},
      gatheredContext: {},
      logs: {},
    }),
    place: async (_line, claim, { run, waitMs }) => {
      rung.push({ claim, run, waitMs });
      return answer(claim, run);
    },
    outcomeAfterCrash: () => fate(),
  },
  node: test.store.node,
  clock: {
    ...systemClock,
    now: () => test.clock.now(),
    monotonicMs: () => test.clock.monotonicMs(),
  },
  random: systemRandom,
  log: test.log,
  syncNext: async () => false,
  interruptedExtra,
});

beforeEach(async () => {
  queue = await queueOf(test, 3);
  await test.sql('update campaigns set rate_per_second = 1000');
  rung = [];
  answer = async () => 'placed';
  fate = async () => 'none';
  lineFault = undefined;
  takesCalls = true;
  provider = { capabilities: {} };
  dispatcher = new Dispatcher(deps());
});
afterEach(() => dispatcher.stop());

const contacts = () => test.store.contacts;
const campaign = () => test.store.campaigns.get(queue.organizationId, queue.campaignId);
const counts = async () => (await contacts().counts([queue.campaignId])).get(queue.campaignId);

/** Waits until it holds. */
async function until(holds: () => boolean | Promise<boolean>): Promise<void> {
  for (let tries = 0; tries < 400; tries += 1) {
    if (await holds()) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error('it never came to that');
}

/** The call is made and ends like that. */
function ends(disposition: string) {
  return async (claim: ClaimedAttempt, run: Run): Promise<Placed> => {
    await test.store.runs.patch(run.id, { providerCallId: `CA${claim.attemptId}` });
    const startedAt = disposition === 'user_hangup' ? { startedAt: new Date(0) } : {};
    await test.store.runs.patch(run.id, { state: 'completed', disposition, ...startedAt });
    return 'placed';
  };
}

describe('a campaign', () => {
  it('calls every contact and is completed the moment the last one is done', async () => {
    answer = ends('user_hangup');
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'completed');
    expect(rung.map(({ claim }) => claim.rowNumber).sort()).toEqual([2, 3, 4]);
    expect(await counts()).toMatchObject({ reached: 3, failed: 0, inFlight: 0, executed: 3 });
  });

  it('calls a busy contact again after the delay, and no more often than is set', async () => {
    await test.sql('delete from campaign_contacts where row_number > 2');
    answer = ends('busy');
    await dispatcher.start();
    await until(async () => (await counts())?.retriesPending === 1);
    expect(rung).toHaveLength(1);
    test.clock.advance(120_000);
    await until(async () => (await campaign())?.state === 'completed');
    expect(rung.map(({ claim }) => [claim.number, claim.retryReason])).toEqual([
      [1, null],
      [2, 'busy'],
    ]);
    expect(await counts()).toMatchObject({ failed: 1, retriesBy: { busy: 1 } });
  });

  it('places no call while this process takes no more calls, and continues when it does', async () => {
    takesCalls = false;
    const deferred = async (): Promise<number> => {
      const { values } = await campaignDeferred.get();
      return values.find(({ labels }) => labels.reason === 'load')?.value ?? 0;
    };
    const before = await deferred();
    answer = ends('user_hangup');
    await dispatcher.start();
    await until(async () => (await deferred()) > before);
    expect(rung).toEqual([]);
    expect(await counts()).toMatchObject({ attempted: 0, inFlight: 0 });
    takesCalls = true;
    await until(async () => (await campaign())?.state === 'completed');
    expect(rung).toHaveLength(3);
  });

  it('gives back those that it has claimed when the process takes no more calls at the moment of the dial', async () => {
    answer = async (claim, run) => {
      takesCalls = false;
      return ends('user_hangup')(claim, run);
    };
    await test.sql('update campaigns set rate_per_second = 5');
    await dispatcher.start();
    await until(() => rung.length === 1);
    await until(async () => (await counts())?.inFlight === 0);
    expect(rung).toHaveLength(1);
    takesCalls = true;
    answer = ends('user_hangup');
    await until(async () => {
      test.clock.advance(200);
      return (await campaign())?.state === 'completed';
    });
    expect(rung).toHaveLength(3);
  });

  it('begins attempts ahead of their turn where the store is slow', async () => {
    await test.sql('update campaigns set rate_per_second = 5');
    const begin = contacts().begin.bind(contacts());
    const slow = vi.spyOn(contacts(), 'begin').mockImplementation(async (...asked) => {
      test.clock.advance(50);
      return begin(...asked);
    });
    onTestFinished(() => slow.mockRestore());
    answer = ends('user_hangup');
    await dispatcher.start();
    await until(async () => {
      test.clock.advance(10);
      return (await campaign())?.state === 'completed';
    });
    expect(rung).toHaveLength(3);
    const [first, ...others] = rung.map(({ waitMs }) => waitMs);
    expect(first).toBe(0);
    expect(Math.max(...others)).toBeGreaterThan(0);
    expect(Math.max(...others)).toBeLessThanOrEqual(500);
  });

  it('postpones contacts that the provider has no capacity for, without an attempt', async () => {
    answer = async () => 'put-off';
    await dispatcher.start();
    await until(() => rung.length > 0);
    await until(async () => (await counts())?.inFlight === 0);
    expect(await counts()).toMatchObject({ attempted: 0, attempts: 3, failed: 0 });
    expect(await test.sql('select id from runs')).toEqual([]);
    answer = ends('user_hangup');
    test.clock.advance(5_000);
    await until(async () => (await campaign())?.state === 'completed');
    expect(await counts()).toMatchObject({ reached: 3, executed: 3 });
  });

  it('keeps the pace of its provider where the configuration has none', async () => {
    provider = { capabilities: { callsPerSecond: 0.5 } };
    await dispatcher.start();
    await until(() => rung.length === 1);
    const nextMs = async () => {
      const [row] = await test.sql('select dial_next_at as next from telephony_configurations');
      return new Date(String(row?.['next'])).getTime() - test.clock.now();
    };
    expect(await nextMs()).toBe(2_000);
    test.clock.advance(2_000);
    await until(() => rung.length === 2);
    expect(await nextMs()).toBe(2_000);
  });

  it('waits while the organization has no free call', async () => {
    await test.sql('update organizations set concurrent_call_limit = 1');
    await dispatcher.start();
    await until(() => rung.length === 1);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(rung).toHaveLength(1);
    const run = rung[0]?.run;
    if (run !== undefined) await queue.complete(run, 'failed');
    await until(() => rung.length === 2);
    expect((await campaign())?.state).toBe('running');
  });

  it('places no call outside its hours', async () => {
    const slots = [{ dayOfWeek: 3, start: '08:00', end: '09:00' }]; // It is Thursday, 09:00.
    const schedule = { enabled: true, timezone: 'UTC', slots };
    await test.store.campaigns.update(queue.organizationId, queue.campaignId, { schedule });
    await dispatcher.start();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(rung).toEqual([]);
  });

  it('is stopped by its breaker, and goes on when it is resumed', async () => {
    const breaker = { enabled: true, failureThreshold: 0.5, windowS: 60, minCalls: 2 };
    const maxConcurrency = 1;
    const patch = { breaker, maxConcurrency };
    await test.store.campaigns.update(queue.organizationId, queue.campaignId, patch);
    answer = ends('failed');
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'paused');
    expect((await campaign())?.logs.at(-1)?.event).toBe('circuit_breaker_tripped');
    expect(rung).toHaveLength(2);
    answer = ends('user_hangup');
    test.clock.advance(1_000);
    await test.store.campaigns.resume(queue.organizationId, queue.campaignId);
    dispatcher.wake();
    await until(async () => (await campaign())?.state === 'completed');
  });

  it('is paused, with the reason, when no call can go out', async () => {
    lineFault = new GatewayError('AGENT_NOT_ACTIVE');
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'paused');
    expect((await campaign())?.logs.at(-1)).toMatchObject({
      level: 'error',
      event: 'calls_not_possible',
      details: { code: 'AGENT_NOT_ACTIVE' },
    });
  });

  it('names the reason in sentences, also one that has its own full stop', async () => {
    const reason = 'Add at least one active phone number.';
    lineFault = new GatewayError('CONFIGURATION_NOT_READY', { name: 'Main', reason });
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'paused');
    expect((await campaign())?.logs.at(-1)?.message).toBe(
      "Paused: 'Main' is not ready for outbound calls. Add at least one active phone number. Correct it, then resume the campaign",
    );
  });

  it('waits for a PBX that is away, and goes on once it is back', async () => {
    lineFault = new GatewayError('CONFIGURATION_INACTIVE', { name: 'PBX', reason: 'It is off.' });
    answer = ends('user_hangup');
    await dispatcher.start();
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect((await campaign())?.state).toBe('running');
    lineFault = undefined;
    await until(async () => (await campaign())?.state === 'completed');
    expect(rung).toHaveLength(3);
    const logs = (await campaign())?.logs ?? [];
    expect(logs.filter(({ event }) => event.startsWith('telephony_wait'))).toMatchObject([
      {
        level: 'warning',
        event: 'telephony_wait_began',
        message:
          "The campaign waits and goes on by itself: 'PBX' is not ready for outbound calls. It is off.",
      },
      { level: 'info', event: 'telephony_wait_ended' },
    ]);
  });
});

describe('after a stop in the middle of a dial', () => {
  /** As recovery leaves it. */
  async function stranded(providerCallId: string | undefined): Promise<void> {
    await test.sql('delete from campaign_contacts where row_number > 2');
    const [claim] = await queue.claim();
    const run = claim && (await queue.begin(claim));
    if (run === undefined) throw new Error('not begun');
    if (providerCallId !== undefined) await test.store.runs.patch(run.id, { providerCallId });
    await test.store.runs.patch(run.id, {
      state: 'completed',
      disposition: 'system_connect_error',
      gatheredContext: { call_tags: ['gateway_stopped'] },
    });
  }

  it('a call that is known to the provider is ended and made again', async () => {
    await stranded(undefined);
    fate = async () => 'canceled';
    await dispatcher.start();
    await until(async () => (await counts())?.retriesPending === 1);
    expect(rung).toEqual([]);
    answer = ends('user_hangup');
    test.clock.advance(90_000);
    await until(async () => (await campaign())?.state === 'completed');
    expect(rung[0]?.claim).toMatchObject({ number: 2, retryReason: 'interrupted' });
  });

  it('a call that was the last of its contact is made again if the setting says so', async () => {
    await stranded('CA1');
    const retry = { ...RETRY_DEFAULT, maxRetries: 0 };
    await test.store.campaigns.update(queue.organizationId, queue.campaignId, { retry });
    fate = async () => 'canceled';
    dispatcher = new Dispatcher(deps(1));
    await dispatcher.start();
    await until(async () => (await counts())?.retriesPending === 1);
  });

  it('a call that was the last of its contact is not made again if nothing is set', async () => {
    await stranded('CA1');
    const retry = { ...RETRY_DEFAULT, maxRetries: 0 };
    await test.store.campaigns.update(queue.organizationId, queue.campaignId, { retry });
    fate = async () => 'canceled';
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'completed');
    expect(await counts()).toMatchObject({ failed: 1, executed: 1 });
    expect(rung).toEqual([]);
  });

  it('a call that may not be known is not made again', async () => {
    await stranded(undefined);
    fate = async () => 'unknowable';
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'completed');
    expect(await counts()).toMatchObject({ failed: 1, executed: 1 });
    expect(rung).toEqual([]);
  });

  it('a call that the provider has not is made, as none was', async () => {
    await stranded(undefined);
    await dispatcher.start();
    const missed = async () =>
      (await test.sql('select missed_at from campaign_attempts'))[0]?.['missed_at'];
    await until(async () => (await missed()) !== null);
    test.clock.advance(61_000);
    await until(async () => (await counts())?.attempted === 0);
    answer = ends('user_hangup');
    test.clock.advance(60_000);
    await until(async () => (await campaign())?.state === 'completed');
    expect(rung.map(({ claim }) => [claim.number, claim.retryReason])).toEqual([[1, null]]);
  });

  it('a call of which the provider says how it ended has ended so', async () => {
    await stranded('CA1');
    fate = async () => 'busy';
    await dispatcher.start();
    await until(async () => (await counts())?.retriesBy.busy === 1);
  });

  it('a call that already rang is made again', async () => {
    await stranded('CA1');
    fate = async () => 'canceled';
    await dispatcher.start();
    await until(async () => (await counts())?.retriesPending === 1);
  });

  it('the provider is asked until it can say', async () => {
    await stranded(undefined);
    let asked = 0;
    fate = async () => {
      asked += 1;
      throw new GatewayError('PROVIDER_FAILED', { provider: 'twilio', reason: 'HTTP 500' });
    };
    await dispatcher.start();
    await until(() => asked === 1);
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(asked).toBe(1);
    expect(await counts()).toMatchObject({ inFlight: 1 });
  });
});

describe('a campaign whose last call ends', () => {
  beforeEach(async () => {
    await test.sql('delete from campaign_contacts where row_number > 2');
  });
  async function lastCallEnds(): Promise<void> {
    const run = rung[0]?.run;
    if (run !== undefined) await queue.complete(run, 'failed');
    await until(async () => (await campaign())?.state === 'completed');
  }

  it('is completed outside its hours, too', async () => {
    const slots = [{ dayOfWeek: 3, start: '09:00', end: '09:01' }]; // It is Thursday, 09:00.
    const schedule = { enabled: true, timezone: 'UTC', slots };
    await test.store.campaigns.update(queue.organizationId, queue.campaignId, { schedule });
    await dispatcher.start();
    await until(() => rung.length === 1);
    test.clock.advance(120_000);
    await lastCallEnds();
  });

  it('is completed although no further call could go out', async () => {
    answer = async () => {
      lineFault = new GatewayError('TELEPHONY_NOT_CONFIGURED');
      const run = rung[0]?.run;
      if (run !== undefined) await queue.complete(run, 'failed');
      return 'placed';
    };
    await dispatcher.start();
    await until(async () => (await campaign())?.state === 'completed');
  });
});

it('a contact whose attempt began without our hearing it is called after its lease', async () => {
  await test.sql('delete from campaign_contacts where row_number > 2');
  answer = ends('user_hangup');
  let lostAnswers = 0;
  const begin: typeof test.store.contacts.begin = async (...from) => {
    const run = await contacts().begin(...from);
    lostAnswers += 1;
    if (lostAnswers === 1) throw new GatewayError('STORE_UNAVAILABLE');
    return run;
  };
  const store = Object.create(test.store, { contacts: { value: { ...contacts(), begin } } });
  dispatcher = new Dispatcher({ ...deps(), store });
  await dispatcher.start();
  await until(() => lostAnswers === 1);
  expect(rung).toEqual([]);
  test.clock.advance(31_000);
  await until(async () => (await campaign())?.state === 'completed');
  expect(rung.map(({ claim }) => claim.number)).toEqual([1]);
});

it('a provider with slow call look-ups does not delay other calls', async () => {
  const [claim] = await queue.claim({ count: 1 });
  const run = claim && (await queue.begin(claim));
  if (run === undefined) throw new Error('not begun');
  const gatheredContext = { call_tags: ['gateway_stopped'] };
  await test.store.runs.patch(run.id, { state: 'completed', disposition: 'x', gatheredContext });
  fate = () => new Promise(() => undefined);
  await dispatcher.start();
  await until(() => rung.length === 2);
});

it('a contact whose telephone rings is not called again because the store was away', async () => {
  await test.sql('delete from campaign_contacts where row_number > 2');
  let isAway = true;
  const placed: typeof test.store.contacts.placed = async (id) => {
    if (isAway) throw new GatewayError('STORE_UNAVAILABLE');
    return contacts().placed(id);
  };
  const store = Object.create(test.store, { contacts: { value: { ...contacts(), placed } } });
  dispatcher = new Dispatcher({ ...deps(), store });
  await dispatcher.start();
  await until(() => rung.length === 1);
  test.clock.advance(31_000);
  await new Promise((resolve) => setTimeout(resolve, 700));
  isAway = false;
  await until(
    async () => (await test.sql('select state from campaign_attempts'))[0]?.['state'] === 'placed',
  );
  expect(rung).toHaveLength(1);
});

it('the hours of a campaign are those that it has at the moment of the dial', async () => {
  const slots = [{ dayOfWeek: 3, start: '08:00', end: '09:00' }]; // It is Thursday, 09:00.
  const schedule = { enabled: true, timezone: 'UTC', slots };
  const claim: typeof test.store.contacts.claim = async (...from) => {
    const claims = await contacts().claim(...from);
    await test.store.campaigns.update(queue.organizationId, queue.campaignId, { schedule });
    return claims;
  };
  const store = Object.create(test.store, { contacts: { value: { ...contacts(), claim } } });
  dispatcher = new Dispatcher({ ...deps(), store });
  await dispatcher.start();
  await until(async () => (await campaign())?.schedule !== null);
  await until(async () => (await counts())?.inFlight === 0);
  expect(rung).toEqual([]);
});

it('campaigns of an organization take turns when it has one free call', async () => {
  await test.sql('update organizations set concurrent_call_limit = 1');
  const other = await secondCampaign();
  await dispatcher.start();
  for (const many of [1, 2, 3, 4]) {
    await until(() => rung.length === many);
    await new Promise((resolve) => setTimeout(resolve, 100)); // For who else would have its turn.
    test.clock.advance(5_000);
    const run = rung[many - 1]?.run;
    if (run !== undefined) await queue.complete(run, 'failed');
    dispatcher.wake();
  }
  const order = rung.map(({ run }) => run.campaignId);
  expect(order).toEqual([queue.campaignId, other, queue.campaignId, other]);
});

async function secondCampaign(): Promise<string> {
  const [row] = await test.sql(
    `insert into campaigns (organization_id, workflow_id, configuration_id, name, state, source_id,
       source_sync, retry, rate_per_second, created_at)
     select organization_id, workflow_id, configuration_id, 'd', state, source_id, source_sync, retry,
       rate_per_second, created_at from campaigns returning id`,
  );
  const id = String(row?.['id']);
  await contacts().add(id, rows(3));
  return id;
}

it('polls every 50 ms at most, for any number of wake-ups', async () => {
  let looks = 0;
  const running: typeof test.store.contacts.running = async () => {
    looks += 1;
    return [];
  };
  const store = Object.create(test.store, { contacts: { value: { ...contacts(), running } } });
  dispatcher = new Dispatcher({ ...deps(), store });
  await dispatcher.start();
  const startedMs = performance.now();
  while (performance.now() - startedMs < 400) {
    dispatcher.wake();
    await new Promise((resolve) => setTimeout(resolve, 1));
  }
  expect(looks).toBeLessThanOrEqual(9);
});

it('looks at once when a call ends while a campaign runs, not while none does', async () => {
  takesCalls = false;
  const wakesWith = async (running: typeof test.store.contacts.running): Promise<number> => {
    let looks = 0;
    const counted: typeof running = async (...from) => {
      const found = await running(...from);
      looks += 1;
      return found;
    };
    const value = { ...contacts(), running: counted };
    const store = Object.create(test.store, { contacts: { value } });
    dispatcher = new Dispatcher({ ...deps(), store });
    await dispatcher.start();
    await until(() => looks > 0);
    const wake = vi.spyOn(dispatcher, 'wake');
    dispatcher.noteCompleted();
    await dispatcher.stop();
    return wake.mock.calls.length;
  };
  expect(await wakesWith(contacts().running)).toBe(1);
  expect(await wakesWith(async () => [])).toBe(0);
});

describe('beside the dispatchers of other gateways', () => {
  let others: string[];
  const shared = () => {
    const nodes = {
      get diallers() {
        return others;
      },
    };
    return Object.create(test.store, { nodes: { value: nodes } });
  };
  /** Each campaign has one contact that is due. */
  async function campaigns(count: number): Promise<void> {
    await test.sql('delete from campaign_contacts where row_number > 2');
    await test.sql(
      `with more as (
         insert into campaigns (organization_id, workflow_id, configuration_id, name, state,
           source_id, source_sync, retry, rate_per_second, created_at)
         select organization_id, workflow_id, configuration_id, name, state, source_id,
           source_sync, retry, rate_per_second, created_at
         from campaigns, generate_series(2, $1) returning id)
       insert into campaign_contacts (campaign_id, row_number, phone_number, variables, due_at)
       select more.id, 2, '+14155550123', '{}', due_at from more, campaign_contacts`,
      [count],
    );
  }
  const rungCampaigns = () => new Set(rung.map(({ claim }) => claim.campaignId));

  it('dials the campaigns of its share, and those of a gateway that has died', async () => {
    others = ['another#api'];
    await campaigns(8);
    const all = [...others, test.store.node];
    const share = await contacts().running(1_000, { own: test.store.node, all });
    const theirs = await contacts().running(1_000, { own: 'another#api', all });
    expect(theirs.length).toBeGreaterThan(0);
    dispatcher = new Dispatcher({ ...deps(), store: shared() });
    await dispatcher.start();
    await until(() => rungCampaigns().size === share.length);
    await new Promise((resolve) => setTimeout(resolve, 1_200));
    expect([...rungCampaigns()].sort()).toEqual(share.map(({ campaign: { id } }) => id).sort());
    others = [];
    await until(() => rungCampaigns().size === 8);
    expect(rung).toHaveLength(8);
  });

  it('leaves its share to the others while it is at its limit of load, and says so', async () => {
    others = [];
    const dials = async (): Promise<boolean> =>
      (
        await test.sql('select dials_campaigns as it from nodes where name = $1', [test.store.node])
      )[0]?.['it'] === true;
    await dispatcher.start();
    await until(dials);
    takesCalls = false;
    await until(async () => !(await dials()));
    takesCalls = true;
    await until(dials);
    await dispatcher.stop();
    await until(async () => !(await dials()));
  });

  it('waits for a provider that another gateway has found at its limit, and tells of its own', async () => {
    const told: [string, number][] = [];
    dispatcher.onPaused = (...pause) => told.push(pause);
    dispatcher.notePause(queue.configurationId, 60_000);
    await dispatcher.start();
    await new Promise((resolve) => setTimeout(resolve, 700));
    expect(rung).toEqual([]);
    expect(told).toEqual([]);
    test.clock.advance(60_000);
    answer = async () => 'put-off';
    await until(() => told.length > 0);
    expect(told[0]).toEqual([queue.configurationId, 60_000]);
  });
});
