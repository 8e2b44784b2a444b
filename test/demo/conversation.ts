// A conversation as it happens: the run's feedback items, as clients get them, to lines for a terminal.

import { z } from 'zod';
import type { RunItem } from './api-client.ts';

export interface ConversationLine {
  /** Seconds since the call began. */
  atS: number;
  node: string;
  who: 'caller' | 'agent' | '';
  text: string;
}

const spoken = z.object({
  text: z.string(),
  timestamp: z.string(),
  interrupted: z.boolean().default(false),
  source: z.string().default(''),
});
const latency = z.object({ latency_seconds: z.number() });
const interruption = z.object({ silence_seconds: z.number() });
const fault = z.object({ error: z.string() });

/** Turns items into lines; feed it the whole list again and again, it takes what is new. */
export class Conversation {
  #taken = 0;
  #startedAt: number | undefined;
  #latencyS: number | undefined;

  take(items: readonly RunItem[]): ConversationLine[] {
    const news = items.slice(this.#taken);
    this.#taken = items.length;
    return news.flatMap((item) => this.#linesOf(item)).sort((a, b) => a.atS - b.atS);
  }

  #linesOf(item: RunItem): ConversationLine[] {
    const at = Date.parse(item.timestamp);
    this.#startedAt ??= at;
    const line = (who: ConversationLine['who'], text: string, from = at): ConversationLine => ({
      atS: Math.max(0, from - (this.#startedAt ?? from)) / 1_000,
      node: item.node_name ?? '',
      who,
      text,
    });
    switch (item.type) {
      case 'rtf-user-transcription': {
        const { text, timestamp, source } = spoken.parse(item.payload);
        const said = source === 'dtmf' ? `presses ${text}` : text;
        return [line('caller', said, Date.parse(timestamp))];
      }
      case 'rtf-latency-measured':
        this.#latencyS = latency.parse(item.payload).latency_seconds;
        return [];
      case 'rtf-bot-text': {
        const { text, timestamp, interrupted } = spoken.parse(item.payload);
        const answered =
          this.#latencyS === undefined ? '' : `  (after ${this.#latencyS.toFixed(2)} s)`;
        this.#latencyS = undefined;
        const said = `${text}${interrupted ? ' -- interrupted' : ''}${answered}`;
        return [line('agent', said, Date.parse(timestamp))];
      }
      case 'rtf-interruption': {
        const { silence_seconds } = interruption.parse(item.payload);
        return [line('', `interruption: the agent fell silent in ${silence_seconds.toFixed(2)} s`)];
      }
      case 'rtf-pipeline-error':
        return [line('', `fault: ${fault.parse(item.payload).error}`)];
      default:
        return [];
    }
  }
}

/** Names of the demo's nodes fit. */
const NODE_WIDTH = 19;

/** `  3.4 s  Day          agent   Which day suits you?` */
export function formatLine({ atS, node, who, text }: ConversationLine): string {
  return `${atS.toFixed(1).padStart(6)} s  ${node.padEnd(NODE_WIDTH)} ${who.padEnd(7)} ${text}`;
}
