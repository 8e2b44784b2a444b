// Used nonces of providers' webhooks: one statement claims a nonce, for one of several processes.

import { sql } from 'kysely';
import { shifted } from '../db/database-time.ts';
import type { StoreContext } from '../db/store-context.ts';

/** Time for which nonces are kept, longer than calls last: a later replay finds a completed run. */
const KEPT_MS = 4 * 3_600_000;
/** Time after a delivery within which a provider may repeat it. */
const REPEATED_MS = 120_000;
/** Expired rows that each new one deletes: more than are added, and little work. */
const SWEPT_MAX = 20;
/** Longest nonce that is stored whole; providers' are below 100 characters. */
const NONCE_MAX = 200;

export interface WebhookNonce {
  provider: string;
  nonce: string;
  /** SHA-256 of the webhook's content, hexadecimal. */
  content: string;
}

export type WebhookNonceStore = Pick<WebhookNonces, keyof WebhookNonces>;

export class WebhookNonces {
  readonly #context: StoreContext;

  constructor(context: StoreContext) {
    this.#context = context;
  }

  /** Claims a nonce. True if it is new, and for a repeated delivery: the same content within two minutes. False if it
   *  was used. */
  async claim({ provider, nonce, content }: WebhookNonce): Promise<boolean> {
    if (nonce.length > NONCE_MAX) return false;
    const { db, time } = this.#context;
    const now = time();
    const { rows } = await sql<{ is_taken: boolean }>`
      with swept as (
        delete from webhook_nonces where ctid = any(array(
          select ctid from webhook_nonces
          where seen_at <= ${shifted(now, -KEPT_MS)} and nonce <> ${nonce}
          order by seen_at limit ${SWEPT_MAX} for update skip locked
        ))
      )
      insert into webhook_nonces (provider, nonce, content, seen_at)
      values (${provider}, ${nonce}, ${content}, ${now})
      on conflict (provider, nonce) do update set content = webhook_nonces.content
      where webhook_nonces.content = ${content}
        and webhook_nonces.seen_at > ${shifted(now, -REPEATED_MS)}
      returning true as is_taken`.execute(db);
    return rows.length > 0;
  }
}
