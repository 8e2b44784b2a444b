// The only client for requests to addresses that an organization names. Enforces the egress rule: http and https only,
// no password in the address, no redirects, a bounded answer. Callers set the deadlines.

import { Agent, type Dispatcher, request } from 'undici';
import { GatewayError } from '../errors/gateway-error.ts';
import { createEgress, type Egress } from './egress-rule.ts';

/** Connections to one receiver. Calls of a busy process use one system at the same moment, while webhooks wait for
 *  it: a request without a connection would use up its time. */
const CONNECTIONS_MAX = 256;
const ANSWER_BYTES_MAX = 262_144;
const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const;

export interface GuardedRequest {
  method: string;
  url: string;
  headers: Record<string, string>;
  /** Body of the request; undefined for none. */
  body: string | undefined;
  /** Whether the status is enough: if the body breaks off or has not ended at the deadline, its beginning is
   *  returned. Default: false, the request fails. */
  isStatusEnough?: boolean;
}

export interface GuardedResponse {
  status: number;
  /** The body, or its beginning. */
  text: string;
}

export interface GuardedHttp {
  /** Sends a request. Any status is a reply; redirects are not followed. Rejects with OUTSIDE_FORBIDDEN, the
   *  network's error, or the signal's reason. */
  send(request: GuardedRequest, signal: AbortSignal): Promise<GuardedResponse>;
  /** Throws OUTSIDE_FORBIDDEN for an address that may not be called, before its name is resolved. */
  check(url: string): void;
  /** Opens connections; refuses those to forbidden addresses. */
  readonly connect: Egress['connect'];
  close(): Promise<void>;
}

/** The headers of a stored credential. Throws CREDENTIAL_NOT_FOUND. */
export type CredentialHeaders = (
  organizationId: string,
  uuid: string,
) => Promise<Record<string, string>>;

export function createGuardedHttp(egress: Egress = createEgress()): GuardedHttp {
  const agent = new Agent({
    connections: CONNECTIONS_MAX,
    pipelining: 1,
    connect: egress.connect,
  });
  const check = (url: string): void => {
    egress.check(url);
    const { username, password } = new URL(url);
    if (username !== '' || password !== '') throw forbidden('a password in the address');
  };
  return {
    check,
    connect: egress.connect,
    async send({ method, url, headers, body, isStatusEnough = false }, signal) {
      check(url);
      const known = METHODS.find((each) => each === method);
      if (known === undefined) throw forbidden('the method');
      const options = { method: known, headers, signal, dispatcher: agent, body: body ?? null };
      const response = await request(url, options);
      const begin = await beginOf(response.body, isStatusEnough);
      return { status: response.statusCode, text: textOf(begin, response.headers['content-type']) };
    },
    close: () => agent.destroy(),
  };
}

async function beginOf(
  body: Dispatcher.ResponseData['body'],
  mayBreakOff: boolean,
): Promise<Buffer> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  try {
    for await (const chunk of body) {
      if (!Buffer.isBuffer(chunk)) continue;
      chunks.push(chunk);
      bytes += chunk.length;
      if (bytes >= ANSWER_BYTES_MAX) break;
    }
  } catch (error) {
    if (!mayBreakOff) throw error;
  }
  return Buffer.concat(chunks).subarray(0, ANSWER_BYTES_MAX);
}

/** Text of a body by the charset that its type declares; UTF-8 without a known one. TextDecoder removes a byte order
 *  mark, which JSON must not have. */
function textOf(body: Buffer, type: string | readonly string[] | undefined): string {
  const [, charset = 'utf-8'] = /;\s*charset\s*=\s*"?([^\s";]+)/i.exec(String(type ?? '')) ?? [];
  return decoderOf(charset).decode(body);
}

function decoderOf(charset: string): InstanceType<typeof TextDecoder> {
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

function forbidden(reason: string): GatewayError {
  return new GatewayError('OUTSIDE_FORBIDDEN', { reason });
}
