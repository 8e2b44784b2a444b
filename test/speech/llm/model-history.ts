// What a request of every protocol must be able to carry: a question, and a conversation with tool calls as the engine
// keeps it.

import type { LlmMessage } from '../../../src/model/llm-message.ts';
import type { LlmRequest, LlmResponse } from '../../../src/speech/llm/llm.ts';

export const ask: LlmRequest = {
  messages: [
    { role: 'system', content: 'You answer the phone.' },
    { role: 'user', content: 'Hello?' },
  ],
  tools: [{ name: 'end_call', description: 'Hangs up', parameters: { type: 'object' } }],
  temperature: 0.2,
  tokensMax: 100,
  json: false,
};

/** The request after `answer`, whose tool calls have their results. */
export function afterTools(answer: Pick<LlmResponse, 'text' | 'toolCalls' | 'vendor'>): LlmRequest {
  const { text: content, toolCalls, vendor } = answer;
  // As it is stored between two requests.
  const stored: LlmMessage = JSON.parse(
    JSON.stringify({ role: 'assistant', content, toolCalls, vendor }),
  );
  const results = toolCalls.map(({ id }): LlmMessage => {
    return { role: 'tool', callId: id, content: 'It is done.' };
  });
  return { ...ask, messages: [...ask.messages, stored, ...results] };
}

/** Functions as authors name them, and a call that a model has made up. */
export function oddlyNamed(label: string): LlmRequest {
  const made = { id: 'call_1', name: 'functions.find it!', arguments: {} };
  const { messages } = afterTools({ text: '', toolCalls: [made] });
  const parameters = { type: 'object', properties: {}, required: [] };
  return { ...ask, messages, tools: [{ name: label, description: 'Goes on.', parameters }] };
}

/** Calls that another service made. */
export const foreignCalls: LlmRequest = afterTools({
  text: 'One moment.',
  toolCalls: [
    { id: 'call_1', name: 'find', arguments: { what: 'a' } },
    { id: 'functions.find:2', name: 'find', arguments: { what: 'b' } },
  ],
  vendor: { service: 'other', family: 'x', data: [{ type: 'thinking', thinking: 'no' }] },
});
