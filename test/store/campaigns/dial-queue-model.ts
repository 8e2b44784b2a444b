// A telephone exchange and the processes that dial by it, for the property of the dial queue. It knows
// which contacts are on a line, independently of the database.

import type { Run } from '../../../src/model/run.ts';
import type { ClaimedAttempt } from '../../../src/store/campaigns/dial-attempts.ts';
import type { TestStore } from '../engines.ts';
import type { Queue } from './dial-queue-fixture.ts';

export interface Chosen {
  type:
    | 'begin'
    | 'send'
    | 'refuse'
    | 'refuse although bound'
    | 'put off'
    | 'put off although bound'
    | 'bind'
    | 'answer'
    | 'hang up'
    | 'note placed'
    | 'settle twice';
  /** Index among the objects to which the step can happen. */
  which: number;
}

export interface Plain {
  type:
    | 'restart'
    | 'return lapsed'
    | 'pause'
    | 'resume'
    | 'complete'
    | 'provider fails'
    | 'provider answers';
}

export type Step =
  | Chosen
  | Plain
  | { type: 'claim'; count: number }
  | { type: 'settle'; again: boolean }
  | { type: 'wait'; s: number };

interface Dial {
  claim: ClaimedAttempt;
  run: Run;
  /** `begun`: the process may send. `up`: the exchange has the call. `over`: refused or ended. */
  line: 'begun' | 'up' | 'over';
}

/** A contact that is called again: busy, up to three attempts in all. */
const ATTEMPTS_MAX = 3;

export class Exchange {
  readonly faults: string[] = [];
  readonly #at: TestStore;
  readonly #queue: Queue;
  #claims: ClaimedAttempt[] = [];
  #dials: Dial[] = [];
  #settled: string[] = [];

  constructor(at: TestStore, queue: Queue) {
    this.#at = at;
    this.#queue = queue;
  }

  async take(step: Step): Promise<void> {
    if ('which' in step) return this.#calls[step.type](step.which);
    if (step.type === 'claim') {
      this.#claims.push(...(await this.#queue.claim({ count: step.count, openMax: 3 })));
    } else if (step.type === 'settle') {
      await this.#settle(step.again);
    } else if (step.type === 'wait') {
      this.#at.clock.advance(step.s * 1_000);
    } else {
      await this.#processes[step.type]();
    }
  }

