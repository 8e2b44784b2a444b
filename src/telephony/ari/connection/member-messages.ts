// Messages between the holder of a connection and its members: the events of a member's calls, the question for its
// calls at each connection, and what the holder must know of them. Other processes send them, so they are checked.

import { z } from 'zod';
import { type ErrorCode, isErrorCode } from '../../../errors/gateway-error.ts';

/** Channels that a member names in one answer, as many as one application may have (reconciliation.ts). */
const CHANNELS_MAX = 5_000;

const fault = z.object({
  code: z.custom<ErrorCode>((code) => typeof code === 'string' && isErrorCode(code)),
  message: z.string(),
  isPermanent: z.boolean(),
});

/** Holder to member. */
export const toMember = z.discriminatedUnion('kind', [
  /** An event of a channel of the member's, as Asterisk sent it. */
  z.object({ kind: z.literal('event'), text: z.string() }),
  /** The connection is down. */
  z.object({ kind: z.literal('down'), fault }),
]);
export type ToMember = z.input<typeof toMember>;

/** Holder to member: the connection is open. The member compares its calls with those of Asterisk. */
export const question = z.object({
  version: z.string().nullable(),
  /** Whether the member may dial. */
  takesDials: z.boolean(),
});
export type Question = z.infer<typeof question>;

/** The answer to `question`. */
export const answer = z.object({
  /** The member's tag in the ids that it makes. */
  tag: z.string(),
  /** Its other channels: those of callers, and of telephones. */
  channels: z.array(z.string()).max(CHANNELS_MAX),
  /** Whether it has compared its calls; it cannot take new ones before. */
  isReady: z.boolean(),
});
export type Answer = z.infer<typeof answer>;

/** Member to holder. */
export const toHolder = z.discriminatedUnion('kind', [
  /** The events of another channel are the member's: a telephone behind one of its calls. */
  z.object({ kind: z.literal('channel'), id: z.string() }),
  /** A caller was refused who dialled a number that is not configured, for examinations. */
  z.object({
    kind: z.literal('unconfigured'),
    number: z.object({ dialled: z.string(), nearest: z.string().nullable() }),
  }),
  /** A request has shown that the connection is of no use. */
  z.object({ kind: z.literal('fault'), fault }),
  /** The member could not be reached, and has to be asked for its calls. */
  z.object({ kind: z.literal('missed') }),
]);
export type ToHolder = z.input<typeof toHolder>;
