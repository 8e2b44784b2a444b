// Phone numbers of an account at a hosted provider: whether it owns one, where its calls go, and how they are pointed at
// this gateway and taken from it. This is the flow of all providers; their requests, their fields, and whether a number
// has a webhook or an application of its own are in `NumberInterface`.

import type { NumberTarget, ProviderInspection } from './inspection.ts';
import type { ProviderControl } from './provider.ts';
import type { ProviderCredentials } from './terms.ts';

export interface NumberLook {
  credentials: ProviderCredentials;
  /** The number in the provider's format. */
  address: string;
  signal: AbortSignal;
}

/** `url`: where inbound calls are to go. */
export interface InboundLook extends NumberLook {
  url: string;
}

/** Throws PROVIDER_* wherever it sends requests. */
export interface NumberInterface<Owned extends object> {
  /** Name of the provider in messages. */
  label: string;
  /** Form of the numbers that it routes; others are SIP addresses. */
  form: RegExp;
  /** Why no number can be routed with these credentials. Default: any can. */
  unready?(credentials: ProviderCredentials): string | undefined;
  /** The number; undefined if the account does not own it. */
  find(look: NumberLook): Promise<Owned | undefined>;
  targetOf(number: Owned): NumberTarget;
  /** Points the number's calls at `url`. Returns the reason why not, as text for users. */
  point(number: Owned, look: InboundLook): Promise<string | undefined>;
  /** Whether the number's calls go to `url`, and not to another system with the same account. */
  isPointed(number: Owned, look: InboundLook): Promise<boolean>;
  /** Takes the number from its destination. Returns the reason why not, as text for users. */
  detach(number: Owned, look: InboundLook): Promise<string | undefined>;
}

export interface InboundNumbers {
  control: Pick<ProviderControl, 'ownsNumber' | 'configureInbound' | 'detachInbound'>;
  targets: ProviderInspection['targets'];
}

export function inboundNumbers<Owned extends object>(
  numbers: NumberInterface<Owned>,
): InboundNumbers {
  return {
    control: {
      async ownsNumber(credentials, address, signal) {
        if (!numbers.form.test(address)) return undefined;
        return (await numbers.find({ credentials, address, signal })) !== undefined;
      },

      async configureInbound(credentials, address, url, signal) {
        const look = { credentials, address, url, signal };
        const number = await findOwned(numbers, look);
        if (typeof number === 'string') return outcome(number);
        return outcome(await numbers.point(number, look));
      },

      async detachInbound(credentials, address, url, signal) {
        const look = { credentials, address, url, signal };
        const number = await findOwned(numbers, look);
        if (typeof number === 'string') return outcome(number);
        const isHere = await numbers.isPointed(number, look);
        return outcome(isHere ? await numbers.detach(number, look) : undefined);
      },
    },

    /** One after the other, within the provider's budget of requests. */
    async targets(credentials, addresses, signal) {
      const targets: (NumberTarget | undefined)[] = [];
      for (const address of addresses) {
        const number = await numbers.find({ credentials, address, signal });
        targets.push(number && numbers.targetOf(number));
      }
      return targets;
    },
  };
}

/** The number, or the reason why it cannot be routed. */
async function findOwned<Owned extends object>(
  { label, form, unready, find }: NumberInterface<Owned>,
  look: NumberLook,
): Promise<Owned | string> {
  if (!form.test(look.address)) return `${label} routes phone numbers here, not SIP.`;
  const reason = unready?.(look.credentials);
  if (reason !== undefined) return reason;
  return (await find(look)) ?? `The ${label} account does not own this number.`;
}

function outcome(refusal: string | undefined): { ok: boolean; message: string | null } {
  return { ok: refusal === undefined, message: refusal ?? null };
}
