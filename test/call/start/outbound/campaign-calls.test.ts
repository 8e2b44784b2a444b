// How a campaign's call is placed, and what becomes of it where the provider, the store or we ourselves
// give no clear word. What the dispatcher makes of it is its own test's business.

import { beforeEach, describe, expect, it, vi } from 'vitest';
import type { CampaignRoute } from '../../../../src/call/start/outbound/campaign-plans.ts';
import { contactOutcomeOf } from '../../../../src/campaign/contact-outcome.ts';
import { codeOf, GatewayError } from '../../../../src/errors/gateway-error.ts';
import { RETRY_DEFAULT } from '../../../../src/model/campaign.ts';
import type { Run } from '../../../../src/model/run.ts';
import { spokenPieces } from '../../../../src/pipeline/speak/timed-pieces.ts';
import type { ClaimedAttempt } from '../../../../src/store/campaigns/dial-attempts.ts';
import { deferred } from '../../../fakes/deferred.ts';
import { rows } from '../../../store/campaigns/dial-queue-fixture.ts';
import { statementsSent } from '../../../store/sent-statements.ts';
import type { Answer } from '../../../telephony/provider/rest-server.ts';
import { CALL, GREETING, twilioAnswers, withCallHarness } from '../../call-harness.ts';

const held = withCallHarness();
let route: CampaignRoute;
let claims: ClaimedAttempt[];

const calls = () => held.harness.callControl.campaignCalls;
const store = () => held.harness.at.store;

beforeEach(async () => {
  const { at, workflow } = await held.harness.prepare();
  await held.harness.addNumber('+14155550102');
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
  await store().contacts.add(campaign.id, rows(4));
  await at.sql("update campaigns set state = 'running'");
  route = await calls().routeOf(campaign);
  claims = await store().contacts.claim(campaign.id, {
    count: 4,
    openMax: 4,
    ratePerSecond: 1_000,
    configuration: route.configuration,
    horizonMs: 1_000,
    leaseMs: 30_000,
  });
});

/** What its route takes, or why there is none. */
async function lineCost(): Promise<{ refusal: unknown; sent: number }> {
  const sent = statementsSent();
  const { campaign } = route;
  const refusal = await calls()
    .routeOf(campaign)
    .then(() => undefined, codeOf)
    .finally(() => sent.stop());
  return { refusal, sent: sent.texts.length };
}

describe("the route of a campaign's calls", () => {
  it('is read by three statements: agent with version, configuration, numbers', async () => {
    expect(await lineCost()).toEqual({ refusal: undefined, sent: 3 });
  });

  it('is none where the agent is archived, gone or not published', async () => {
    const { sql } = held.harness.at;
    await sql("update workflows set status = 'archived'");
    expect((await lineCost()).refusal).toBe('AGENT_NOT_ACTIVE');
    await sql("update workflows set status = 'active'");
    await sql("update workflow_versions set status = 'archived'");
    expect((await lineCost()).refusal).toBe('AGENT_NOT_PUBLISHED');
    await sql("update workflows set status = 'archived'");
    expect((await lineCost()).refusal).toBe('AGENT_NOT_ACTIVE');
    route = { ...route, campaign: { ...route.campaign, workflowId: '999999' } };
    expect((await lineCost()).refusal).toBe('AGENT_NOT_ACTIVE');
  });
});

async function begun(claim = claims.shift()): Promise<{ claim: ClaimedAttempt; run: Run }> {
  if (claim === undefined) throw new Error('nobody is due');
  const run = await store().contacts.begin(claim, calls().runOf(route, claim, 'csv_0'));
  if (run === undefined) throw new Error('not begun');
  return { claim, run };
}

/** Twilio's list of calls. */
function list(sids: readonly string[]): Answer {
  const dateCreated = 'Thu, 15 Jan 2026 09:00:00 +0000';
  const calls = sids.map((sid) => ({ sid, status: 'ringing', date_created: dateCreated }));
  return { status: 200, body: { calls } };
}

