// Questions to the dialplan of an Asterisk: in which contexts calls begin, and which of them has an extension. Asked by
// dialplan functions over a channel of ours. Source: func_dialplan and func_pjsip_endpoint.

import { z } from 'zod';
import type { AriClient } from '../rest/client.ts';
import type { TestApplication } from './test-application.ts';

/** Endpoints whose contexts are read. PBXs have hundreds of endpoints in a handful of contexts. */
const ENDPOINTS_MAX = 40;
const CONTEXTS_MAX = 10;

/** The context of the printed configuration files (telephony/registry/asterisk-files.ts), and the labels of their lines: a dialplan
 *  function knows labels, not what a line does. */
export const PRINTED_CONTEXT = 'patchbay-in';
export const PRINTED_LABELS = { jitter: 'jitter', stasis: 'stasis', away: 'away' } as const;

const endpoints = z.array(z.looseObject({ technology: z.string(), resource: z.string() }));

const variable = z.looseObject({ value: z.string() });

/** The result of a dialplan function; undefined if it cannot be asked. */
export type Ask = (expression: string) => Promise<string | undefined>;

/** Place of a number in the dialplan. */
export interface DialplanPlace {
  context: string;
  /** The number as that context has it. */
  extension: string;
}

/** Address without a receiver: UDP port 9 is the discard port. */
const NOWHERE = '127.0.0.1:9';
/** Context that is used to find out whether the dialplan function exists. */
const ANY_CONTEXT = 'default';

export interface DialplanQuestions {
  ask: (signal: AbortSignal) => Ask;
  /** Creates the channel. Whether the dialplan can be asked. Throws what `AriClient` throws. */
  open(signal: AbortSignal): Promise<boolean>;
  close(): void;
}

/** Evaluates dialplan functions over a channel of ours that is never dialled and ends with the test application. */
export function openQuestions({ peer, channelId: make }: TestApplication): DialplanQuestions {
  const { client, account } = peer;
  const channelId = make();
  // The connection ends a channel for which no request waits.
  const unwatch = peer.watch(channelId, () => undefined);
  const ask = askOver(client, channelId);
  return {
    ask,
    async open(signal) {
      const media = { format: 'ulaw', external_host: NOWHERE };
      const query = { app: account.app, channelId, ...media };
      const path = 'channels/externalMedia';
      await client.run({ action: 'look', method: 'POST', path, query }, signal);
      return (await ask(signal)(`DIALPLAN_EXISTS(${ANY_CONTEXT})`)) !== undefined;
    },
    close: unwatch,
  };
}

function askOver(client: AriClient, channelId: string): (signal: AbortSignal) => Ask {
  const path = `channels/${channelId}/variable`;
  return (signal) => async (expression) => {
    const query = { variable: expression };
    const answer = await client.send({ action: 'look', method: 'GET', path, query }, signal);
    return answer.status === 200 ? variable.safeParse(answer.body).data?.value : undefined;
  };
}

/** Contexts in which calls of PJSIP endpoints begin; that of `first` comes first. */
export async function contextsOf(
  client: AriClient,
  ask: Ask,
  { signal, first }: { signal: AbortSignal; first?: string | undefined },
): Promise<Set<string>> {
  const request = { action: 'look', method: 'GET', path: 'endpoints/PJSIP' } as const;
  const listed = await client.send(request, signal);
  const known = endpoints.safeParse(listed.body).data ?? [];
  const names = known.slice(0, ENDPOINTS_MAX).map(({ resource }) => resource);
  const contexts = new Set<string>();
  for (const name of new Set([...(first === undefined ? [] : [first]), ...names])) {
    if (contexts.size >= CONTEXTS_MAX) break;
    const context = isPlain(name) ? await ask(`PJSIP_ENDPOINT(${name},context)`) : undefined;
    if (context !== undefined && isPlain(context)) contexts.add(context);
  }
  return contexts;
}

/** The first context with the number, with or without a plus. */
export async function placeOf(
  number: string,
  contexts: Iterable<string>,
  ask: Ask,
): Promise<DialplanPlace | undefined> {
  const digits = number.replace(/^\+/, '');
  for (const context of contexts) {
    for (const extension of new Set([number, digits, `+${digits}`])) {
      if ((await ask(`DIALPLAN_EXISTS(${context},${extension},1)`)) === '1') {
        return { context, extension };
      }
    }
  }
  return undefined;
}

/** Whether the extension has a line with the label. */
export async function hasLabel(
  { context, extension }: DialplanPlace,
  label: string,
  ask: Ask,
): Promise<boolean> {
  return (await ask(`DIALPLAN_EXISTS(${context},${extension},${label})`)) === '1';
}

/** Whether the word has no character that could end the surrounding function. */
export function isPlain(word: string): boolean {
  return /^[\w+*#.-]{1,80}$/.test(word);
}
