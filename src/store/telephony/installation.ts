// Id of this installation, by which it recognises its applications at providers.

import type { StoreContext } from '../db/store-context.ts';

/** Id of twelve hexadecimal digits, which stays the same for the life of the database. */
export async function installationId({ db, random }: StoreContext): Promise<string> {
  const first = () => db.selectFrom('installations').select('id').orderBy('id').executeTakeFirst();
  const known = await first();
  if (known !== undefined) return known.id;
  // A copy of the data has no row of the migration. Two processes use the first row.
  const id = random.bytes(6).toString('hex');
  await db.insertInto('installations').values({ id }).execute();
  return (await first())?.id ?? id;
}
