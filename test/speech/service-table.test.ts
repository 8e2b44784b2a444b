// docs/services.md against the schemas: every service of the reference is built, described as data, or said to be not built.

import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { llmServices } from '../../src/model/speech-services/schemas/llm.ts';
import { sttServices } from '../../src/model/speech-services/schemas/stt.ts';
import { ttsServices } from '../../src/model/speech-services/schemas/tts.ts';

const text = readFileSync('docs/services.md', 'utf8');

/** From its heading to the next one. */
function section(title: string): string {
  const from = text.indexOf(`\n## ${title}\n`);
  const to = text.indexOf('\n## ', from + 1);
  return from === -1 ? '' : text.slice(from, to);
}

/** The reference's services by job. Source: its configuration API. */
const REFERENCE = {
  llm: [
    ...['openai', 'atlascloud', 'google', 'google_vertex', 'groq', 'openrouter', 'azure', 'dograh'],
    ...['aws_bedrock', 'speaches', 'huggingface', 'minimax', 'sarvam'],
  ],
  tts: [
    ...['deepgram', 'elevenlabs', 'google', 'openai', 'cartesia', 'inworld', 'sarvam', 'camb'],
    ...['rime', 'speaches', 'minimax', 'azure_speech', 'smallest', 'xai', 'lmnt', 'dograh'],
  ],
  stt: [
    ...['deepgram', 'cartesia', 'openai', 'google', 'sarvam', 'speechmatics', 'speaches'],
    ...['huggingface', 'assemblyai', 'gladia', 'azure_speech', 'elevenlabs', 'smallest', 'dograh'],
  ],
};
const ROWS = { llm: llmServices, tts: ttsServices, stt: sttServices };
/** Beside the tables: they need no service. */
const EMBEDDED = ['pocketsphinx', 'flite', 'scripted'];

describe.each([
  ['Language models', 'llm'],
  ['Voices', 'tts'],
  ['Recognisers', 'stt'],
] as const)('the table of %s', (title, job) => {
  const part = section(title);
  const [built = '', not = ''] = part.split('\nNot built: ');
  const notBuilt = not.slice(0, not.indexOf('\n\n'));

  it('has every service that is built', () => {
    const missing = Object.keys(ROWS[job]).filter(
      (name) => !EMBEDDED.includes(name) && !built.includes(`\`${name}\``),
    );
    expect(missing).toEqual([]);
  });

  it('says of every other service of the reference that it is not built', () => {
    const others = REFERENCE[job].filter((name) => !Object.hasOwn(ROWS[job], name));
    expect(others.filter((name) => !notBuilt.includes(`\`${name}\``))).toEqual([]);
    expect(others).not.toEqual([]);
  });
});
