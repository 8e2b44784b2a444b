// The requests of an attack on the API: of clients without a key, and of a tenant who has one. Bodies are made once,
// so that the attacker's own work is small beside the gateway's.

import { randomBytes } from 'node:crypto';
import { z } from 'zod';

export interface HostileRequest {
  method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** Below /api/v1, or a whole URL. */
  path: string;
  /** Whether it carries the tenant's key. */
  hasKey: boolean;
  body?: Buffer;
  contentType?: string;
}

/** What the tenant has prepared. */
export interface Tenant {
  workflowId: string;
  workflowUuid: string;
}

/** Sends one request; the body of the reply. Throws without a reply of 2xx. */
export type Send = (request: HostileRequest) => Promise<string>;

export type Attack = (send: Send) => Promise<unknown>;

/** As many as a contact file may have. */
export const CONTACTS = 200_000;
export const UPLOAD_BYTES = 10 * 1_024 * 1_024;
const LOG_IN_BYTES = 15_000;
const DEFINITION_NODES = 900;
const CONTEXT_KEYS = 1_900;
/** More than a body may have. */
const KEYS = 170_000;

/** Requests of each kind in 50. The heavy kinds are as rare as a client's bandwidth makes them. */
const SHARES: Readonly<Record<string, number>> = {
  anonymousLogIn: 8,
  anonymousBody: 6,
  anonymousPath: 6,
  definition: 6,
  definitionRefused: 2,
  validation: 6,
  context: 7,
  report: 5,
  runPages: 2,
  contacts: 1,
  upload: 1,
};

export function contactRows(): Buffer {
  const rows = ['phone_number,first_name,last_name'];
  for (let row = 0; row < CONTACTS; row++) rows.push(`+1415${2_000_000 + row},A${row},B${row}`);
  return Buffer.from(`${rows.join('\n')}\n`);
}

/** Fifty attacks in the order in which they begin, again and again; kinds are spread evenly. */
export function attacks(tenant: Tenant): Attack[] {
  const kinds: Record<string, Attack> = { ...requestsOf(tenant), ...uploadsOf(tenant) };
  const slots = Object.entries(SHARES).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_each, index) => ({ kind, at: (index + 0.5) / count })),
  );
  slots.sort((a, b) => a.at - b.at);
  return slots.map(({ kind }) => kinds[kind] as Attack);
}

function requestsOf({ workflowId, workflowUuid }: Tenant): Record<string, Attack> {
  const manyKeys = Object.fromEntries(Array.from({ length: KEYS }, (_each, key) => [`k${key}`, 0]));
  const context = Object.fromEntries(
    Array.from({ length: CONTEXT_KEYS }, (_each, key) => [`key_${key}`, `value ${key}`]),
  );
  const password = 'x'.repeat(LOG_IN_BYTES);
  const call = { phone_number: '+14155550100', initial_context: context };
  const workflow = `/workflow/${workflowId}`;
  const path = `/${'a/'.repeat(500)}?${'q=1&'.repeat(1_000)}`;
  return {
    anonymousLogIn: sending(
      'POST',
      '/auth/login',
      { email: 'nobody@example.com', password },
      false,
    ),
    anonymousBody: sending('POST', '/workflow/create/definition', manyKeys, false),
    anonymousPath: sending('GET', path, undefined, false),
    definition: sending('PUT', workflow, {
      name: 'hostile',
      workflow_definition: largeDefinition(),
    }),
    definitionRefused: sending('PUT', workflow, manyKeys),
    validation: sending('POST', `${workflow}/validate`),
    context: sending('POST', `/public/agent/test/workflow/${workflowUuid}`, call),
    report: sending('GET', '/organizations/usage/runs/report'),
    runPages: sending('GET', '/organizations/usage/runs?limit=100'),
  };
}

function sending(
  method: HostileRequest['method'],
  path: string,
  body?: unknown,
  hasKey = true,
): Attack {
  const request = { method, path, hasKey, ...(body === undefined ? {} : jsonBody(body)) };
  return (send) => send(request);
}

/** A link each time, as a link takes one file. */
function uploadsOf({ workflowId }: Tenant): Record<string, Attack> {
  const rows = contactRows();
  const noise = randomBytes(UPLOAD_BYTES);
  const put = (path: string, body: Buffer, contentType: string): HostileRequest => ({
    method: 'PUT',
    path,
    hasKey: false,
    body,
    contentType,
  });
  const post = (path: string, body: unknown): HostileRequest => ({
    method: 'POST',
    path,
    hasKey: true,
    ...jsonBody(body),
  });
  return {
    contacts: async (send) => {
      const file = { file_name: 'contacts.csv', file_size: rows.length, content_type: 'text/csv' };
      const link = contactsLink.parse(
        JSON.parse(await send(post('/s3/presigned-upload-url', file))),
      );
      await send(put(link.upload_url, rows, 'text/csv'));
      const source = { source_type: 'csv', source_id: link.file_key };
      await send(post('/campaign/create', { name: 'hostile', workflow_id: workflowId, ...source }));
    },
    upload: async (send) => {
      const file = { filename: 'noise.wav', mime_type: 'audio/wav', file_size: UPLOAD_BYTES };
      const wanted = { workflow_id: workflowId, ...file };
      const reply = await send(post('/workflow/ambient-noise/upload-url', wanted));
      const { upload_url: url } = noiseLink.parse(JSON.parse(reply));
      await send(put(url, noise, 'audio/wav'));
    },
  };
}

const contactsLink = z.object({ upload_url: z.string(), file_key: z.string() });
const noiseLink = z.object({ upload_url: z.string() });

function jsonBody(value: unknown): Pick<HostileRequest, 'body' | 'contentType'> {
  return { body: Buffer.from(JSON.stringify(value)), contentType: 'application/json' };
}

function largeDefinition(): unknown {
  const position = { x: 0, y: 0 };
  const prompt = 'Ask what the caller wants, and repeat it. '.repeat(10);
  const ids = Array.from({ length: DEFINITION_NODES }, (_each, index) => String(index));
  const last = DEFINITION_NODES - 1;
  const typeOf = (index: number) =>
    index === 0 ? 'startCall' : index === last ? 'endCall' : 'agentNode';
  return {
    nodes: ids.map((id, index) => ({
      id,
      type: typeOf(index),
      position,
      data: { name: `Step ${id}`, prompt },
    })),
    edges: ids.slice(1).map((target, index) => ({
      id: `${index}-${target}`,
      source: String(index),
      target,
      data: { label: `to ${target}`, condition: 'The caller agrees.' },
    })),
  };
}
