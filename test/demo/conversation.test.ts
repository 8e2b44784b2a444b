import { describe, expect, it } from 'vitest';
import type { RunItem } from './api-client.ts';
import { Conversation, formatLine } from './conversation.ts';

const at = (seconds: number) => new Date(1_800_000_000_000 + seconds * 1_000).toISOString();

function item(type: string, seconds: number, payload: Record<string, unknown>): RunItem {
  return { type, timestamp: at(seconds), node_name: 'Day', payload };
}

const items: RunItem[] = [
  item('rtf-node-transition', 0, { node_name: 'Day' }),
  item('rtf-user-transcription', 4, { text: 'thursday', timestamp: at(3), source: 'speech' }),
  item('rtf-latency-measured', 4.5, { latency_seconds: 0.456 }),
  item('rtf-bot-text', 6, { text: 'In the morning?', timestamp: at(4.5), interrupted: true }),
  item('rtf-interruption', 6, { silence_seconds: 0.2 }),
];

describe('the conversation on the terminal', () => {
  it('shows time, node, who, what and how long the answer took', () => {
    expect(new Conversation().take(items).map(formatLine)).toEqual([
      '   3.0 s  Day                 caller  thursday',
      '   4.5 s  Day                 agent   In the morning? -- interrupted  (after 0.46 s)',
      '   6.0 s  Day                         interruption: the agent fell silent in 0.20 s',
    ]);
  });

  it('shows each item once, however often the list is fetched', () => {
    const conversation = new Conversation();
    expect(conversation.take(items.slice(0, 2))).toHaveLength(1);
    expect(conversation.take(items.slice(0, 2))).toHaveLength(0);
    expect(conversation.take(items).map(({ who }) => who)).toEqual(['agent', '']);
  });
});
