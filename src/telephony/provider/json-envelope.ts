// Parses a JSON message of a provider's media socket by its schema. Events that a later version of the protocol adds
// are ignored; any other mismatch is malformed.

import { z } from 'zod';
import { parseJson } from '../../std/json.ts';

const anyEvent = z.object({ event: z.string() });

/** The message; undefined for an event that is not one of `events`. */
export function readEnvelope<T>(
  message: string,
  schema: z.ZodType<T>,
  events: ReadonlySet<string>,
): z.ZodSafeParseResult<T> | undefined {
  const json = parseJson(message);
  const known = schema.safeParse(json);
  if (known.success) return known;
  const event = anyEvent.safeParse(json);
  return event.success && !events.has(event.data.event) ? undefined : known;
}
