// `npm run demo`: a gateway on its embedded defaults, set up through its HTTP API; a second process that
// plays the provider; one call in and, beside it, one call out. Prints what is said, judges what came of it, and exits
// with 1 unless all is well. `--keep` leaves the gateway running. `--provider NAME` plays another hosted provider
// (test/fakes/hosted/hosted-rows.ts); `ari` holds the calls over a simulated Asterisk, `--ari-url http://user:password@host:port` over a real one. `--services vosk`, `wyoming` or
// `openai` has a recogniser and a voice in programs of their own, behind that protocol.

import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import { Progress } from '../../scripts/progress.mjs';
import { freePort } from '../fakes/free-port.ts';
import { hostedRow } from '../fakes/hosted/hosted-rows.ts';
import type { Peer } from '../peers/peer.ts';
import { ApiClient } from './api-client.ts';
import { formatLine } from './conversation.ts';
import { demoServices, useServices } from './demo-services.ts';
import { Gateway } from './gateway.ts';
import { machine, SLOW_MIN } from './machine-pace.ts';
import { type CallOutput, holdOverlapping } from './overlapping-calls.ts';
import { ProviderLink, type ProviderPlayed } from './provider-link.ts';
import { inbound, outbound, type Scenario } from './scenario.ts';
import { type CallMeans, holdInbound, holdOutbound, setUp } from './two-calls.ts';
import { type CallResult, faultsOf } from './verdict.ts';

const { values: options } = parseArgs({
  options: {
    keep: { type: 'boolean', default: false },
    provider: { type: 'string', default: 'twilio' },
    'ari-url': { type: 'string', default: '' },
    services: { type: 'string', default: 'embedded' },
  },
});
const keep = options.keep;
const played = playedBy(options.provider, options['ari-url']);
const services = demoServices(options.services);
const model = Boolean(process.env['OPENAI_BASE_URL'] || process.env['OPENAI_API_KEY']);
const folder = resolve('demo-output', new Date().toISOString().slice(0, 19).replaceAll(':', ''));

const progress = new Progress('');
machine.onSlow = (slowness) => {
  progress.print(
    `This machine is busy: work takes about ${slowness.toFixed(0)} times as long as on a free one. ` +
      'The demo waits in proportion.',
  );
};
machine.watch();

await main();

async function main(): Promise<void> {
  const logFile = join(folder, 'gateway.log');
  const dataFolder = join(folder, 'data');
  console.log('Starting the gateway on its embedded defaults ...');
  const starting = Gateway.start({ dataFolder, logFile, port: await freePort() });
  const gateway = await progress.during('starting the gateway', starting);
  console.log(`The gateway runs at ${gateway.url}; its log is ${logFile}`);
  const recogniser = process.env['PATCHBAY_STT'] !== 'none' && !gateway.keypadOnly;
  console.log(
    `The callers ${recogniser ? 'speak' : 'press keys: no speech recogniser is installed'}. ` +
      `${model ? 'A language model' : 'A script'} leads the conversation.`,
  );
  const faults = await holdCalls(gateway, recogniser);
  if (faults.length === 0) console.log('\nBoth calls came to exactly what was expected of them.');
  else console.log(`\n${faults.map((fault) => `FAULT: ${fault}`).join('\n')}`);
  if (faults.length > 0 && machine.worst >= SLOW_MIN) {
    console.log('The machine was busy with other work, which may be why: try again without it.');
  }
  process.exitCode = faults.length === 0 ? 0 : 1;
  if (keep) await stay(gateway);
  await progress.during('stopping the gateway', gateway.stop());
  rmSync(dataFolder, { recursive: true, force: true });
}

/** What is wrong with the two calls. */
async function holdCalls(gateway: Gateway, recogniser: boolean): Promise<string[]> {
  let provider: ProviderLink | undefined;
  let peers: Peer[] = [];
  try {
    const starting = ProviderLink.start(gateway.url, recogniser, played);
    const link = await progress.during('starting the provider', starting);
    provider = link.provider;
    const api = new ApiClient(gateway.url, await gateway.firstKey());
    const agents = await progress.during('setting up', setUp(api, link.apiUrl, played.name));
    peers = await useServices(api, services);
    if (peers.length > 0)
      console.log(`Recogniser and voice are programs of their own, over ${services}.`);
    return await holdBoth({ api, provider, agents, recogniser, model });
  } catch (error) {
    return [`the demo did not finish: ${String(error)}`];
  } finally {
    for (const peer of peers) await peer.stop();
    provider?.stop();
  }
}

