// Descriptions of services as data: addresses, messages, and the places of results in the answers. A description has no
// code; sizes and counts are limited. Interpreted by speech/stt/described and speech/tts/described.

import { z } from 'zod';
import { SECRET_IN_DESCRIPTION, secretPlaceIn } from './description-secrets.ts';

const TEMPLATE_CHARACTERS_MAX = 8_000;
const MESSAGES_MAX = 8;
const READINGS_MAX = 12;
const NAMES_MAX = 40;
const CONDITIONS_MAX = 6;
const DEPTH_MAX = 8;

/** Headers that connections set themselves. */
const OWN_HEADER =
  /^(host|connection|upgrade|content-length|transfer-encoding|expect|te|trailer|keep-alive|proxy-.*|sec-websocket-.*)$/i;

/** Place of a value in a message: names and list positions, with dots between them; `-1` is the last of a list. */
const path = z
  .string()
  .max(200)
  .regex(/^[\w-]+(\.[\w-]+)*$/);
const scalar = z.union([z.string().max(200), z.number(), z.boolean()]);

const condition = z.strictObject({
  path,
  equals: scalar.optional(),
  in: z.array(scalar).max(NAMES_MAX).optional(),
  not: scalar.optional().describe('Present, and another value.'),
  exists: z.boolean().optional(),
});
/** Conditions that must all hold. */
const when = z.array(condition).min(1).max(CONDITIONS_MAX);

function isShallow(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return true;
  return depth < DEPTH_MAX && Object.values(value).every((each) => isShallow(each, depth + 1));
}

/** JSON in whose texts `{name}` is replaced. A text that is one name alone becomes its value, of any type, and is left
 *  out where there is none. */
const template = z
  .union([
    z.string(),
    z.number(),
    z.boolean(),
    z.array(z.unknown()),
    z.record(z.string(), z.unknown()),
  ])
  .refine((value) => isShallow(value), 'Nested too deeply.')
  .refine((value) => (JSON.stringify(value) ?? '').length <= TEMPLATE_CHARACTERS_MAX, 'Too long.');
/** An object is sent as JSON, a text as it is. */
const message = template;
const messages = z.array(message).max(MESSAGES_MAX);

const names = <Value extends z.ZodType>(value: Value) =>
  z
    .record(z.string().min(1).max(100), value)
    .refine((all) => Object.keys(all).length <= NAMES_MAX, `At most ${NAMES_MAX}.`);
const query = names(template);
/** Characters of a header's value. Source: RFC 9110 §5.5, without obs-text. */
const headerValue = z
  .string()
  .max(4_000)
  .regex(/^[\t\x20-\x7e]*$/, 'A header has printable ASCII characters only.');
const headers = names(headerValue).refine(
  (all) => Object.keys(all).every((name) => /^[\w-]+$/.test(name) && !OWN_HEADER.test(name)),
  'A header that the connection sets itself, or no header.',
);

const kind = z.enum([
  ...(['auth', 'forbidden', 'request', 'quota', 'rate', 'overload'] as const),
  ...(['network', 'timeout', 'protocol', 'session'] as const),
]);
const reportedError = z.strictObject({
  when,
  detail: path.optional(),
  code: path.optional(),
  kinds: names(kind).optional().describe('The kind of a fault by its code.'),
  kind: kind.default('protocol').describe('Kind of any other code.'),
});