/** Dials once. */
async function place(answer: Answer, listed: Answer = list([])) {
  held.harness.rest.answer = (asked) => {
    if (asked.method === 'POST' && asked.path.endsWith('/Calls.json')) return answer;
    return asked.path.includes('/Calls.json?') ? listed : twilioAnswers(asked);
  };
  const { claim, run } = await begun();
  const placed = await calls().place(route, claim, { run, waitMs: 0 });
  return { placed, claim, run: await held.harness.run(run.id) };
}

/** As the dispatcher sees it. */
async function outcome(): Promise<string | undefined> {
  const [open] = await store().contacts.settleable();
  return open && contactOutcomeOf(open);
}

const taken = { status: 201, body: { sid: CALL, status: 'queued' } };
const sentDials = () => held.harness.dials.filter(({ method }) => method === 'POST');

describe('a call of a campaign', () => {
  it('is placed with caller ids in turn, and its run says whose it is', async () => {
    const made: Run[] = [];
    for (const claim of [...claims]) made.push((await begun(claim)).run);
    const callers = made.map(({ initialContext }) => initialContext['caller_number']);
    expect(callers[1]).not.toBe(callers[0]);
    expect(callers.slice(2)).toEqual(callers.slice(0, 2));
    expect(made[0]?.initialContext).toMatchObject({
      name: 'n0',
      campaign_id: route.campaign.id,
      source_uuid: 'csv_0_row_2',
      called_number: '+14152000000',
      direction: 'outbound',
    });
  });

  it('has its first words rendered before it is dialled', async () => {
    const { tts, at, rest } = held.harness;
    const rendered: string[][] = [];
    rest.answer = (asked) => {
      if (asked.path.endsWith('/Calls.json')) rendered.push([...tts.rendered]);
      return twilioAnswers(asked);
    };
    const { claim, run } = await begun();
    await calls().place(route, claim, { run, waitMs: 0 });
    expect(rendered).toEqual([spokenPieces(GREETING, at.clock)]);
  });

  it('has words of its own rendered before it is dialled unless those of another contact are', async () => {
    const { tts, clock, at } = held.harness;
    const greeting = 'Hello {{name}}, tea or coffee?';
    await at.sql(
      `update workflow_versions set definition = replace(definition::text, '${GREETING}', '${greeting}')::json`,
    );
    route = await calls().routeOf(route.campaign);
    tts.firstAudioMs = 1_000;
    const made = [await begun(), await begun()];
    const placing = made.map(({ claim, run }) => calls().place(route, claim, { run, waitMs: 0 }));
    await vi.waitFor(() => expect(sentDials()).toHaveLength(1));
    await clock.advanceAsync(1_000);
    await Promise.all(placing);
    expect(tts.asked).toHaveLength(1);
    expect(tts.asked[0]).toMatch(/^Hello n[01], tea or coffee\?$/);
  });

  it('is dialled after 1.5 s where its voice is slow, in its turn', async () => {
    const { tts, clock } = held.harness;
    tts.firstAudioMs = 60_000;
    const { claim, run } = await begun();
    const placing = calls().place(route, claim, { run, waitMs: 500 });
    await clock.advanceAsync(1_480);
    expect(sentDials()).toEqual([]);
    await clock.advanceAsync(20);
    await expect(placing).resolves.toBe('placed');
  });

  it('is postponed where the provider has no capacity', async () => {
    const { placed, run } = await place({ status: 429, body: { code: 20_429 } });
    expect(placed).toBe('put-off');
    expect(run.state).toBe('initialized');
  });

  it('is closed with an outcome where the provider refuses it', async () => {
    const { placed, run } = await place({ status: 400, body: { code: 21_211 } });
    expect([placed, run.state]).toEqual(['refused', 'completed']);
    expect(await outcome()).toBe('failed');
    expect(sentDials()).toHaveLength(1);
  });

  const serverError: Answer = { status: 500, body: { code: 20_500 } };
  it.each<[string, Answer]>([
    ['answered 500', serverError],
    ['cut', 'reset'],
  ])('whose dial is %s is in doubt: its run is open, and it is dialled once', async (_how, how) => {
    const { placed, run } = await place(how);
    expect([placed, run.state, run.providerCallId]).toEqual(['in-doubt', 'initialized', null]);
    expect(await held.harness.bodies(run, 'fault')).toMatchObject([
      { code: 'PROVIDER_UNCERTAIN', fatal: false },
    ]);
    expect(sentDials()).toHaveLength(1);
  });

  it('that is over before its dial fails keeps its log as it is', async () => {
    const over = deferred();
    held.harness.rest.answer = { status: 500, body: {}, until: over.promise };
    const { claim, run } = await begun();
    const placing = calls().place(route, claim, { run, waitMs: 0 });
    await held.harness.status(run.id, 'CallStatus=busy&SequenceNumber=1');
    await held.harness.completed(run);
    const before = await held.harness.events(run);
    over.resolve();
    expect(await placing).toBe('in-doubt');
    expect(await held.harness.events(run)).toEqual(before);
    expect(await outcome()).toBe('busy');
  });

  it('in doubt is found in the provider’s list, and its run goes on with it', async () => {
    const { run } = await place('reset', list([CALL]));
    expect(await calls().outcomeAfterCrash(run)).toBe('there');
    expect(await held.harness.run(run.id)).toMatchObject({
      state: 'initialized',
      providerCallId: CALL,
    });
    expect(held.harness.hangUps).toEqual([]);
  });

  it('in doubt is not in the provider’s list, or the list is hidden, or cannot be read', async () => {
    const { run } = await place('reset');
    expect(await calls().outcomeAfterCrash(run)).toBe('none');
    const refused = await place('reset', { status: 403, body: {} });
    expect(await calls().outcomeAfterCrash(refused.run)).toBe('unknowable');
    const broken = await place('reset', serverError);
    await expect(calls().outcomeAfterCrash(broken.run)).rejects.toMatchObject({
      code: 'PROVIDER_FAILED',
    });
  });

  it('that did not reach the provider certainly was not placed', async () => {
    const { port } = new URL(held.harness.rest.url);
    const closed = held.harness.rest.url.replace(port, '9'); // No server listens there.
    const credentials = { ...route.configuration.credentials, api_base_url: closed };
    route = { ...route, configuration: { ...route.configuration, credentials } };
    const { claim, run } = await begun();
    expect(await calls().place(route, claim, { run, waitMs: 0 })).toBe('fault');
    await store().contacts.releaseAttempt(claim.attemptId, 0);
    expect(await store().runs.find(run.id)).toBeUndefined();
  });

  it('is placed although the store is away when the provider takes it', async () => {
    const { runs } = held.harness.deps.store;
    const away = () => Promise.reject(new GatewayError('STORE_UNAVAILABLE'));
    Object.assign(runs, { patch: away, events: away, find: away });
    const { placed } = await place(taken);
    expect(placed).toBe('placed');
    expect(sentDials()).toHaveLength(1);
  });

  it('that still rings when the gateway stops is looked up by the next one, and hung up', async () => {
    const { run } = await place(taken);
    await held.harness.callControl.drain(0);
    expect(await outcome()).toBe('look-up');
    expect(await calls().outcomeAfterCrash(await held.harness.run(run.id))).toBe('completed');
    expect(held.harness.hangUps).toHaveLength(1);
  });

  it('that a client hangs up while it rings is not made again', async () => {
    const { run } = await place(taken);
    await held.harness.callControl.hangUp({ organizationId: run.organizationId, runId: run.id });
    await held.harness.completed(run);
    expect(await outcome()).toBe('canceled');
  });
});
