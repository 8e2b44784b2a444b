// Sends the request of a tool: to public addresses only, with the headers of its stored credential, within its time.
// workflow/tools builds the request, the caller uses the answer. Source: contract §8.7.

import type { CredentialHeaders, GuardedHttp } from '../../../egress/guarded-http.ts';
import { GatewayError } from '../../../errors/gateway-error.ts';
import { headersOfCredential } from '../../../model/credential.ts';
import type { Clock } from '../../../std/clock.ts';
import { deadlineSignal, unlessAborted } from '../../../std/deadline.ts';
import { parseExactJson } from '../../../std/json.ts';
import type { CredentialStore } from '../../../store/library/credentials.ts';
import type { ToolRequest } from '../../../workflow/tools/tool-request-builder.ts';

/** Client for requests to an organization's own systems. */
export interface OrganizationHttp {
  outside: Pick<GuardedHttp, 'send'>;
  credentialHeaders: CredentialHeaders;
}

export interface ToolRequestDeps extends OrganizationHttp {
  clock: Clock;
}

export interface ToolAnswer {
  /** Any status: redirects and errors are answers too (workflow/tools/tool-request-builder.ts). */
  status: number;
  /** The JSON of the body, or its text. Null if it is empty. */
  data: unknown;
}

/** Sends the request. Throws CREDENTIAL_NOT_FOUND, OUTSIDE_FORBIDDEN, TIMED_OUT, TOOL_UNREACHABLE, or the signal's
 *  reason. */
export async function sendToolRequest(
  { outside, credentialHeaders, clock }: ToolRequestDeps,
  { organizationId, request }: { organizationId: string; request: ToolRequest },
  signal: AbortSignal,
): Promise<ToolAnswer> {
  const { method, url, body, credentialUuid, timeoutMs } = request;
  const deadline = deadlineSignal(clock, timeoutMs, 'request of a tool', signal);
  try {
    const credential =
      credentialUuid === null
        ? {}
        : await unlessAborted(deadline.signal, credentialHeaders(organizationId, credentialUuid));
    const headers = joined(request.headers, credential);
    const sent = { method, url, headers, body: body ?? undefined };
    const { status, text } = await outside.send(sent, deadline.signal);
    return { status, data: dataOf(text) };
  } catch (error) {
    deadline.signal.throwIfAborted();
    if (error instanceof GatewayError) throw error;
    throw new GatewayError('TOOL_UNREACHABLE', { reason: reasonOf(error) }, error);
  } finally {
    deadline.done();
  }
}

function dataOf(text: string): unknown {
  if (text === '') return null;
  const data = parseExactJson(text);
  return data === undefined ? text : data;
}

/** Merges headers: the credential's replace others of the same name, in any case of letters. */
function joined(
  own: Record<string, string>,
  credential: Record<string, string>,
): Record<string, string> {
  const names = new Set(Object.keys(credential).map((name) => name.toLowerCase()));
  const rest = Object.entries(own).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(rest), ...credential };
}

/** Reason of a failure, without the address, which may hold a secret. */
function reasonOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : 'unexpected error';
}

export function credentialHeadersFrom({
  credentials,
}: {
  credentials: Pick<CredentialStore, 'open'>;
}): CredentialHeaders {
  return async (organizationId, uuid) => {
    const opened = await credentials.open(organizationId, uuid);
    if (opened === undefined) throw new GatewayError('CREDENTIAL_NOT_FOUND');
    return headersOfCredential(opened.type, opened.data);
  };
}
