import { describe, expect, it } from 'vitest';
import { checkContacts } from '../../src/campaign/contact-check-thread.ts';
import { systemClock as clock } from '../../src/std/clock.ts';
import { FakeClock } from '../fakes/fake-clock.ts';

const rules = { requiredColumns: ['name'] };
const file = (rows: number, last = ''): Buffer =>
  Buffer.from(
    [
      'phone_number,name',
      ...Array.from({ length: rows }, (_, row) => `+1415${2_000_000 + row},N${row}`),
      last,
    ].join('\n'),
  );
/** A thread that runs this code. */
const thread = (code: string): URL => new URL(`data:text/javascript,${encodeURIComponent(code)}`);
const answering = thread(
  "import { parentPort } from 'node:worker_threads'; parentPort.postMessage({ contacts: 7 });",
);
const silent = thread('setInterval(() => {}, 1_000_000);');
const dying = thread('process.exit(1);');

describe('the check of a contact file', () => {
  it('is made by a thread for a large file, and where it is for a small one', async () => {
    const count = async (rows: number) =>
      (await checkContacts(file(rows), rules, { clock, entry: answering })).contacts;
    expect(await count(5_000)).toBe(7);
    expect(await count(5)).toBe(5);
  });

  it('counts the contacts of a large file and keeps its bytes for their owner', async () => {
    const bytes = file(5_000);
    expect((await checkContacts(bytes, rules, { clock })).contacts).toBe(5_000);
    expect(bytes.length).toBeGreaterThan(32_768);
  });

  it('reports all faults of a large file', async () => {
    const { problems, faults } = await checkContacts(file(5_000, '4155550100,\n'), rules, {
      clock,
    });
    expect(problems).toMatch(/Invalid phone numbers in rows: 5002\./);
    expect(problems).toMatch(/'name' is empty in rows: 5002/);
    expect(faults.map(({ row, code }) => [row, code])).toEqual([
      [5_002, 'VARIABLE_EMPTY'],
      [5_002, 'NUMBER_INVALID'],
    ]);
  });

  it('is refused as busy when its thread ends or takes too long', async () => {
    const died = checkContacts(file(5_000), rules, { clock, entry: dying });
    await expect(died).rejects.toMatchObject({ code: 'API_BUSY' });
    const fake = new FakeClock();
    const late = checkContacts(file(5_000), rules, { clock: fake, entry: silent });
    const refused = expect(late).rejects.toMatchObject({ code: 'API_BUSY' });
    await fake.advance(120_000);
    await refused;
  });
});
