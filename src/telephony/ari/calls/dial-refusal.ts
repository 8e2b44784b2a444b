// Why Asterisk creates no channel for an endpoint: it answers "Allocation failed" for one that does not exist and for
// one that has not registered. Source: asterisk §4.2.

import { z } from 'zod';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { AriClient } from '../rest/client.ts';
import { endpointIn } from '../rest/dial-string.ts';

/** The CLI command that lists the endpoints of a technology. */
const LISTS: Readonly<Record<string, string>> = {
  PJSIP: 'pjsip show endpoints',
  SIP: 'sip show peers',
  IAX2: 'iax2 show peers',
};

const endpoint = z.looseObject({ state: z.string().catch('unknown') });

/** `error` with the probable reason; `error` itself where none is known. Never rejects. */
export async function explainedRefusal(
  client: Pick<AriClient, 'send'>,
  dialString: string,
  error: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const { technology, name } = endpointIn(dialString) ?? { technology: '', name: '' };
  const list = LISTS[technology.toUpperCase()];
  if (codeOf(error) !== 'PROVIDER_DESTINATION' || list === undefined) return error;
  const path = `endpoints/${encodeURIComponent(technology)}/${encodeURIComponent(name)}`;
  try {
    const request = { action: 'look', method: 'GET', path } as const;
    const { status, body } = await client.send(request, signal);
    const { state } = endpoint.safeParse(body).data ?? {};
    const reason = reasonOf({ name: `${technology}/${name}`, list }, status, state);
    if (reason === undefined) return error;
    return new GatewayError('PROVIDER_DESTINATION', { provider: 'ari', action: 'dial', reason });
  } catch {
    return error;
  }
}

function reasonOf(
  { name, list }: { name: string; list: string },
  status: number,
  state: string | undefined,
): string | undefined {
  if (status === 404) return `${name}: there is no such endpoint (${list})`;
  if (status !== 200 || state === 'online') return undefined;
  const contact = list.startsWith('pjsip')
    ? ', and has its AOR a contact (pjsip show contacts)'
    : '';
  return `${name} is not registered (${state}): is the telephone on${contact}?`;
}
