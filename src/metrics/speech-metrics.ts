// Metrics of speech services and language models. metrics.ts has the others and the registry.

import { Counter, Histogram } from 'prom-client';
import { GaugeOfEntries } from './computed-metrics.ts';
import { LATENCY_SECONDS, registry } from './metrics.ts';

const registers = [registry];

export const serviceSeconds = new Histogram({
  name: 'patchbay_service_seconds',
  help: 'Speech and model services: time to the first result, by kind (llm, stt, tts; llm-prepare: a connection opened ahead) and service',
  labelNames: ['kind', 'service', 'result'] as const,
  buckets: [0.01, 0.02, ...LATENCY_SECONDS],
  registers,
});
export const serviceFaults = new Counter({
  name: 'patchbay_service_faults_total',
  help: 'Faults of speech and model services, by kind (stt, tts, llm), service and fault',
  labelNames: ['kind', 'service', 'fault'] as const,
  registers,
});
export const fullKeys = new Counter({
  name: 'patchbay_service_key_full_total',
  help: 'Calls that used the next service because all sessions of a key were in use, by kind (stt, tts) and service',
  labelNames: ['kind', 'service'] as const,
  registers,
});
export const openCircuits = new GaugeOfEntries({
  name: 'patchbay_service_circuit_open',
  help: 'Accounts and settings of a speech service that calls do not use because it failed',
  label: 'service',
  registers,
});
export const modelTokens = new Counter({
  name: 'patchbay_model_tokens_total',
  help: 'Tokens used by language models',
  labelNames: ['service', 'kind'] as const,
  registers,
});
export const promptCache = new Counter({
  name: 'patchbay_prompt_cache_total',
  help: 'Prompts looked up in the cache of rendered speech: hit, shared (another call has it rendered at the moment) or miss (rendered)',
  labelNames: ['result'] as const,
  registers,
});
