// Types of the tables of text chats (migrations/011-text-chats.sql); the other tables are in tables.ts.

import type { ColumnType, Generated } from 'kysely';
import type { TextChatStatus } from '../../model/text-chat-status.ts';

type Fields = Record<string, unknown>;

export interface TextChatTable {
  run_id: string;
  organization_id: string;
  revision: number;
  status: TextChatStatus;
  cursor_turn_id: Generated<string | null>;
  event_seq: number;
  hold: string | null;
  hold_node: string | null;
  hold_until: Date | null;
  due_at: Date | null;
  created_at: Date;
  updated_at: Date;
}

export interface TextChatTurnTable {
  run_id: string;
  number: number;
  id: string;
  status: 'pending' | 'completed' | 'failed';
  user_text: string | null;
  assistant_text: Generated<string | null>;
  answered_at: Generated<Date | null>;
  events: ColumnType<Fields[], string, string>;
  usage: ColumnType<Fields, string, string>;
  state: ColumnType<Fields | null, string | undefined, string>;
  event_seq: Generated<number | null>;
  rewound_from: Generated<string | null>;
  discarded_at: Generated<Date | null>;
  created_at: Date;
}
