// `npm run demo`: a gateway on its embedded defaults, set up through its HTTP API; a second process that
// plays the provider; one call in, one call out. Prints what is said, judges what came of it, and exits
// with 1 unless all is well. `--keep` leaves the gateway running.

import { existsSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { ApiClient, download, type RunDetail } from './api-client.ts';
import { Conversation, formatLine } from './conversation.ts';
import { freePort, Gateway } from './gateway.ts';
import { ACCOUNT_SID, AUTH_TOKEN, type CallEnded, ProviderLink } from './provider-link.ts';
import { inbound, OWN_NUMBER, outbound, type Scenario } from './scenario.ts';
import { type CallResult, faultsOf } from './verdict.ts';

const POLL_MS = 300;
/** After the line is dead the gateway still writes the run's outcome. */
const COMPLETION_MS_MAX = 15_000;
const LIBRARIES = ['/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/lib'];

const keep = process.argv.includes('--keep');
const model = Boolean(process.env['OPENAI_BASE_URL'] || process.env['OPENAI_API_KEY']);
const recogniser =
  process.env['PATCHBAY_STT'] !== 'none' &&
  LIBRARIES.some((folder) => existsSync(join(folder, 'libpocketsphinx.so.3')));
const folder = resolve('demo-output', new Date().toISOString().slice(0, 19).replaceAll(':', ''));

await main();

async function main(): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const logFile = join(folder, 'gateway.log');
  const dataFolder = join(folder, 'data');
  console.log('Starting the gateway on its embedded defaults ...');
  const gateway = await Gateway.start({ dataFolder, logFile, port: await freePort() });
  console.log(`The gateway runs at ${gateway.url}; its log is ${logFile}`);
  console.log(
    `The callers ${recogniser ? 'speak' : 'press keys: no speech recogniser is installed'}. ` +
      `${model ? 'A language model' : 'A script'} leads the conversation.`,
  );
  const { provider, apiUrl } = await ProviderLink.start(gateway.url, recogniser);
  let faults = ['the demo did not finish'];
  try {
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    faults = await twoCalls(api, provider, apiUrl);
  } catch (error) {
    console.error(error);
  } finally {
    provider.stop();
  }
  if (faults.length === 0) console.log('\nBoth calls came to exactly what was expected of them.');
  for (const fault of faults) console.log(`FAULT: ${fault}`);
  process.exitCode = faults.length === 0 ? 0 : 1;
  if (keep) await stay(gateway);
  await gateway.stop();
  rmSync(dataFolder, { recursive: true, force: true });
}

/** What is wrong with the two calls. */
async function twoCalls(api: ApiClient, provider: ProviderLink, apiUrl: string): Promise<string[]> {
  await api.useOwnKey('Demo');
  const configurationId = await api.createConfiguration('Simulated Twilio', {
    provider: 'twilio',
    account_sid: ACCOUNT_SID,
    auth_token: AUTH_TOKEN,
    api_base_url: apiUrl,
  });
  const receiving = await api.createWorkflow(inbound.agentName, inbound.definition);
  const calling = await api.createWorkflow(outbound.agentName, outbound.definition);
  await api.addNumber(configurationId, {
    address: OWN_NUMBER,
    inbound_workflow_id: receiving.id,
    is_default_caller_id: true,
  });

  heading(`${inbound.callerNumber} calls ${inbound.agentName}`);
  const first = await hold(api, inbound, receiving.id, provider.call('inbound'));
  heading(`${outbound.agentName} calls ${outbound.callerNumber}`);
  const call = provider.call('outbound');
  call.catch(() => undefined); // Told by the follower, unless the start itself fails.
  await api.startCall(calling.uuid, {
    phone_number: outbound.callerNumber,
    initial_context: outbound.initialContext,
  });
  const second = await hold(api, outbound, calling.id, call);
  return [...first, ...second];
}

/** Follows one call to its end, prints its summary and judges it. */
async function hold(
  api: ApiClient,
  scenario: Scenario,
  workflowId: string,
  call: Promise<CallEnded>,
): Promise<string[]> {
  const conversation = new Conversation();
  let ended: CallEnded | undefined;
  const over = call.then((end) => {
    ended = end;
  });
  let run: RunDetail | undefined;
  let deadline = Number.POSITIVE_INFINITY;
  while (!run?.is_completed && Date.now() < deadline) {
    await Promise.race([over, pause(POLL_MS)]);
    if (ended !== undefined) {
      deadline = Math.min(deadline, Date.now() + COMPLETION_MS_MAX);
      await pause(POLL_MS);
    }
    const [runId] = await api.runIds(workflowId);
    if (runId === undefined) continue;
    run = await api.run(workflowId, runId);
    const items = run.logs?.realtime_feedback_events ?? [];
    for (const line of conversation.take(items)) console.log(formatLine(line));
  }
  await over;
  if (run === undefined || ended === undefined) return ['there is no run'];
  return await judge(scenario, run, ended);
}

async function judge(scenario: Scenario, run: RunDetail, ended: CallEnded): Promise<string[]> {
  const recording = await download(run.recording_url ?? fail('The run has no recording'));
  const transcript = await download(run.transcript_url ?? fail('The run has no transcript'));
  const files = join(folder, `run-${run.id}`);
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'recording.wav'), recording);
  writeFileSync(join(files, 'transcript.txt'), transcript);
  const { facts: caller, endedBy } = ended;
  const result: CallResult = {
    scenario,
    run,
    recording,
    transcript: transcript.toString('utf8'),
    caller,
    endedBy,
    recogniser,
    model,
  };
  summarize(result, files);
  return faultsOf(result).map((fault) => `${scenario.direction} call: ${fault}`);
}

function summarize({ run, caller, scenario }: CallResult, files: string): void {
  const values = run.gathered_context?.['extracted_variables'] ?? {};
  const waited = caller.waitedMs.map((ms) => `${(ms / 1_000).toFixed(2)} s`).join(', ');
  const yields = caller.interruptions.map(({ silentAfterMs }) =>
    silentAfterMs === null ? 'never' : `${silentAfterMs} ms`,
  );
  const rows = [
    ['run', `${run.id} (${run.name}), ${run.state}, ${String(run.disposition)}`],
    ['length', `${String(run.duration)} s`],
    ['gathered', JSON.stringify(values)],
    ['answers', `the caller waited ${waited}, by its own ear`],
    ...(yields.length > 0 ? [['interrupted', `the agent fell silent after ${yields}`]] : []),
    ['recording', `${String(run.recording_url)}`],
    ['', join(files, 'recording.wav')],
    ['transcript', `${String(run.transcript_url)}`],
    ['', join(files, 'transcript.txt')],
  ];
  console.log(`\nThe ${scenario.direction} call:`);
  for (const [name = '', text = ''] of rows) console.log(`  ${name.padEnd(12)} ${text}`);
}

/** Waits for the gateway to be stopped by the person who watches. */
async function stay(gateway: Gateway): Promise<void> {
  console.log(`\nThe gateway stays at ${gateway.url} (API description: ${gateway.url}/docs).`);
  console.log(`API key: ${await gateway.firstKey()}   Stop it with Ctrl-C.`);
  await new Promise<void>((done) => {
    process.once('SIGINT', done);
    process.once('SIGTERM', done);
    void gateway.exited.then(() => done());
  });
}

function heading(text: string): void {
  console.log(`\n${text}\n${'-'.repeat(text.length)}`);
}

async function pause(ms: number): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
}

function fail(message: string): never {
  throw new Error(message);
}
