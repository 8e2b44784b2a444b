// The states of a text chat.

export type TextChatStatus = 'idle' | 'pending_assistant_turn' | 'rewound' | 'error' | 'completed';
