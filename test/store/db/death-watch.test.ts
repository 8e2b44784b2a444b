// Which processes are declared dead, and when: by rows of a real database, with time that the test passes.

import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/std/clock.ts';
import { systemRandom } from '../../../src/std/random.ts';
import { openDatabase } from '../../../src/store/db/connections.ts';
import { DeathWatch, type Look } from '../../../src/store/db/death-watch.ts';
import { EMBEDDED_PACE, SERVER_PACE } from '../../../src/store/db/presence-pace.ts';
import { FakeClock } from '../../fakes/fake-clock.ts';
import { quietLog } from '../../fakes/quiet-log.ts';
import { engines } from '../databases.ts';
import { steeredTime, withStore } from '../engines.ts';
import { before as meanwhile } from '../sent-statements.ts';

const CALM_MS = 15_000;
const DEAD_MS = 10_000;
const LOOK = /from nodes\s+where \(dials_campaigns/;

describe.each(engines())('dead processes on %s', (engine) => {
  const at = withStore(engine);
  let opened: ReturnType<typeof openDatabase> | undefined;
  const db = () => {
    const ready = (): Promise<void> => Promise.resolve();
    opened ??= openDatabase(at.target(), { ready, clock: systemClock, log: at.log });
    return opened;
  };
  afterAll(async () => {
    await opened?.destroy();
  });
  beforeEach(() => at.sql('delete from nodes'));

  /** One gateway that checks, at the rate that it says itself. `clock`: its own; `wall`: the database's. */
  function gateway(name = 'own', pace = SERVER_PACE) {
    const clock = new FakeClock();
    const { log, lines: all } = quietLog();
    const lines = () => all().filter(({ node }) => !String(node).includes('/'));
    const identity = { node: name, epoch: '1', log };
    const time = steeredTime(() => at.clock);
    const watch = new DeathWatch({
      ...identity,
      db: db(),
      pace,
      clock,
      time,
      random: systemRandom,
    });
    let nextMs = 0;
    const look = async (): Promise<Look> => {
      const found = await watch.look();
      nextMs = found.nextMs;
      return found;
    };
    /** Lets `ms` pass for it and for the database; those that `beat` report every two seconds. */
    const pass = async (ms: number, beating: readonly string[] = []): Promise<void> => {
      for (let leftMs = ms; leftMs > 0; ) {
        const stepMs = Math.max(1, Math.min(leftMs, nextMs));
        leftMs -= stepMs;
        clock.advance(stepMs);
        at.clock.advance(stepMs);
        for (const each of beating) await beat(each);
        await look();
      }
    };
    return { watch, clock, look, pass, lines };
  }

  const beat = (name: string) =>
    at.sql('update nodes set seen_at = $2 where name = $1', [name, new Date(at.clock.now())]);
  const enter = (name: string, epoch: number | null = 5) =>
    at.sql('insert into nodes (name, epoch, started_at, seen_at) values ($1, $2, $3, $3)', [
      ...[name, epoch, new Date(at.clock.now())],
    ]);
  // Those of these tests: the store itself reports, too.
  const names = async () =>
    (await at.sql("select name from nodes where name not like '%/%' order by name")).map(
      ({ name }) => name,
    );

  it('are declared dead ten seconds after their last heartbeat, and not before', async () => {
    const own = gateway();
    await enter('other');
    await own.pass(CALM_MS + 1_000, ['other']);
    const seenMs = at.clock.now();
    await own.pass(DEAD_MS - 100);
    expect(await names()).toEqual(['other']);
    await own.pass(400);
    expect(await names()).toEqual([]);
    expect(own.lines()).toMatchObject([{ level: 'warn', node: 'other' }]);
    expect(at.clock.now() - seenMs).toBeLessThanOrEqual(DEAD_MS + 300);
  });

  it('are declared dead by one of several gateways, and the others look for their runs too', async () => {
    const [one, two] = [gateway('one'), gateway('two')];
    await enter('other');
    for (let passed = 0; passed < CALM_MS + DEAD_MS - 1_000; passed += 1_000) {
      for (const { clock, look } of [one, two]) {
        clock.advance(1_000);
        await look();
      }
      at.clock.advance(1_000);
      if (passed < CALM_MS) await beat('other');
    }
    for (const { clock } of [one, two]) clock.advance(2_000);
    at.clock.advance(2_000);
    const looks = await Promise.all([one.look(), two.look()]);
    expect(looks.map(({ hasDied }) => hasDied)).toEqual([true, true]);
    expect([...one.lines(), ...two.lines()]).toHaveLength(1);
    expect(await names()).toEqual([]);
    expect((await one.look()).hasDied).toBe(false);
  });

  it('are not declared dead in the first seconds of a gateway, nor after an outage', async () => {
    const own = gateway();
    await enter('silent');
    at.clock.advance(90_000);
    await own.pass(CALM_MS - 1);
    expect(await names()).toEqual(['silent']);
    await own.pass(2_000);
    expect(await names()).toEqual([]);
    await enter('silent');
    await own.pass(2_000);
    const outage = meanwhile(LOOK, () => Promise.reject(new Error('away')));
    own.clock.advance(2_000);
    await expect(own.look()).rejects.toThrow();
    outage.stop();
    await own.pass(CALM_MS - 1);
    expect(await names()).toEqual(['silent']);
    await own.pass(2_000);
    expect(await names()).toEqual([]);
  });

  it('are not declared dead by a gateway that was suspended, or whose network alone was cut', async () => {
    const own = gateway();
    await own.pass(CALM_MS);
    await enter('silent');
    await own.pass(4_000);
    own.clock.advance(20_000);
    at.clock.advance(20_000);
    expect(await own.look()).toMatchObject({ isCalm: false, hasDied: false });
    await own.pass(CALM_MS - 1);
    expect(await names()).toEqual(['silent']);
    await own.pass(2_000);
    expect(await names()).toEqual([]);
  });

  it('are not declared dead because the clock of the database jumps', async () => {
    const own = gateway();
    await enter('other');
    await own.pass(CALM_MS + 2_000, ['other']);
    at.clock.advance(3_600_000);
    await own.look();
    await own.pass(1_900);
    await beat('other');
    await own.pass(DEAD_MS - 2_000);
    expect(await names()).toEqual(['other']);
    await beat('other');
    at.clock = new FakeClock(at.clock.now() - 7_200_000);
    await own.look();
    await own.pass(1_900);
    await beat('other');
    await own.pass(8_000);
    expect(await names()).toEqual(['other']);
    at.clock = new FakeClock(at.clock.now() - 7_200_000);
    await own.pass(DEAD_MS + 4_000); // Without a heartbeat since the jump.
    expect(await names()).toEqual([]);
  });

  it('keep their name if they report at the last moment', async () => {
    const own = gateway();
    await enter('other');
    await own.pass(CALM_MS + 1_000, ['other']);
    await own.pass(DEAD_MS - 200);
    own.clock.advance(1_000);
    at.clock.advance(1_000);
    const late = meanwhile(/^begin/i, () => beat('other'));
    await own.look();
    late.stop();
    expect(await names()).toEqual(['other']);
  });

  it('of the version without epochs, and with the embedded database, have a minute', async () => {
    const own = gateway();
    await enter('former', null);
    await own.pass(59_000);
    expect(await names()).toEqual(['former']);
    await own.pass(2_000);
    expect(await names()).toEqual([]);
    const embedded = gateway('own', EMBEDDED_PACE);
    await enter('other');
    await embedded.pass(58_000);
    expect(await names()).toEqual(['other']);
    await embedded.pass(32_000);
    expect(await names()).toEqual([]);
  });

  it('leave no lease behind that lasts longer', async () => {
    const own = gateway();
    await enter('holder');
    const later = new Date(at.clock.now() + 3_600_000);
    const { organizationId } = at.owner;
    await at.sql(
      `with configuration as (
         insert into telephony_configurations (organization_id, name, provider, is_default_outbound,
           credentials, sealed_fields, created_at, updated_at)
         values ($1, 'p', 'ari', false, '{}', '{}', $2, $2) returning id
       )
       insert into configuration_leases (configuration_id, node, lease_until)
       select id, 'holder', $2 from configuration`,
      [organizationId, later],
    );
    await own.pass(CALM_MS + DEAD_MS);
    expect(await names()).toEqual([]);
    const [lease] = await at.sql('select lease_until from configuration_leases');
    expect(Number(lease?.['lease_until'])).toBeLessThanOrEqual(at.clock.now());
  });

  it('are those that dial campaigns no longer', async () => {
    const own = gateway();
    await enter('one');
    await enter('two');
    await at.sql("update nodes set dials_campaigns = true where name in ('one', 'two')");
    await own.pass(CALM_MS, ['one', 'two']);
    expect([...own.watch.diallers].sort()).toEqual(['one', 'two']);
    await own.pass(DEAD_MS + 300, ['two']);
    expect(own.watch.diallers).toEqual(['two']);
  });
});
