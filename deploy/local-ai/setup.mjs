// Gives the first organization the speech services of the profile local-ai: pulls the language model into Ollama, and
// stores the services through the API. Services that are stored already stay; REPLACE=1 replaces them. Plain Node;
// compose.yaml runs it in the gateway's image.
//   node setup.mjs services.json

import { readFileSync } from 'node:fs';

/** Some gigabytes over a slow line. */
const PULL_MS_MAX = 7_200_000;
const ANSWER_MS_MAX = 30_000;
/** Of a line that Ollama writes about its progress. */
const LINE_CHARACTERS_MAX = 65_536;
const SERVICES = '/api/v1/organizations/model-configurations/v2';

const { PATCHBAY_URL, PATCHBAY_API_KEY, LOCAL_AI_MODEL, LOCAL_AI_LANGUAGE, REPLACE } = process.env;

const services = JSON.parse(readFileSync(process.argv[2], 'utf8'));
const { llm, stt } = services.byok.pipeline;
if (LOCAL_AI_MODEL) llm.model = LOCAL_AI_MODEL;
if (LOCAL_AI_LANGUAGE) stt.language = LOCAL_AI_LANGUAGE;

try {
  await pull(llm.model);
  const { source } = await ask('GET');
  if (source === 'empty' || REPLACE === '1') {
    await ask('PUT', services);
    console.log('The services are stored: calls that begin from now on use them.');
  } else {
    console.log('The organization has services already: they stay. REPLACE=1 replaces them.');
  }
} catch (error) {
  console.error(`Failed: ${error.message}${error.cause ? ` (${error.cause.message})` : ''}`);
  process.exitCode = 1;
}

/** Does nothing if Ollama has the model already. */
async function pull(model) {
  const response = await fetch(new URL('/api/pull', llm.base_url), {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ model }),
    signal: AbortSignal.timeout(PULL_MS_MAX),
  });
  let last;
  for await (const line of lines(response.body)) {
    const { status, error } = JSON.parse(line);
    if (error) throw new Error(`Ollama cannot pull ${model}: ${error}`);
    if (status !== last) console.log(`${model}: ${status}`);
    last = status;
  }
  if (last !== 'success') throw new Error(`Ollama did not pull ${model}: HTTP ${response.status}`);
}

async function* lines(body) {
  let held = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const whole = (held + text).split('\n');
    held = whole.pop();
    if (held.length > LINE_CHARACTERS_MAX) throw new Error('Ollama sends what is no progress');
    yield* whole.filter((line) => line.trim() !== '');
  }
  if (held.trim() !== '') yield held;
}

async function ask(method, body) {
  const response = await fetch(PATCHBAY_URL + SERVICES, {
    method,
    headers: { 'X-API-Key': PATCHBAY_API_KEY, 'Content-Type': 'application/json' },
    body: body && JSON.stringify(body),
    signal: AbortSignal.timeout(ANSWER_MS_MAX),
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`the gateway answers ${response.status}: ${text}`);
  return JSON.parse(text);
}
