// The gateway's client for the command `patchbay`: one request at a time, with a deadline and error texts.

import { z } from 'zod';
import { GatewayError } from '../errors/gateway-error.ts';
import { systemClock } from '../std/clock.ts';
import { deadlineSignal } from '../std/deadline.ts';
import { parseJson } from '../std/json.ts';

/** Deadline of an answer: a check takes up to a minute. */
const ANSWER_MS_MAX = 90_000;

/** The command's access to the process. */
export interface CliIo {
  env: Readonly<Record<string, string | undefined>>;
  out(text: string): void;
  error(text: string): void;
  /** Asks for a confirmation at the terminal; undefined without a terminal. */
  confirm?: ((question: string) => Promise<boolean>) | undefined;
  /** Aborted when the user interrupts a command that has something to end first. Default: the process ends at once. */
  interrupted?: AbortSignal;
}

export type GatewayAddress = {
  /** The gateway's URL without a trailing slash. */
  url: string;
} & (
  | { key: string }
  | { /** What opens the route in place of a key. */ headers: Record<string, string> }
);

const fault = z.object({ detail: z.string() });

/** Throws COMMAND_INVALID. */
export function gatewayUrl(given: string | undefined): string {
  if (given === undefined) {
    const problem = 'say where the gateway is: --url https://gw.example.com, or PATCHBAY_URL';
    throw new GatewayError('COMMAND_INVALID', { problem });
  }
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '') {
    throw new GatewayError('COMMAND_INVALID', {
      problem: `"${given}" is no http or https address`,
    });
  }
  return url.href.replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

/** Throws COMMAND_INVALID. */
export function configurationId(given: string | undefined): string {
  if (given !== undefined && /^\d{1,19}$/.test(given)) return given;
  const problem = 'say which configuration: --config ID (a number)';
  throw new GatewayError('COMMAND_INVALID', { problem });
}

/** Throws COMMAND_INVALID. */
export function apiKey(given: string | undefined): string {
  if (given !== undefined && given !== '') return given;
  const problem = 'an API key is needed: --key, or PATCHBAY_API_KEY';
  throw new GatewayError('COMMAND_INVALID', { problem });
}

interface GatewayRequest {
  method: 'GET' | 'POST';
  path: string;
  body?: unknown;
}

/** Sends a request; the answer is JSON. Throws GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function askGateway<T>(
  address: GatewayAddress,
  request: GatewayRequest,
  schema: z.ZodType<T>,
): Promise<T> {
  const content = schema.safeParse(parseJson(await askForText(address, request)));
  if (content.success) return content.data;
  const said = 'an answer that cannot be parsed';
  throw new GatewayError('GATEWAY_REFUSED', { url: address.url, said });
}

/** Sends a request. Returns the body of a success unchanged. Throws GATEWAY_UNREACHABLE, GATEWAY_REFUSED. */
export async function askForText(
  address: GatewayAddress,
  { method, path, body: sent }: GatewayRequest,
): Promise<string> {
  const { url } = address;
  const { signal, done } = deadlineSignal(systemClock, ANSWER_MS_MAX, 'the gateway');
  try {
    const response = await fetch(`${url}/api/v1${path}`, {
      method,
      headers: {
        ...('key' in address ? { 'x-api-key': address.key } : address.headers),
        accept: 'application/json, */*',
        ...(sent !== undefined && { 'content-type': 'application/json' }),
      },
      ...(sent !== undefined && { body: JSON.stringify(sent) }),
      signal,
    });
    const text = await response.text();
    if (response.ok) return text;
    const said = fault.safeParse(parseJson(text)).data?.detail ?? `HTTP ${response.status}`;
    throw new GatewayError('GATEWAY_REFUSED', { url, said });
  } catch (error) {
    if (error instanceof GatewayError && error.code === 'GATEWAY_REFUSED') throw error;
    throw new GatewayError('GATEWAY_UNREACHABLE', { url, reason: reasonOf(error) }, error);
  } finally {
    done();
  }
}

/** The reason of a failed request: fetch has the system's error code in `cause`. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error ? (error.cause ?? error) : error;
  if (!(cause instanceof Error)) return 'unknown';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}
