// A campaign's dial as the API process has it sent: by one worker, once, whatever becomes of either process.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import { campaignPlanDeps } from '../../src/app/call-parts.ts';
import { CampaignWords } from '../../src/call/start/outbound/campaign-calls.ts';
import type { CampaignRoute } from '../../src/call/start/outbound/campaign-plans.ts';
import { CampaignRouter } from '../../src/cluster/campaign-router.ts';
import type { PooledWorker, WorkerPool } from '../../src/cluster/worker-pool.ts';
import { GatewayError } from '../../src/errors/gateway-error.ts';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import type { Run } from '../../src/model/run.ts';
import type { ClaimedAttempt } from '../../src/store/campaigns/dial-attempts.ts';
import { withCallHarness } from '../call/call-harness.ts';
import { rows } from '../store/campaigns/dial-queue-fixture.ts';

const held = withCallHarness();
let route: CampaignRoute;
let claim: ClaimedAttempt;
let run: Run;
let asked: string[];
let isThere: boolean;
let fault: GatewayError | undefined;

const store = () => held.harness.at.store;
const sentDials = () => held.harness.dials.filter(({ method }) => method === 'POST');

function router(): CampaignRouter {
  const { campaignCalls } = held.harness.callControl;
  const worker = {
    place: async (dial) => {
      asked.push('place');
      if (fault !== undefined) throw fault;
      return campaignCalls.placeClaimed(dial);
    },
    outcomeAfterCrash: async (runId) => {
      asked.push(`fate ${runId}`);
      return 'there';
    },
  } satisfies Partial<PooledWorker>;
  const workers = {
    leastLoaded: () => (isThere ? worker : undefined),
    pbxWorker: () => (isThere ? worker : undefined),
    forPbx: () => (isThere ? worker : undefined),
    takesCalls: isThere,
  } as unknown as WorkerPool;
  const { deps } = held.harness;
  return new CampaignRouter(campaignPlanDeps(deps), workers, ['ari']);
}

beforeEach(async () => {
  [asked, isThere, fault] = [[], true, undefined];
  const { at, workflow } = await held.harness.prepare();
  const { organizationId } = at.owner;
  const campaign = await store().campaigns.create(organizationId, {
    name: 'c',
    workflowId: workflow.id,
    sourceId: `campaigns/${organizationId}/a.csv`,
    configurationId: null,
    retry: RETRY_DEFAULT,
    maxConcurrency: null,
    schedule: null,
    breaker: null,
    ratePerSecond: 1_000,
  });
  await store().contacts.add(campaign.id, rows(1));
  await at.sql("update campaigns set state = 'running'");
  route = await router().routeOf(campaign);
  const claims = await store().contacts.claim(campaign.id, {
    count: 1,
    openMax: 1,
    ratePerSecond: 1_000,
    configuration: route.configuration,
    horizonMs: 1_000,
    leaseMs: 30_000,
  });
  claim = claims[0] as ClaimedAttempt;
  const begun = await store().contacts.begin(claim, router().runOf(route, claim, 'csv_0'));
  run = begun as Run;
});

describe('a dial of a campaign', () => {
  it('is sent by a worker, with the caller id and the run of its claim', async () => {
    expect(await router().place(route, claim, { run, waitMs: 0 })).toBe('placed');
    expect(sentDials()).toHaveLength(1);
    expect(sentDials()[0]?.body).toContain(run.id);
    expect((await held.harness.run(run.id)).providerCallId).not.toBeNull();
  });

  it('in doubt is stored as such by the worker: an API process that is new does not dial again', async () => {
    held.harness.rest.answer = { status: 500, body: {} };
    expect(await router().place(route, claim, { run, waitMs: 0 })).toBe('in-doubt');
    const [attempt] = await held.harness.at.sql('select doubt_since from campaign_attempts');
    expect(attempt?.['doubt_since']).not.toBeNull();
  });

  it('waits if no worker is there, or no channel takes a message', async () => {
    isThere = false;
    expect(router().takesCalls).toBe(false);
    expect(await router().place(route, claim, { run, waitMs: 0 })).toBe('put-off');
    isThere = true;
    fault = new GatewayError('QUEUE_FULL', { queue: 'requests to workers' });
    expect(await router().place(route, claim, { run, waitMs: 0 })).toBe('put-off');
    expect(sentDials()).toEqual([]);
  });

  it.each(['WORKER_GONE', 'TIMED_OUT'] as const)(
    'whose reply is lost (%s) is in doubt',
    async (code) => {
      fault =
        code === 'WORKER_GONE'
          ? new GatewayError(code, { worker: 1 })
          : new GatewayError(code, { what: 'place', ms: 1 });
      expect(await router().place(route, claim, { run, waitMs: 0 })).toBe('in-doubt');
      expect(asked).toEqual(['place']);
    },
  );

  it.each([
    ['was taken from a process that stood still', "owner_node = 'elsewhere', owner_epoch = 7"],
    ['was hung up', "state = 'completed'"],
  ])('for a run that %s, between its look-up and its turn, is not sent', async (_what, change) => {
    const { at, clock, tts } = held.harness;
    tts.firstAudioMs = 60_000;
    const words = vi.spyOn(CampaignWords.prototype, 'ready').mockClear();
    const placing = router().place(route, claim, { run, waitMs: 500 });
    await vi.waitFor(() => expect(words).toHaveBeenCalled());
    await at.sql(`update runs set ${change} where id = $1`, [run.id]);
    clock.stall(20_000);
    clock.advance(0);
    expect(await placing).toBe('closed');
    expect(sentDials()).toEqual([]);
  });

  it('for a run that is over already is not sent', async () => {
    await held.harness.at.sql("update runs set state = 'completed' where id = $1", [run.id]);
    expect(await router().place(route, claim, { run, waitMs: 0 })).toBe('fault');
    expect(sentDials()).toEqual([]);
  });
});

describe('what became of a call', () => {
  it('of a PBX says the worker that holds the connection, of others the provider', async () => {
    expect(await router().outcomeAfterCrash({ ...run, mode: 'ari' })).toBe('there');
    expect(asked).toEqual([`fate ${run.id}`]);
    isThere = false;
    await expect(router().outcomeAfterCrash({ ...run, mode: 'ari' })).rejects.toMatchObject({
      code: 'WORKER_GONE',
    });
    held.harness.rest.answer = { status: 200, body: { calls: [] } };
    expect(await router().outcomeAfterCrash(run)).toBe('none');
    expect(asked).toHaveLength(1);
  });
});
