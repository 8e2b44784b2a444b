// What becomes of an inbound call when all places are taken: busy, a line in which callers wait, or another number.

import { z } from 'zod';

const WORDS_MAX = 500;
const AUDIO_MAX = 500;

const audio = z
  .string()
  .trim()
  .min(1)
  .max(AUDIO_MAX)
  .regex(/^(https?:\/\/[^\s<>"]+|sound:[\w./-]+|[\w.-]+)$/, 'neither a URL nor a name');

export const overflowPolicy = z
  .strictObject({
    mode: z
      .enum(['busy', 'wait', 'fallback'])
      .describe(
        'What happens to an inbound call when all places are taken. `busy`: it is refused. `wait`: the caller waits in a line until a place is free. `fallback`: it goes to `fallback_number`.',
      ),
    announcement: z
      .string()
      .trim()
      .min(1)
      .max(WORDS_MAX)
      .default('All lines are busy at the moment. Please hold the line.')
      .describe('Words for a waiting caller, spoken by the provider. Not used on Asterisk.'),
    announcement_audio: audio
      .nullable()
      .default(null)
      .describe(
        'URL of an audio file in place of the words. On Asterisk a sound such as `sound:queue-periodic-announce`, which is its default, or a URL.',
      ),
    announce_every_seconds: z
      .int()
      .min(10)
      .max(600)
      .default(30)
      .describe('Seconds from one announcement to the next, 10 to 600.'),
    waiting_audio: audio
      .nullable()
      .default(null)
      .describe(
        "URL of an audio file that plays between the announcements, of 20 seconds at most: a free place waits for its end. Null: the gateway's own tone. On Asterisk the name of a class of music on hold; null: `default`.",
      ),
    wait_seconds_max: z
      .int()
      .min(10)
      .max(3_600)
      .default(300)
      .describe('Seconds that a caller waits at most, 10 to 3,600.'),
    callers_max: z
      .int()
      .min(1)
      .max(500)
      .default(20)
      .describe('Callers of the organization that wait at a time at most, 1 to 500.'),
    otherwise: z
      .enum(['busy', 'fallback'])
      .default('busy')
      .describe(
        'What becomes of a caller who has waited so long, or finds the line full: the end of the call, or `fallback_number`.',
      ),
    goodbye: z
      .string()
      .trim()
      .min(1)
      .max(WORDS_MAX)
      .default('All lines are still busy. Please call again later.')
      .describe('Words at the end of a call that has waited so long.'),
    fallback_number: z
      .string()
      .trim()
      .regex(/^(\+\d{8,15}|sips?:[^\s<>"]{1,200}|[\w*#-]{1,40})$/i, 'not a number or SIP address')
      .nullable()
      .default(null)
      .describe(
        'Number with `+` and country code, or SIP address; on Asterisk also an extension of the transfer context.',
      ),
  })
  .refine(
    ({ mode, otherwise, fallback_number: number }) =>
      number !== null || (mode !== 'fallback' && otherwise !== 'fallback'),
    { path: ['fallback_number'], message: 'fallback needs a fallback_number' },
  );

export type OverflowPolicy = z.infer<typeof overflowPolicy>;

/** How the wait of a caller ended: with a place, with the caller's hang-up, after the longest time, or at the fallback
 *  number. */
export const waitOutcome = z.enum(['admitted', 'abandoned', 'timeout', 'forwarded']);
export type WaitOutcome = z.infer<typeof waitOutcome>;
