// A tool with which the model has the caller enter digits by keys, within limits, and with a check of what they are. Not
// in the reference. Source: contract §8.7, §10.1.

import { z } from 'zod';
import { ANY_DIGIT, DIGIT_CHECKS } from './digit-check.ts';
import { soleFunction } from './function-name.ts';
import { messageFields, messageOrNull, orElse, toolMessageOf } from './tool-fields.ts';
import { defineTool } from './tool-type.ts';

/** Longest entry, as that of the key collector (pipeline/receive). */
const DIGITS_MAX = 32;
const PATTERNS_MAX = 20;
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,59}$/;
const PATTERN = new RegExp(`^[0-9${ANY_DIGIT}]{1,${DIGITS_MAX}}$`);

const count = z.int().min(1).max(DIGITS_MAX);

const config = z
  .object({
    ...messageFields,
    retryMessage: messageOrNull.describe(
      'Text that is spoken when the entry is missing or wrong, at most 2,000 characters, with template variables. Null: a line of the gateway.',
    ),
    min_digits: orElse(count, 1).describe('Fewest digits, 1 to 32. Default: 1.'),
    max_digits: orElse(count, 16).describe(
      'Most digits, 1 to 32: the entry is complete with that many. Default: 16.',
    ),
    terminator: orElse(z.enum(['#', '*', 'none']), '#').describe(
      'Key that completes an entry of fewer digits, or `none`. Default: `#`.',
    ),
    first_digit_timeout: orElse(z.int().min(1).max(60), 10).describe(
      'Seconds from the end of the message to the first key, 1 to 60. Default: 10.',
    ),
    inter_digit_timeout: orElse(z.int().min(1).max(20), 3).describe(
      'Seconds between two keys after which an entry is complete, 1 to 20. Default: 3.',
    ),
    tries: orElse(z.int().min(1).max(5), 3).describe(
      'Entries that the caller has, 1 to 5. Default: 3.',
    ),
    check: orElse(z.enum(DIGIT_CHECKS), 'none').describe(
      'What the digits must be: `luhn`, a number with a check digit; `payment_card`, the same with 12 to 19 digits; `expiry_month`, MMYY, not in the past; `none`. Default: `none`.',
    ),
    patterns: orElse(
      z
        .array(
          z
            .string()
            .regex(PATTERN)
            .describe(`Digits, and \`${ANY_DIGIT}\` for any digit, such as \`20xx\`.`),
        )
        .max(PATTERNS_MAX),
      [],
    ).describe('Forms of which the digits must have one, at most 20. Default: every form.'),
    hidden: orElse(z.boolean(), false).describe(
      "Whether the digits are kept from the model, the transcript, the log and the recording; tools use them as `{{hidden_digits.NAME}}` with `variable`'s name. Default: false.",
    ),
    variable: z
      .string()
      .regex(VARIABLE)
      .nullable()
      .default(null)
      .describe(
        'Name under which the digits are stored: with `hidden` until the end of the call, else as a gathered value. Null: only the model gets them.',
      ),
  })
  // Values out of their bounds have faults of their own.
  .refine(({ min_digits: min, max_digits: max }) => min <= max || min > DIGITS_MAX || max < 1, {
    path: ['min_digits'],
    error: 'must not be more than max_digits',
  })
  .refine(({ hidden, variable }) => !hidden || variable !== null, {
    path: ['variable'],
    error: 'hidden digits need a name under which tools use them',
  });

export const collectDigitsTool = defineTool({
  type: 'collect_digits',
  config,
  open: (settings, tool) => ({
    functions: soleFunction(tool, []),
    leavesConversation: true,
    message: toolMessageOf(settings),
    call: () => ({
      what: 'digits',
      collection: {
        rules: {
          min: settings.min_digits,
          max: settings.max_digits,
          check: settings.check,
          patterns: settings.patterns,
        },
        terminator: settings.terminator === 'none' ? null : settings.terminator,
        firstDigitMs: settings.first_digit_timeout * 1_000,
        pauseMs: settings.inter_digit_timeout * 1_000,
        tries: settings.tries,
        isHidden: settings.hidden,
        variable: settings.variable,
        retryMessage: settings.retryMessage ?? '',
      },
    }),
  }),
});
