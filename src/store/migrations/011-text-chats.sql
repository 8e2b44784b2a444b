-- Conversations in writing: one row beside the run of each, one row for every turn of it.

create table text_chats (
  run_id bigint primary key references runs on delete cascade,
  organization_id bigint not null references organizations on delete cascade,
  -- Counts every change. A change names the one it has seen, so that of two only one is made.
  revision integer not null,
  status text not null
    check (status in ('idle', 'pending_assistant_turn', 'rewound', 'error', 'completed')),
  -- The turn that the conversation was taken back to, until somebody speaks again.
  cursor_turn_id text,
  -- The last event of the run's log that belongs to what is settled.
  event_seq integer not null,
  -- While something is under way: the piece of work, its process, and when it is given up for lost.
  hold text,
  hold_node text,
  hold_until timestamptz,
  -- When it is looked after: ended for silence, or its end is carried out again. Null: it is over.
  due_at timestamptz,
  created_at timestamptz not null,
  updated_at timestamptz not null
);
create index text_chats_due on text_chats (organization_id, due_at);

create table text_chat_turns (
  run_id bigint not null references text_chats on delete cascade,
  number integer not null,
  id text not null,
  status text not null check (status in ('pending', 'completed', 'failed')),
  user_text text,
  assistant_text text,
  answered_at timestamptz,
  -- What clients are shown of it.
  events json not null,
  usage json not null,
  -- Where the conversation stood after it; null while it is pending.
  state json,
  -- The last event of the log when it was over; null while it is pending.
  event_seq integer,
  -- Set once the conversation was taken back to a turn before it.
  rewound_from text,
  discarded_at timestamptz,
  created_at timestamptz not null,
  primary key (run_id, number)
);
