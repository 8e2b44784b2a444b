// Dialogue history: the conversation as the model sees it, with the caller's words, and the agent's words that the
// caller heard. It is kept across nodes; the prompts change.

import type { LlmMessage } from '../../model/llm-message.ts';
import type { DialogueState, HistoryEntry } from './state.ts';

/** Entries, more than a call of twenty minutes has; older ones are dropped. */
const ENTRIES_MAX = 400;
/** Characters of all opaque parts of services together. Services read those of the last turns; a chat is stored with
 *  each turn. */
export const VENDOR_CHARACTERS_MAX = 64_000;
/** Characters of an entry, more than any turn of speech or chat has; the rest is cut. */
const TEXT_CHARACTERS_MAX = 8_000;

const CONNECTED = '(The call is connected.)';
const INTERRUPTED = '(The caller interrupted you there and heard nothing after it.)';

type AssistantEntry = Extract<HistoryEntry, { role: 'assistant' }>;

export function addEntry(state: DialogueState, entry: HistoryEntry): void {
  state.history.push(entry);
  if (state.history.length <= ENTRIES_MAX) return;
  // A history begins with the caller: most models refuse a result without its call.
  const cut = state.history.findIndex(({ role }, index) => index > 0 && role === 'user');
  state.history.splice(0, cut < 0 ? 1 : cut);
}

export function addCallerText(state: DialogueState, text: string): void {
  addEntry(state, { role: 'user', text: text.slice(0, TEXT_CHARACTERS_MAX) });
}

/** The entry of an utterance; undefined if it was dropped. */
export function entryOf(state: DialogueState, utteranceId: number): AssistantEntry | undefined {
  return state.history.findLast(
    (entry): entry is AssistantEntry =>
      entry.role === 'assistant' && entry.utteranceId === utteranceId,
  );
}

/** Replaces the generated text by the words that the caller heard. */
export function setHeard(
  state: DialogueState,
  heard: { utteranceId: number; heardText: string; interrupted: boolean },
): void {
  const entry = entryOf(state, heard.utteranceId);
  if (entry === undefined || entry.heard) return;
  entry.text = heard.heardText.slice(0, TEXT_CHARACTERS_MAX);
  entry.heard = true;
  entry.interrupted = heard.interrupted;
}

/** Drops the oldest opaque parts of services beyond the limit; a part is kept or dropped whole. */
export function limitVendorParts(state: DialogueState): void {
  let characters = 0;
  for (let at = state.history.length - 1; at >= 0; at -= 1) {
    const entry = state.history[at];
    if (entry?.role !== 'assistant') continue;
    for (const holder of [entry, ...entry.toolCalls]) {
      if (holder.vendor === undefined) continue;
      characters += JSON.stringify(holder.vendor).length;
      if (characters > VENDOR_CHARACTERS_MAX) delete holder.vendor;
    }
  }
}

/** The agent's last spoken words; empty if there are none. */
export function lastSpoken(state: DialogueState): string {
  const entry = state.history.findLast(({ role }) => role === 'assistant');
  return entry?.role === 'assistant' ? (entry.text ?? '') : '';
}

/** The history as messages, with `instruction` as a last message that is not stored. Consecutive messages of one
 *  side are joined, and the caller's side comes first: many models require it. */
export function messagesOf(state: DialogueState, instruction?: string): LlmMessage[] {
  const messages: LlmMessage[] = [];
  let interrupted = false;
  for (const entry of state.history) {
    if (entry.role === 'user') {
      addUser(messages, interrupted ? `${INTERRUPTED} ${entry.text}` : entry.text);
      interrupted = false;
    } else if (entry.role === 'tool') {
      messages.push({ role: 'tool', callId: entry.callId, content: entry.content });
    } else {
      addAssistant(messages, entry);
      interrupted ||= entry.interrupted && isText(entry.text);
    }
  }
  if (messages[0]?.role !== 'user') messages.unshift({ role: 'user', content: CONNECTED });
  if (instruction !== undefined) addUser(messages, instruction);
  return messages;
}

function isText(text: string | null): boolean {
  return text !== null && text.trim() !== '';
}

function addUser(messages: LlmMessage[], text: string): void {
  const last = messages.at(-1);
  if (last?.role === 'user') {
    messages[messages.length - 1] = { role: 'user', content: `${last.content}\n${text}` };
  } else {
    messages.push({ role: 'user', content: text });
  }
}

function addAssistant(messages: LlmMessage[], entry: AssistantEntry): void {
  const { toolCalls, vendor } = entry;
  const own = { toolCalls, ...(vendor && { vendor }) };
  const content = (entry.text ?? '').trim();
  if (content === '' && toolCalls.length === 0) return;
  const last = messages.at(-1);
  if (last?.role !== 'assistant') {
    messages.push({ role: 'assistant', content, ...own });
    return;
  }
  // A line was said while the model wrote its calls: their results follow them directly, or services refuse them.
  const holder = last.toolCalls.length === 0 ? own : last;
  const joined = `${last.content} ${content}`.trim();
  messages[messages.length - 1] = { ...holder, role: 'assistant', content: joined };
}

/** The latest `charactersMax` of the conversation as lines, for a model that is not part of it. */
export function transcriptOf(state: DialogueState, charactersMax: number): string {
  const lines = state.history.flatMap((entry) => {
    if (entry.role === 'user') return [`Caller: ${entry.text}`];
    if (entry.role === 'assistant' && isText(entry.text)) return [`Agent: ${entry.text}`];
    return [];
  });
  return lines.join('\n').slice(-charactersMax);
}