/** The outbound call runs beside the inbound one, and is printed behind it. */
async function holdBoth(means: Omit<CallMeans, 'onLine'>): Promise<string[]> {
  console.log('The second call begins while the first one lasts, and is printed behind it.');
  const calls = [
    { scenario: inbound, hold: holdInbound },
    { scenario: outbound, hold: holdOutbound },
  ].map(({ scenario, hold }) => async (output: CallOutput) => {
    output.print(heading(scenario));
    const onLine: CallMeans['onLine'] = (line) => {
      output.print(formatLine(line));
      if (line.who === 'caller') output.started();
    };
    const name = `${scenario.direction} call`;
    return conclude(await progress.during(name, hold({ ...means, onLine })), output);
  });
  const held = await holdOverlapping(calls, (line) => progress.print(line));
  return held.flatMap((result, nth) => {
    if (result.status === 'fulfilled') return result.value;
    return [`the ${nth === 0 ? 'inbound' : 'outbound'} call failed: ${String(result.reason)}`];
  });
}

/** Writes the call's files, prints its summary, and says what is wrong with it. */
function conclude(result: CallResult, output: CallOutput): string[] {
  const files = join(folder, `run-${result.run.id}`);
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'recording.wav'), result.recording);
  writeFileSync(join(files, 'transcript.txt'), result.transcript);
  for (const line of summary(result, files)) output.print(line);
  return faultsOf(result, machine.worst).map(
    (fault) => `${result.scenario.direction} call: ${fault}`,
  );
}

function summary({ run, caller, scenario }: CallResult, files: string): string[] {
  const values = run.gathered_context?.['extracted_variables'] ?? {};
  const waited = caller.waitedMs.map((ms) => `${(ms / 1_000).toFixed(2)} s`).join(', ');
  const yields = caller.interruptions.map(({ silentAfterMs }) =>
    silentAfterMs === null ? 'never' : `${silentAfterMs} ms`,
  );
  const rows = [
    ['run', `${run.id} (${run.name}), ${run.state}, ${String(run.disposition)}`],
    ['length', `${(run.duration ?? 0).toFixed(1)} s`],
    ['gathered', JSON.stringify(values)],
    ['answers', `the caller waited ${waited}, by its own ear`],
    ...(yields.length > 0 ? [['interrupted', `the agent fell silent after ${yields}`]] : []),
    ['recording', String(run.recording_url)],
    ['', join(files, 'recording.wav')],
    ['transcript', String(run.transcript_url)],
    ['', join(files, 'transcript.txt')],
  ];
  const lines = rows.map(([name = '', text = '']) => `  ${name.padEnd(12)} ${text}`);
  return [`\nThe ${scenario.direction} call:`, ...lines];
}

/** Waits for the gateway to be stopped by the person who watches. */
async function stay(gateway: Gateway): Promise<void> {
  console.log(`\nThe gateway stays at ${gateway.url} (API description: ${gateway.url}/docs).`);
  console.log(`API key: ${await gateway.firstKey()}   Stop it with Ctrl-C.`);
  await new Promise<void>((done) => {
    process.on('SIGINT', done); // Ctrl-C arrives twice below npm, which passes on its copy.
    process.on('SIGTERM', done);
    void gateway.exited.then(() => done());
  });
}

function playedBy(provider: string, ariUrl: string): ProviderPlayed {
  if (provider === 'ari' || ariUrl !== '') return { name: 'ari', url: ariUrl };
  const { name } = hostedRow(provider);
  if (name === 'ari') throw new Error('Asterisk is no hosted provider');
  return { name };
}

function heading({ direction, agentName, callerNumber }: Scenario): string {
  const [caller, called] =
    direction === 'inbound' ? [callerNumber, agentName] : [agentName, callerNumber];
  const text = `${caller} calls ${called}`;
  return `\n${text}\n${'-'.repeat(text.length)}`;
}
