// Why a call ended, as the API returns it and the command `patchbay why` reads it. Extension of the contract. What the
// verdicts are: call/why/verdicts.ts.

import { z } from 'zod';

/** Parties of a call. `caller`: the person on the telephone, or their number, also where the gateway has called them.
 *  `carrier`: the telephony provider and the networks behind it. `pbx`: an Asterisk and its trunks. `service`: a language
 *  model, recogniser, voice, or a server of the organization that the agent asks. `agent`: the graph and its settings.
 *  `gateway`: this program and its machine. `nobody`: the call ended as it should. `unknown`: the events do not say. */
export const party = z.enum([
  'caller',
  'carrier',
  'pbx',
  'service',
  'agent',
  'gateway',
  'nobody',
  'unknown',
]);
export type Party = z.infer<typeof party>;

const place = z.object({
  node_id: z.string().nullable().meta({ description: 'Id of the node of the graph.' }),
  node_name: z.string().nullable(),
  at_ms: z.number().nullable().meta({
    description: 'Milliseconds of media since the media of the call began; 0 before.',
  }),
  turn: z.number().nullable().meta({ description: "The caller's turns before it." }),
  service: z
    .object({
      job: z.enum(['llm', 'tts', 'stt']),
      name: z.string(),
      model: z.string().nullable(),
    })
    .nullable(),
  tool: z.string().nullable().meta({ description: 'Name of the function that the model called.' }),
  provider: z.string().nullable().meta({
    description: 'The telephony provider, for what happened on its side: `twilio`, `ari`.',
  }),
});

const explained = z.object({
  verdict: z.string().meta({
    description:
      'Stable code of the finding, such as `callee_busy`; `unclear` if the events do not say.',
  }),
  party: party.meta({
    description:
      'Who caused it. `caller` is the person on the telephone, also one who was called; `nobody`: the call ended as it should; `unknown`: the events do not say.',
  }),
  summary: z.string().meta({ description: 'One sentence.' }),
  where: place,
  evidence: z
    .array(
      z.object({
        id: z.number().meta({ description: "Number of the event in the run's log." }),
        at_ms: z.number().meta({ description: 'Milliseconds of media, as in `where`.' }),
        type: z.string(),
        text: z.string(),
      }),
    )
    .meta({ description: 'The events that prove it, at most six, in their order.' }),
  advice: z.array(z.string()).meta({ description: 'What to do, in sentences; may be empty.' }),
});
export type ExplainedOut = z.infer<typeof explained>;

export const callExplanation = explained.extend({
  also: z.array(explained).meta({
    description: 'Further findings, at most five, the most important first.',
  }),
  is_final: z.boolean().meta({ description: 'False while the call goes on.' }),
  events: z.object({
    read: z.number().meta({
      description: 'Events that were read: at most the first 500 and the last 4,500.',
    }),
    total: z.number().meta({ description: 'Events that the log of the run has.' }),
  }),
});
export type CallExplanation = z.infer<typeof callExplanation>;
