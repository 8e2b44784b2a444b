// `npm run demo`: a gateway on its embedded defaults, set up through its HTTP API; a second process that
// plays the provider; one call in and one call out at the same time. Prints what is said, judges what came of it, and exits
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
import { ProviderLink, type ProviderPlayed } from './provider-link.ts';
import { inbound, outbound, type Scenario } from './scenario.ts';
import { type Section, Sections } from './sections.ts';
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

await main();

async function main(): Promise<void> {
  const logFile = join(folder, 'gateway.log');
  const dataFolder = join(folder, 'data');
  console.log('Starting the gateway on its embedded defaults ...');
  const starting = Gateway.start({ dataFolder, logFile, port: await freePort() });
  const gateway = await progress.during('starting', starting);
  console.log(`The gateway runs at ${gateway.url}; its log is ${logFile}`);
  const recogniser = process.env['PATCHBAY_STT'] !== 'none' && !gateway.keypadOnly;
  console.log(
    `The callers ${recogniser ? 'speak' : 'press keys: no speech recogniser is installed'}. ` +
      `${model ? 'A language model' : 'A script'} leads the conversation.`,
  );
  const faults = await holdCalls(gateway, recogniser);
  if (faults.length === 0) console.log('\nBoth calls came to exactly what was expected of them.');
  else console.log(`\n${faults.map((fault) => `FAULT: ${fault}`).join('\n')}`);
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

/** At the same time; the outbound call is printed behind the inbound one. */
async function holdBoth(means: Omit<CallMeans, 'onLine'>): Promise<string[]> {
  const sections = new Sections((line) => progress.print(line));
  console.log('Two calls run at the same time; what is said in the second one follows the first.');
  const faults = await Promise.all([
    holdOne(sections.open(), {
      ...{ scenario: inbound, title: `${inbound.callerNumber} calls ${inbound.agentName}` },
      hold: (onLine) => holdInbound({ ...means, onLine }),
    }),
    holdOne(sections.open(), {
      ...{ scenario: outbound, title: `${outbound.agentName} calls ${outbound.callerNumber}` },
      hold: (onLine) => holdOutbound({ ...means, onLine }),
    }),
  ]);
  return faults.flat();
}

/** Prints a call and its summary; what is wrong with it. */
async function holdOne(
  section: Section,
  call: {
    scenario: Scenario;
    title: string;
    hold: (onLine: CallMeans['onLine']) => Promise<CallResult>;
  },
): Promise<string[]> {
  const { title, scenario } = call;
  section.print(`\n${title}\n${'-'.repeat(title.length)}`);
  const held = call.hold((line) => section.print(formatLine(line)));
  try {
    return conclude(await progress.during(`${scenario.direction} call`, held), section);
  } catch (error) {
    return [`the ${scenario.direction} call did not finish: ${String(error)}`];
  } finally {
    section.close();
  }
}

/** Writes the call's files, prints its summary, and says what is wrong with it. */
function conclude(result: CallResult, section: Section): string[] {
  const files = join(folder, `run-${result.run.id}`);
  mkdirSync(files, { recursive: true });
  writeFileSync(join(files, 'recording.wav'), result.recording);
  writeFileSync(join(files, 'transcript.txt'), result.transcript);
  for (const line of summary(result, files)) section.print(line);
  return faultsOf(result).map((fault) => `${result.scenario.direction} call: ${fault}`);
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
    process.once('SIGINT', done);
    process.once('SIGTERM', done);
    void gateway.exited.then(() => done());
  });
}

function playedBy(provider: string, ariUrl: string): ProviderPlayed {
  if (provider === 'ari' || ariUrl !== '') return { name: 'ari', url: ariUrl };
  const { name } = hostedRow(provider);
  if (name === 'ari') throw new Error('Asterisk is no hosted provider');
  return { name };
}
