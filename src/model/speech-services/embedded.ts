// The services that need no key: used where nothing is configured, and behind all others.

export const EMBEDDED = { stt: 'pocketsphinx', tts: 'flite' } as const;
