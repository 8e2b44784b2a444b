// The services without a key: used where nothing is configured, and as the last fallback.

export const EMBEDDED = { stt: 'pocketsphinx', tts: 'flite' } as const;
