// The destination of a call that a hosted provider connects with another number.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ForwardRequest } from './provider.ts';

const DIALABLE = /^(\+?\d{5,15}|sips?:[^\s<>"]{1,200})$/i;

/** The request, if its destination can be dialled: providers accept any document, and end the call if they cannot dial
 *  what it names. Throws PROVIDER_DESTINATION. */
export function dialable(provider: string, request: ForwardRequest): ForwardRequest {
  if (DIALABLE.test(request.to)) return request;
  const reason = 'neither a number with its country code nor a SIP address';
  throw new GatewayError('PROVIDER_DESTINATION', { provider, reason });
}
