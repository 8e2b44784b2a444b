// Inbound calls of the simulated Twilio at gateways on one server, and what the database has of their runs.

import type { Client } from 'pg';
import { expect, vi } from 'vitest';
import { inbound, OWN_NUMBER } from '../demo/scenario.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import type { FakeTwilio } from '../fakes/twilio/fake-twilio.ts';

const POLL = { timeout: 30_000, interval: 100 };

export class PlacedCalls {
  /** Those of the last `place`. */
  all: readonly FakeCall[] = [];
  /** The run before theirs. */
  before = '0';
  readonly #twilio: FakeTwilio;
  readonly #database: Client;

  constructor(of: { twilio: FakeTwilio; database: Client }) {
    this.#twilio = of.twilio;
    this.#database = of.database;
  }

  /** Resolves when all of them hear the agent. */
  async place(count: number): Promise<void> {
    const { rows } = await this.#database.query<{ id: string }>(
      'select coalesce(max(id), 0) id from runs',
    );
    this.before = rows[0]?.id ?? '0';
    this.all = await Promise.all(
      Array.from({ length: count }, () =>
        this.#twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER }),
      ),
    );
    await vi.waitFor(async () => {
      expect(this.all.filter(({ heard }) => heard.length === 0)).toEqual([]);
      expect(await this.runs()).toEqual({ running: count });
    }, POLL);
  }

  /** How many of their runs are in which state, those that are over by their disposition. */
  async runs(): Promise<Record<string, number>> {
    const { rows } = await this.#database.query<{ state: string; runs: number }>(
      `select coalesce(disposition, state) as state, count(*)::int as runs
       from runs where id > $1 group by 1`,
      [this.before],
    );
    return Object.fromEntries(rows.map((row) => [row.state, row.runs]));
  }

  /** Those that are not over at the provider. */
  get open(): readonly FakeCall[] {
    return this.all.filter(({ isOver }) => !isOver);
  }

  hangUp(): void {
    for (const call of this.all) call.hangUp();
  }
}