  readonly #calls: Record<Chosen['type'], (which: number) => Promise<void>> = {
    begin: (which) => this.#begin(which),
    send: async (which) => this.#send(this.#pick('begun', which)),
    refuse: (which) => this.#refuse(this.#pick('begun', which)),
    'refuse although bound': async (which) => {
      // A proxy answers 503 for a provider that has the call and has called back.
      const dial = this.#pick('up', which);
      await this.#bind(dial);
      if (dial !== undefined) await this.#giveBack(dial);
    },
    'put off': async (which) => {
      const dial = this.#pick('begun', which);
      if (dial === undefined) return;
      dial.line = 'over';
      await this.#putOff(dial);
    },
    'put off although bound': async (which) => {
      const dial = this.#pick('up', which);
      await this.#bind(dial);
      if (dial !== undefined) await this.#putOff(dial);
    },
    bind: (which) => this.#bind(this.#pick('up', which)),
    answer: async (which) => {
      const dial = this.#pick('up', which);
      if (dial !== undefined) await this.#at.store.runs.patch(dial.run.id, { state: 'running' });
    },
    'note placed': async (which) => {
      const dial = this.#pick('up', which);
      if (dial !== undefined) await this.#at.store.contacts.placed(dial.claim.attemptId);
    },
    'hang up': (which) => this.#hangUp(this.#pick('up', which)),
    'settle twice': (which) => this.#settleTwice(which),
  };

  readonly #processes: Record<Plain['type'], () => Promise<void>> = {
    restart: async () => {
      this.#claims = [];
      // Recovery closes what was begun, and hangs up what is on the line.
      for (const dial of this.#dials.filter(({ line }) => line !== 'over'))
        await this.#hangUp(dial);
      await this.#at.store.contacts.releaseClaims(this.#at.store.node);
    },
    'return lapsed': async () => {
      await this.#at.store.contacts.releaseClaims(undefined);
    },
    pause: async () => {
      await this.#at.store.campaigns.pause(this.#queue.organizationId, this.#queue.campaignId);
    },
    resume: async () => {
      await this.#at.store.campaigns.resume(this.#queue.organizationId, this.#queue.campaignId);
    },
    'provider fails': async () => {
      const { configurationId, campaignId } = this.#queue;
      await this.#at.store.contacts.providerFailed(configurationId, campaignId);
    },
    'provider answers': async () => {
      await this.#at.store.contacts.providerAnswered(this.#queue.configurationId);
    },
    complete: async () => {
      const done = await this.#at.store.contacts.completeDone();
      if (done.includes(this.#queue.campaignId)) await this.#expectAllDone();
    },
  };

  async #begin(which: number): Promise<void> {
    const claim = this.#claims[which % Math.max(1, this.#claims.length)];
    if (claim === undefined) return;
    this.#claims = this.#claims.filter((each) => each !== claim);
    const run = await this.#queue.begin(claim);
    if (run !== undefined) this.#dials.push({ claim, run, line: 'begun' });
  }

  #send(dial: Dial | undefined): void {
    if (dial === undefined) return;
    const { contactId } = dial.claim;
    const isUp = this.#dials.some(
      ({ line, claim }) => line === 'up' && claim.contactId === contactId,
    );
    if (isUp) this.faults.push(`contact ${contactId} is on two lines`);
    dial.line = 'up';
  }

  async #refuse(dial: Dial | undefined): Promise<void> {
    if (dial === undefined) return;
    dial.line = 'over';
    await this.#giveBack(dial);
  }

  #giveBack({ claim }: Dial): Promise<void> {
    return this.#at.store.contacts.releaseAttempt(claim.attemptId, 0);
  }

  async #putOff({ claim }: Dial): Promise<void> {
    const { contacts } = this.#at.store;
    await contacts.doubt(claim.attemptId);
    await contacts.putOff(claim.attemptId, 0);
  }

  async #bind(dial: Dial | undefined): Promise<void> {
    if (dial === undefined) return;
    await this.#at.store.runs.patch(dial.run.id, { providerCallId: `CA${dial.run.id}` });
  }

  async #hangUp(dial: Dial | undefined): Promise<void> {
    if (dial === undefined) return;
    dial.line = 'over';
    await this.#queue.complete(dial.run, 'busy');
  }

  async #settleTwice(which: number): Promise<void> {
    const id = this.#settled[which % Math.max(1, this.#settled.length)];
    if (id === undefined) return;
    const again = { delayMs: 0, reason: 'busy' } as const;
    const hasEnded = await this.#at.store.contacts.settle(id, { outcome: 'busy', again });
    if (hasEnded) this.faults.push(`${id} settled twice`);
  }

  async #settle(again: boolean): Promise<void> {
    for (const { id, number } of await this.#at.store.contacts.settleable()) {
      const retry = again && number < ATTEMPTS_MAX;
      await this.#at.store.contacts.settle(id, {
        outcome: 'busy',
        again: retry ? { delayMs: 30_000, reason: 'busy' } : null,
      });
      this.#settled.push(id);
    }
  }

  async #expectAllDone(): Promise<void> {
    const rows = await this.#at.sql(
      "select id from campaign_contacts where campaign_id = $1 and state not in ('reached', 'failed')",
      [this.#queue.campaignId],
    );
    if (rows.length > 0) this.faults.push('completed with contacts to call');
  }

  #pick(line: Dial['line'], which: number): Dial | undefined {
    const of = this.#dials.filter((dial) => dial.line === line);
    return of[which % Math.max(1, of.length)];
  }
}
