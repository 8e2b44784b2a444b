// Presets for a user's own recogniser that was built for another platform's protocol: such a server works unchanged.
// Source: the platforms' guides; names of jambonz's fields are not confirmed.

const bearer = { authorization: 'Bearer {key}' };

export const jambonz = {
  headers: bearer,
  open: [
    {
      type: 'start',
      language: '{language}',
      format: 'raw',
      encoding: 'LINEAR16',
      interimResults: true,
      sampleRateHz: 8_000,
      options: { hints: '{terms}' },
    },
  ],
  audio: { format: 's16@8000', packet_ms: 60 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcription' },
        { path: 'is_final', equals: true },
      ],
      is: 'final',
      text: 'alternatives.0.transcript',
      confidence: 'alternatives.0.confidence',
      language: 'language',
    },
    {
      when: [{ path: 'type', equals: 'transcription' }],
      is: 'partial',
      text: 'alternatives.0.transcript',
    },
  ],
  errors: [{ when: [{ path: 'type', equals: 'error' }], detail: 'error', kind: 'overload' }],
  close: { type: 'stop' },
};

/** Vapi's protocol: the customer in the first channel, the agent in the second. */
export const vapi = {
  headers: { 'x-vapi-secret': '{key}' },
  open: [{ type: 'start', encoding: 'linear16', container: 'raw', sampleRate: 8_000, channels: 2 }],
  audio: { format: 's16@8000', packet_ms: 60, channels: 2 },
  results: [
    {
      when: [
        { path: 'type', equals: 'transcriber-response' },
        { path: 'channel', equals: 'customer' },
        { path: 'transcriptType', equals: 'partial' },
      ],
      is: 'partial',
      text: 'transcription',
    },
    {
      when: [
        { path: 'type', equals: 'transcriber-response' },
        { path: 'channel', equals: 'customer' },
      ],
      is: 'final',
      text: 'transcription',
    },
  ],
};
