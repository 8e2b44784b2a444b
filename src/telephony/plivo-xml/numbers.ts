// Phone numbers of an account at Plivo or Vobiz: ownership, and the application of their inbound calls. Their
// differences are in `NumberInterface`. Source: plivo.com/docs/numbers/api/account-phone-number, docs.vobiz.ai

import { z } from 'zod';
import type { NumberTarget } from '../provider/inspection.ts';
import type { ProviderControl } from '../provider/provider.ts';
import type { ProviderCredentials } from '../provider/terms.ts';
import type { AccountClient, AccountRequest } from './account-client.ts';
import { answerUrlOf, ensureApplication } from './applications.ts';

const DIGITS = /^\d{5,15}$/;

export interface NumberLook {
  credentials: ProviderCredentials;
  /** The number as digits, without `+`. */
  address: string;
  signal: AbortSignal;
}

/** A number that the account owns. */
export interface OwnedNumber {
  /** Id of its application; empty for none. */
  applicationId: string;
  /** A service that takes the number's calls before an application can: `a SIP trunk`. */
  obstacle: string | undefined;
}

export interface NumberInterface {
  /** Name of the provider in messages. */
  label: string;
  /** The number; undefined if the account does not own it. */
  find(client: AccountClient, look: NumberLook): Promise<OwnedNumber | undefined>;
  /** The request that assigns the number to an application, or with null to none. */
  assignment(
    address: string,
    applicationId: string | null,
  ): Pick<AccountRequest, 'method' | 'path' | 'body'>;
}

type Outcome = { ok: boolean; message: string | null };

export function createNumbers(
  client: AccountClient,
  numbers: NumberInterface,
): Pick<
  ProviderControl,
  'ownsNumber' | 'configureInbound' | 'detachInbound' | 'ensureApplication'
> {
  const inbound = new InboundNumbers(client, numbers);
  return {
    async ownsNumber(credentials, address, signal) {
      if (!DIGITS.test(address)) return undefined;
      return (await numbers.find(client, { credentials, address, signal })) !== undefined;
    },

    configureInbound: (credentials, address, url, signal) =>
      inbound.attach({ credentials, address, signal }, url),

    detachInbound: (credentials, address, url, signal) =>
      inbound.detach({ credentials, address, signal }, url),

    ensureApplication: (credentials, wanted, signal) =>
      ensureApplication(client, { credentials, wanted, signal }),
  };
}

/** Destination of a number's calls; undefined if the account does not own it. */
export async function targetOf(
  client: AccountClient,
  numbers: NumberInterface,
  look: NumberLook,
): Promise<NumberTarget | undefined> {
  const number = await numbers.find(client, look);
  if (number === undefined) return undefined;
  if (number.obstacle !== undefined) return { kind: 'blocked', by: number.obstacle };
  const { applicationId: id } = number;
  return id === '' ? { kind: 'none' } : { kind: 'application', id };
}

class InboundNumbers {
  readonly #client: AccountClient;
  readonly #numbers: NumberInterface;

  constructor(client: AccountClient, numbers: NumberInterface) {
    this.#client = client;
    this.#numbers = numbers;
  }

  /** Reports, and never changes, an application with another answer URL: it may belong to another system. */
  async attach(look: NumberLook, url: string): Promise<Outcome> {
    const { label } = this.#numbers;
    const found = await this.#find(look);
    if ('ok' in found) return found;
    const { obstacle, ours } = found;
    if (ours === '') {
      return refusal(`The configuration has no ${label} application; save it again.`);
    }
    if (obstacle !== undefined) return refusal(`The number belongs to ${obstacle} at ${label}.`);
    const answerUrl = await this.#answerUrlOf(look, ours);
    if (answerUrl === undefined) return refusal(`The ${label} application does not exist.`);
    if (answerUrl !== url) {
      return refusal(
        `The ${label} application answers at another address; its answer URL must be ${url}`,
      );
    }
    await this.#assign(look, ours);
    return { ok: true, message: null };
  }

  /** Takes the number from the application, which stays as it is for its other numbers. A number whose application is
   *  another system's is not changed. */
  async detach(look: NumberLook, url: string): Promise<Outcome> {
    const found = await this.#find(look);
    if ('ok' in found) return found;
    const { applicationId, ours } = found;
    const isOurs = ours !== '' && applicationId === ours;
    if (isOurs && (await this.#answerUrlOf(look, ours)) === url) await this.#assign(look, null);
    return { ok: true, message: null };
  }

  /** The number and the configuration's application, or the reason why not. */
  async #find(look: NumberLook): Promise<(OwnedNumber & { ours: string }) | Outcome> {
    const { label } = this.#numbers;
    if (!DIGITS.test(look.address)) return refusal(`${label} routes phone numbers here, not SIP.`);
    const number = await this.#numbers.find(this.#client, look);
    if (number === undefined) return refusal(`The ${label} account does not own this number.`);
    return { ...number, ours: this.#client.account(look.credentials).application_id ?? '' };
  }

  #answerUrlOf({ credentials, signal }: NumberLook, applicationId: string) {
    return answerUrlOf(this.#client, { credentials, applicationId, signal });
  }

  async #assign(
    { credentials, address, signal }: NumberLook,
    applicationId: string | null,
  ): Promise<void> {
    const assignment = this.#numbers.assignment(address, applicationId);
    const wanted = { ...assignment, action: 'configure-inbound', repeatable: true };
    const response = await this.#client.send(credentials, wanted, signal);
    this.#client.contentOf(response, wanted, z.unknown());
  }
}

function refusal(message: string): Outcome {
  return { ok: false, message };
}
