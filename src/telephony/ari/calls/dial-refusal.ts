// Why Asterisk creates no channel for an endpoint: it answers "Allocation failed" for one that does not exist and for
// one that has not registered. Source: asterisk §4.2.

import { z } from 'zod';
import { codeOf, GatewayError } from '../../../errors/gateway-error.ts';
import type { AriClient } from '../rest/client.ts';

const endpoint = z.looseObject({ state: z.string().catch('unknown') });

/** The error itself where there is nothing more to say. Never rejects. */
export async function explainedRefusal(
  client: AriClient,
  dialString: string,
  error: unknown,
  signal: AbortSignal,
): Promise<unknown> {
  const [, technology = '', rest = ''] = /^(PJSIP|SIP|IAX2)\/(.+)$/i.exec(dialString) ?? [];
  if (codeOf(error) !== 'PROVIDER_DESTINATION' || technology === '') return error;
  const name = /@([^/@]+)$/.exec(rest)?.[1] ?? rest.split('/')[0] ?? '';
  const path = `endpoints/${encodeURIComponent(technology)}/${encodeURIComponent(name)}`;
  try {
    const request = { action: 'look', method: 'GET', path } as const;
    const { status, body } = await client.send(request, signal);
    const reason = reasonOf(`${technology}/${name}`, status, endpoint.safeParse(body).data?.state);
    if (reason === undefined) return error;
    return new GatewayError('PROVIDER_DESTINATION', { provider: 'ari', action: 'dial', reason });
  } catch {
    return error;
  }
}

function reasonOf(name: string, status: number, state: string | undefined): string | undefined {
  if (status === 404) return `${name}: there is no such endpoint (pjsip show endpoints)`;
  if (status !== 200 || state === 'online') return undefined;
  return `${name} is not registered (${state}): is the telephone on, and has its AOR a contact (pjsip show contacts)?`;
}
