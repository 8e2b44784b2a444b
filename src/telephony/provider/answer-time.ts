// How long a hosted provider waits for the answer to a call's webhook.

import type { HostedProvider } from './provider.ts';

/** Time that a provider waits which does not document it. */
const UNKNOWN_MS = 8_000;

/** Latest answer to a call's webhook, in milliseconds. */
export function answerMsOf(provider: HostedProvider | undefined): number {
  return provider?.capabilities.answerMsMax ?? UNKNOWN_MS;
}
