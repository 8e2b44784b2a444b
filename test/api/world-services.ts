// Speech services of an organization and of its user, and a request for every operation on them.

import type { Example } from './example.ts';
import type { Served } from './served.ts';

/** Stored by the owner; no answer and no log may hold it. */
export const SERVICE_SECRET = 'the-key-of-the-language-model';

/** A server on this machine: no other is asked for its opinion of the key. */
const llm = {
  provider: 'openai',
  base_url: 'http://127.0.0.1:11434/v1',
  api_key: SERVICE_SECRET,
  model: 'llama3.1',
};
const pipeline = {
  llm,
  tts: { provider: 'flite', voice: 'rms' },
  stt: { provider: 'pocketsphinx' },
};
const configuration = { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } };

export async function makeServices(served: Served): Promise<Record<string, Example>> {
  await served.ok('PUT', '/user/configurations/user', pipeline);
  await served.ok('PUT', '/organizations/model-configurations/v2', configuration);
  return {
    getModelConfiguration: {},
    saveModelConfiguration: { body: configuration },
    getModelConfigurationDefaults: {},
    getModelConfigurationPricing: {},
    checkModelConfiguration: {},
    previewModelConfigurationMigration: {},
    migrateModelConfiguration: { query: { force: 'true' }, foreign: 422 },
    getUserConfiguration: {},
    saveUserConfiguration: { body: { tts: pipeline.tts } },
    validateUserConfiguration: {},
    listVoices: { path: { provider: 'flite' }, foreign: 200 },
  };
}
