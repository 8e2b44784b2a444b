// The session: who is logged in. The cookie that proves it cannot be read here.

import { useSyncExternalStore } from 'react';
import { toApiError } from './errors.ts';

export interface Session {
  user: { id: string; email: string | null; name: string | null };
  /** The gateway's. */
  version: string;
}

export type SessionState =
  | { status: 'unknown' }
  | { status: 'out' }
  | { status: 'in'; session: Session };
export type Credentials = { api_key: string } | { email: string; password: string };

const PATH = '/console/session';
/** Header by which the gateway knows that a change comes from this page. */
export const CONSOLE_HEADERS = { 'X-Patchbay-Console': '1' };
const REQUEST_MS_MAX = 15_000;

let state: SessionState = { status: 'unknown' };
const listeners = new Set<() => void>();

export function useSession(): SessionState {
  return useSyncExternalStore(subscribe, () => state);
}

/** Reads who is logged in, and renews the session. Rejects if the gateway cannot be reached. */
export async function loadSession(): Promise<void> {
  const response = await ask('GET');
  if (response.status === 401) set({ status: 'out' });
  else set({ status: 'in', session: await sessionIn(response) });
}

/** Rejects with an ApiError. */
export async function logIn(credentials: Credentials): Promise<void> {
  set({ status: 'in', session: await sessionIn(await ask('POST', credentials)) });
}

/** Rejects with an ApiError: the session then still holds. */
export async function logOut(): Promise<void> {
  const response = await ask('DELETE');
  if (!response.ok) throw await toApiError(response);
  sessionOver();
}

/** Called when a request was refused because nobody is logged in. */
export function sessionOver(): void {
  set({ status: 'out' });
}

async function sessionIn(response: Response): Promise<Session> {
  if (!response.ok) throw await toApiError(response);
  return (await response.json()) as Session;
}

function ask(method: string, body?: Credentials): Promise<Response> {
  const signal = AbortSignal.timeout(REQUEST_MS_MAX);
  if (body === undefined) return fetch(PATH, { method, headers: CONSOLE_HEADERS, signal });
  const headers = { ...CONSOLE_HEADERS, 'Content-Type': 'application/json' };
  return fetch(PATH, { method, headers, signal, body: JSON.stringify(body) });
}

function set(next: SessionState): void {
  state = next;
  for (const listener of listeners) listener();
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
