// A campaign at a provider that fails: the dispatcher, the call layer, the store and the Twilio provider are the
// real ones; the provider's answers and time are the test's.

import { afterEach, beforeEach } from 'vitest';
import { Dispatcher } from '../../src/campaign/dispatcher.ts';
import { type Campaign, RETRY_DEFAULT } from '../../src/model/campaign.ts';
import type { Clock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { ContactStore } from '../../src/store/campaigns/contact-store.ts';
import { type CallHarness, withCallHarness } from '../call/call-harness.ts';
import { settle } from '../fakes/fake-clock.ts';
import { rows } from '../store/campaigns/dial-queue-fixture.ts';
import { FaultyProvider } from './faulty-provider.ts';

/** Small enough that nothing is missed, large enough that a minute is quickly over. */
const STEP_MS = 2_000;
const STEPS_MAX = 1_000;
/** The dispatcher's waits between looks. */
const LOOKS_MS = new Set([50, 500, 3_000]);

type Condition = () => boolean | Promise<boolean>;

export class Dialling {
  readonly harness: CallHarness;
  readonly provider: FaultyProvider;
  dispatcher: Dispatcher;
  campaignId = '';
  /** The dispatcher waits for its next look. */
  #isWaiting = false;
  /** What it has asked of the store and of the provider. */
  #asked = 0;

  constructor(harness: CallHarness) {
    this.harness = harness;
    this.provider = new FaultyProvider(harness.clock);
    harness.rest.answer = this.provider.answer;
    this.dispatcher = this.newDispatcher();
  }

  get store() {
    return this.harness.at.store;
  }

  get organizationId(): string {
    return this.harness.at.owner.organizationId;
  }

  /** As the gateway makes it at its start. */
  newDispatcher(): Dispatcher {
    const { store, harness } = this;
    const clock: Clock = {
      now: () => harness.clock.now(),
      monotonicMs: () => harness.clock.monotonicMs(),
      lastStall: () => undefined,
      after: (ms, run) => {
        if (!LOOKS_MS.has(ms)) return harness.clock.after(ms, run);
        this.#isWaiting = true;
        return harness.clock.after(ms, () => {
          this.#isWaiting = false;
          run();
        });
      },
    };
    this.#isWaiting = false;
    const calls = harness.callControl.campaignCalls;
    return new Dispatcher({
      store: Object.create(store, { contacts: { value: this.#counted(store.contacts) } }),
      calls: {
        takesCalls: true,
        routeOf: (campaign) => calls.routeOf(campaign),
        runOf: (...from) => calls.runOf(...from),
        place: this.#countedCall(calls.place.bind(calls)),
        outcomeAfterCrash: this.#countedCall(calls.outcomeAfterCrash.bind(calls)),
      },
      node: store.node,
      clock,
      random: systemRandom,
      log: harness.at.log,
      syncNext: async () => false,
      interruptedExtra: 0,
    });
  }

  #counted(contacts: ContactStore): ContactStore {
    const named: object = contacts;
    const counted = Object.entries(named).map(([name, ask]) => [name, this.#countedCall(ask)]);
    return Object.fromEntries(counted);
  }

  #countedCall<A extends unknown[], T>(ask: (...from: A) => Promise<T>) {
    return async (...from: A): Promise<T> => {
      this.#asked += 1;
      try {
        return await ask(...from);
      } finally {
        this.#asked -= 1;
      }
    };
  }

  /** It has done what there was to do. */
  get #isIdle(): boolean {
    return this.#isWaiting && this.#asked === 0;
  }

  /** Without retries, as fast as may be. */
  async create(): Promise<string> {
    const { id } = await this.store.campaigns.create(this.organizationId, {
      name: 'c',
      workflowId: this.harness.workflow.id,
      sourceId: `campaigns/${this.organizationId}/a.csv`,
      configurationId: this.harness.configuration.id,
      retry: { ...RETRY_DEFAULT, maxRetries: 0 },
      maxConcurrency: null,
      schedule: null,
      breaker: null,
      ratePerSecond: 100,
    });
    return id;
  }

  async begin(contacts: number): Promise<void> {
    await this.store.contacts.add(this.campaignId, rows(contacts));
    await this.sql("update campaigns set state = 'running'");
    await this.dispatcher.start();
  }

  async stop(): Promise<void> {
    const stopping = this.dispatcher.stop();
    this.harness.clock.advance(10_000);
    await stopping;
  }

  /** Time passes, with what it sets off, until it holds. */
  async through(holds: Condition): Promise<void> {
    for (let steps = 0; steps < STEPS_MAX; steps += 1) {
      await this.until(() => this.#isIdle);
      if (await holds()) return;
      this.harness.clock.advance(STEP_MS);
      await settle();
    }
    throw new Error('it never came to that');
  }

  /** So much time passes, with what it sets off. */
  async pass(ms: number): Promise<void> {
    const end = this.harness.clock.now() + ms;
    await this.through(() => this.harness.clock.now() >= end);
  }

  /** It comes true without time passing. */
  until(holds: Condition): Promise<void> {
    return this.harness.until(holds);
  }

  sql(text: string): Promise<Record<string, unknown>[]> {
    return this.harness.at.sql(text);
  }

  async campaign(id = this.campaignId): Promise<Campaign> {
    const found = await this.store.campaigns.get(this.organizationId, id);
    if (found === undefined) throw new Error('no campaign');
    return found;
  }

  async counts() {
    const { campaignId } = this;
    return (await this.store.contacts.counts([campaignId])).get(campaignId);
  }

  async logged(event: string, id = this.campaignId) {
    return (await this.campaign(id)).logs.filter((each) => each.event === event);
  }

  /** The first contact's row. */
  async contact(): Promise<Record<string, unknown>> {
    return (await this.sql('select * from campaign_contacts order by id'))[0] ?? {};
  }

  /** Whether a dial is. */
  async isInDoubt(): Promise<boolean> {
    const rowsInDoubt = 'select id from campaign_attempts where doubt_since is not null';
    return (await this.sql(rowsInDoubt)).length > 0;
  }
}

/** A campaign without contacts for each test. */
export function withDialling(): { at: Dialling } {
  const held = withCallHarness();
  const dialling = {} as { at: Dialling }; // Filled before each test.
  beforeEach(async () => {
    dialling.at = new Dialling(await held.harness.prepare());
    held.harness.rest.answer = dialling.at.provider.answer;
    dialling.at.campaignId = await dialling.at.create();
  });
  afterEach(() => dialling.at.stop());
  return dialling;
}