const address = {
  path: z
    .string()
    .max(500)
    // Without the slash it would be a part of the host, which would receive the key.
    .regex(/^(\/[^?#\s\\]*)?$/, 'Begins with a slash, and has no parameters: they belong in query.')
    .default('')
    .describe('Behind base_url.'),
  query: query.default({}),
  headers: headers.default({}),
};
const connection = {
  ...address,
  open: messages.default([]).describe('Sent once the connection is open.'),
  ready: when.optional().describe('The message before which nothing else may be sent.'),
  keepalive: z.strictObject({ after_ms: z.int().min(1_000).max(120_000), message }).optional(),
  errors: z.array(reportedError).max(READINGS_MAX).default([]),
  closes: names(kind).default({}).describe('The kind of a fault by the close code.'),
  close: message.optional().describe('The last message.'),
};

const wordList = z.strictObject({
  list: path,
  when: when.optional().describe('Conditions of an item that is a word.'),
  word: path,
  start: path,
  end: path.optional(),
  length: path.optional().describe('In place of end.'),
  unit: z.enum(['s', 'ms', '100ns']).default('s'),
});
const reading = z.strictObject({
  when,
  is: z.enum(['partial', 'final']),
  text: path,
  confidence: path.optional(),
  language: path.optional(),
  words: wordList.optional(),
});
const tokens = z
  .strictObject({
    list: path,
    text: path,
    is_final: path,
    start_ms: path,
    end_ms: path,
    confidence: path.optional(),
    language: path.optional(),
    answer: z.string().max(50).optional().describe('The token that answers finalize.'),
    hidden: z.array(z.string().max(50)).max(10).default([]),
  })
  .describe('Results as pieces of words, each with its leading space.');

/** Refuses credentials that are written out. `templates`: all sent parts. */
function refuseSecrets(
  templates: Readonly<Record<string, unknown>>,
  context: z.RefinementCtx,
): void {
  const place = secretPlaceIn(templates);
  if (place === undefined) return;
  context.addIssue({ code: 'custom', path: place, message: SECRET_IN_DESCRIPTION });
}

const session = z
  .strictObject({
    body: template,
    url: path.describe("Where the websocket's address is in the JSON of the answer."),
  })
  .describe(
    'A POST to the address before the connection, with query and headers; the answer names the address of the ' +
      'websocket, which gets neither.',
  );

export const recognizerDescription = z
  .strictObject({
    ...connection,
    session: session.optional(),
    audio: z.strictObject({
      format: z.enum(['ulaw8', 's16@8000', 's16@16000', 's16@24000']),
      packet_ms: z.int().min(20).max(200).default(60),
      channels: z
        .union([z.literal(1), z.literal(2)])
        .default(1)
        .describe('2: PCM with a silent second channel.'),
      message: template.optional().describe('With {audio} in base64. Default: binary messages.'),
    }),
    terms: z
      .strictObject({
        count_max: z.int().min(1).max(100).default(100),
        characters_max: z.int().min(1).max(100).default(100).describe('Limit of each term.'),
      })
      .optional()
      .describe('What {terms} may have, where the service refuses more. Other terms are left out.'),
    results: z.array(reading).max(READINGS_MAX).default([]),
    tokens: tokens.optional(),
    is_delta: z.boolean().default(false).describe('Texts of finals have their own spaces.'),
    finalize: z
      .strictObject({
        message,
        after_ms: z.int().min(0).max(500).default(0).describe('After the last audio.'),
        answer: when.optional(),
      })
      .optional()
      .describe('Default: the service ends an utterance by its silence.'),
    final_ms_p99: z.int().min(100).max(2_500).default(1_000),
    closed: when
      .optional()
      .describe('The message that answers close. Default: the service closes the connection.'),
    counted: z
      .strictObject({ when: when.optional(), path, unit: z.enum(['s', 'ms']).default('s') })
      .optional()
      .describe('Where the messages after close have what the service bills.'),
    session_ms_max: z.int().min(60_000).max(86_400_000).optional(),
    billing: z.enum(['audio', 'session']).default('audio'),
  })
  .superRefine((recognizer, context) => {
    const { path, query, headers, session, open, keepalive, close, audio, finalize } = recognizer;
    const sent = { session, open, keepalive, close, audio, finalize };
    refuseSecrets({ path, query, headers, ...sent }, context);
    if (audio.channels === 2 && audio.format === 'ulaw8') {
      const message = 'two channels are of PCM alone: a format of s16';
      context.addIssue({ code: 'custom', path: ['audio', 'channels'], message });
    }
  })
  .describe('A recogniser behind a websocket.');
export type RecognizerDescription = z.output<typeof recognizerDescription>;

const speechFormat = z.union([
  z.literal('ulaw8'),
  ...([8_000, 16_000, 22_050, 24_000, 44_100, 48_000] as const).map((rate) =>
    z.literal(`s16@${rate}` as const),
  ),
]);
const encoding = z.enum(['base64', 'hex']);

export const voiceDescription = z
  .strictObject({
    ...connection,
    format: speechFormat,
    begin: messages.default([]).describe('Before the first text of an utterance.'),
    text: message.describe('With {text}: a clause or sentence.'),
    flush: message.optional().describe('After each text.'),
    end: messages.default([]),
    after: messages.default([]).describe('When all audio has come.'),
    done: z.strictObject({ when, per: z.enum(['utterance', 'text']) }),
    cancel: messages.default([]),
    cancelled: when.optional().describe('What confirms a cancel: audio before it is dropped.'),
    context: path.optional().describe('Where messages have {context}. Binary audio has none.'),
    audio: z
      .strictObject({ when: when.optional(), path, encoding: encoding.default('base64') })
      .optional()
      .describe('Default: binary messages.'),
    words: z
      .strictObject({
        when: when.optional(),
        list: path
          .optional()
          .describe('Place of a list of objects. Default: one word, or three lists.'),
        word: path,
        start: path,
        end: path.optional(),
        length: path.optional().describe('In place of end.'),
        unit: z.enum(['s', 'ms']).default('s'),
        from: z.enum(['utterance', 'text']).default('utterance'),
      })
      .optional(),
    idle_ms_max: z.int().min(5_000).max(3_600_000).default(50_000),
    age_ms_max: z.int().min(60_000).max(86_400_000).default(3_000_000),
  })
  .superRefine((voice, context) => {
    const { path, query, headers, open, keepalive, close } = voice;
    const { begin, text, flush, end, after, cancel } = voice;
    const sent = { begin, text, flush, end, after, cancel };
    refuseSecrets({ path, query, headers, open, keepalive, close, ...sent }, context);
  })
  .describe('A voice behind a websocket.');
export type VoiceDescription = z.output<typeof voiceDescription>;

export const requestVoiceDescription = z
  .strictObject({
    ...address,
    body: template.describe('With {text}.'),
    audio: z.strictObject({
      in: z.enum(['body', 'json', 'events']).describe('events: JSON behind `data:`.'),
      format: speechFormat.describe('Format of samples without a WAV header.'),
      path: path.optional().describe('Place of the audio in json and events.'),
      encoding: encoding.default('base64'),
      skip: when.optional(),
    }),
    characters: path
      .optional()
      .describe('Where the service says how many characters it bills, in json and events.'),
    errors: z.array(reportedError).max(READINGS_MAX).default([]),
  })
  .superRefine(({ path, query, headers, body, audio }, context) => {
    refuseSecrets({ path, query, headers, body }, context);
    if (audio.in === 'body' || audio.path !== undefined) return;
    const message = `where the audio is in the ${audio.in === 'json' ? 'answer' : 'events'}`;
    context.addIssue({ code: 'custom', path: ['audio', 'path'], message });
  })
  .describe('A voice whose sentences are HTTP requests.');
export type RequestVoiceDescription = z.output<typeof requestVoiceDescription>;

export type Condition = z.output<typeof condition>;
export type MessageTemplate = z.output<typeof message>;
export type ReportedError = z.output<typeof reportedError>;
/** Values of the names in a description. */
export type DescriptionValues = Readonly<Record<string, unknown>>;
