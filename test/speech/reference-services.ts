// The services of the reference platform by job, with the fields that its forms send: its defaults, and values at the ends
// of its ranges. Source: its configuration API.

type Fields = Readonly<Record<string, unknown>>;

const llm: Record<string, Fields> = {
  openai: { model: 'gpt-4.1', base_url: 'https://api.openai.com/v1' },
  atlascloud: { model: 'qwen/qwen3.5-flash', base_url: 'https://api.atlascloud.ai/v1' },
  google: { model: 'gemini-3.5-flash' },
  google_vertex: { model: 'gemini-3.5-flash', project_id: 'p', location: 'global' },
  groq: { model: 'llama-3.3-70b-versatile' },
  openrouter: { model: 'openai/gpt-4.1', base_url: 'https://openrouter.ai/api/v1' },
  azure: { model: 'gpt-4.1-mini', endpoint: 'https://r.openai.azure.com' },
  dograh: { model: 'default' },
  aws_bedrock: { model: 'us.amazon.nova-pro-v1:0', aws_access_key: 'a', aws_secret_key: 'b' },
  speaches: { model: 'llama3', base_url: 'http://localhost:11434/v1', api_key: null },
  huggingface: {
    model: 'openai/gpt-oss-120b:cerebras',
    base_url: 'https://router.huggingface.co/v1',
    bill_to: null,
  },
  minimax: { model: 'MiniMax-M2.7', base_url: 'https://api.minimax.io/v1', temperature: 1 },
  sarvam: { model: 'sarvam-105b', temperature: 0.5 },
};

const tts: Record<string, Fields> = {
  deepgram: { voice: 'aura-2-helena-en' },
  elevenlabs: {
    voice: 'Rachel - 21m00Tcm4TlvDq8ikWAM',
    speed: 0.1,
    model: 'eleven_flash_v2_5',
    base_url: 'https://api.elevenlabs.io',
  },
  google: { model: 'chirp_3_hd', voice: 'en-US-Chirp3-HD-Charon', language: 'en-US', speed: 0.25 },
  openai: { model: 'gpt-4o-mini-tts', voice: 'alloy', base_url: 'https://api.openai.com/v1' },
  cartesia: {
    model: 'sonic-3.5',
    voice: '3faa81ae-d3d8-4ab1-9e44-e50e46d33c30',

    speed: 1.5,
    volume: 0.5,
    language: 'en',
  },
  inworld: {
    model: 'inworld-tts-2',
    voice: 'Ashley',
    language: 'en-US',
    speed: 4,
    delivery_mode: 'BALANCED',
  },
  sarvam: { model: 'bulbul:v3', voice: 'shubh', language: 'hi-IN', speed: 0.5 },
  camb: { model: 'mars-instruct', voice: '147320', language: 'en-us' },
  rime: { model: 'arcana', voice: 'celeste', speed: 2, language: 'en' },
  speaches: {
    model: 'kokoro',
    voice: 'af_heart',
    base_url: 'http://localhost:8000/v1',

    speed: 4,
    api_key: null,
  },
  minimax: {
    model: 'speech-2.8-turbo',
    voice: 'English_Graceful_Lady',
    speed: 2,
    group_id: 'g',
    base_url: 'https://api.minimax.io/v1/t2a_v2',
  },
  azure_speech: {
    model: 'neural',
    region: 'eastus',
    voice: 'en-US-AriaNeural',

    language: 'en-US',
    speed: 0.5,
  },
  smallest: { model: 'lightning_v3.1_pro', voice: 'meher', language: 'en', speed: 2 },
  xai: { voice: 'eve', language: 'en' },
  lmnt: { model: 'blizzard', voice: 'lily', language: 'en' },
  dograh: { model: 'default', voice: 'default', speed: 1 },
};

const stt: Record<string, Fields> = {
  deepgram: { model: 'nova-3-general', language: 'multi' },
  cartesia: { model: 'ink-whisper', language: 'en' },
  openai: { model: 'gpt-4o-transcribe', base_url: 'https://api.openai.com/v1' },
  google: { model: 'latest_long', language: 'en-US', location: 'global', credentials: '{}' },
  sarvam: { model: 'saarika:v2.5', language: 'unknown' },
  speechmatics: { model: 'enhanced', language: 'cmn_en' },
  speaches: {
    model: 'Systran/faster-distil-whisper-small.en',
    language: 'en',

    base_url: 'http://localhost:8000/v1',
    api_key: null,
  },
  huggingface: {
    model: 'openai/whisper-large-v3-turbo',
    base_url: 'https://router.huggingface.co/hf-inference',

    bill_to: null,
    return_timestamps: false,
  },
  assemblyai: { model: 'u3-rt-pro', language: 'en' },
  gladia: { model: 'solaria-1', language: 'en' },
  azure_speech: { model: 'latest_long', region: 'eastus', language: 'en-US' },
  elevenlabs: {
    model: 'scribe_v2_realtime',
    language: 'auto',
    base_url: 'https://api.elevenlabs.io',
  },
  smallest: { model: 'pulse', language: 'en' },
  dograh: { model: 'default', language: 'multi' },
};

export const referenceServices = { llm, tts, stt } as const;
