// Schemas of text chats. Source: contract §11.1; the content of `checkpoint` and of a discarded future is the reference
// platform's.

import { z } from 'zod';
import { CONTEXT_LIMITS } from '../../model/json-limits.ts';
import { freeObject, idOut, nameIn, timeOut, within } from '../http/values.ts';

/** Context of a chat: half the size of a call's, because it is in every prompt that uses it. */
const contextIn = within(freeObject, { ...CONTEXT_LIMITS, bytesMax: 32_768 });

/** Characters of a message: as much as a spoken turn of several minutes. */
export const TEXT_CHARACTERS_MAX = 4_000;
const revision = z.int().nullish().meta({
  description:
    'The `revision` that the client has seen. Refused with 409 if the session has another one by now. Null or left out: not compared.',
});

export const textChatCreate = z.object({
  name: nameIn(255)
    .nullish()
    .describe('Name of the run, of 1 to 255 characters. Default: `WR-TEXT-` and six hex digits.'),
  initial_context: contextIn
    .nullish()
    .describe(
      "Values for the agent's template variables, by name: at most 32 kB and 2,000 values. A name that is left out has its value in the agent's `template_context_variables`.",
    ),
  annotations: contextIn
    .nullish()
    .describe('Notes of your own, kept with the run: at most 32 kB and 2,000 values.'),
});

export const textChatMessage = z.object({
  text: z
    .string()
    .min(1)
    .max(TEXT_CHARACTERS_MAX)
    .describe('What the person writes, 1 to 4,000 characters.'),
  expected_revision: revision,
});

export const textChatEnd = z.object({ expected_revision: revision });

export const textChatRewind = z.object({
  cursor_turn_id: z.string().max(50).nullish().meta({
    description:
      '`id` of the last turn that is kept; later ones are discarded. Null or left out: all are kept.',
  }),
  expected_revision: revision,
});

const chatMessage = z.object({ text: z.string(), created_at: timeOut });

const textChatTurn = z.object({
  id: z.string().meta({ examples: ['turn_0123456789ab'] }),
  status: z.enum(['pending', 'completed', 'failed']),
  created_at: timeOut,
  user_message: chatMessage.nullable(),
  assistant_message: chatMessage.nullable(),
  events: z.array(freeObject),
  usage: freeObject,
});
export type TextChatTurnOut = z.infer<typeof textChatTurn>;

const sessionData = z.object({
  version: z.literal(1).describe('Version of the form.'),
  status: z.enum(['idle', 'pending_assistant_turn', 'rewound', 'error', 'completed']),
  cursor_turn_id: z.string().nullable(),
  turns: z.array(textChatTurn),
  discarded_future: z.array(
    z.object({
      rewound_from_turn_id: z.string(),
      discarded_at: timeOut,
      turns: z.array(textChatTurn),
    }),
  ),
  simulator: z.object({ enabled: z.boolean(), config: freeObject }),
});

const checkpoint = z.object({
  version: z.literal(1).describe('Version of the form.'),
  anchor_turn_id: z.string().nullable(),
  current_node_id: z.string().nullable(),
  messages: z.array(freeObject),
  gathered_context: freeObject,
  tool_state: freeObject,
});

export const textChatOut = z
  .object({
    workflow_run_id: idOut,
    workflow_id: idOut,
    name: z.string(),
    mode: z.string(),
    state: z.enum(['initialized', 'running', 'completed']),
    is_completed: z.boolean(),
    revision: z.int().describe('Counts the changes of the session.'),
    initial_context: freeObject,
    gathered_context: freeObject,
    annotations: freeObject,
    session_data: sessionData,
    checkpoint,
    created_at: timeOut,
    updated_at: timeOut,
  })
  .meta({ id: 'WorkflowRunTextSessionResponse', description: 'The text chat with all its turns.' });
export type TextChatOut = z.infer<typeof textChatOut>;
