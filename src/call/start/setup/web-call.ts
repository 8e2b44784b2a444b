// A call that a browser opens: what its client asks for and gets, and what the run keeps of it.

import { z } from 'zod';
import type { Run } from '../../../model/run.ts';
import type { StartCall, StartedCall } from './call-start.ts';

/** Life of the token with which a page opens the media socket. */
export const WEB_TOKEN_MS = 30_000;

/** The live items of the run that the page gets: none, the words of both sides, or all that event streams have. */
export const WEB_CALL_ITEMS = ['none', 'transcript', 'all'] as const;

export interface WebCall
  extends Pick<StartCall, 'organizationId' | 'apiKeyId' | 'apiKeyCreatedBy' | 'initialContext'> {
  workflowId: string;
  /** Whether the call uses the draft, if there is one, and the template variables. */
  isDraft: boolean;
  items: (typeof WEB_CALL_ITEMS)[number];
  /** The only origin whose pages may open the call's sockets; null: any that the gateway accepts. */
  origin: string | null;
}

export interface StartedWebCall extends StartedCall {
  /** For the page: of the media socket. */
  token: string;
}

const facts = z.object({ items: z.enum(WEB_CALL_ITEMS), origin: z.string().optional() });
export type WebCallFacts = z.infer<typeof facts>;

/** Log entry of a run of a call from a browser. */
export function webCallLogs({ items, origin }: Pick<WebCall, 'items' | 'origin'>): {
  web_call: WebCallFacts;
} {
  return { web_call: origin === null ? { items } : { items, origin } };
}

/** What the run says of its call from a browser. */
export function webCallFacts({ logs }: Pick<Run, 'logs'>): WebCallFacts {
  return facts.safeParse(logs['web_call']).data ?? { items: 'none' };
}
