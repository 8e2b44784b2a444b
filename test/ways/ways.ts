// Counts the files through which a thing passes: `npm run ways [-- --files] [-- --gateway FOLDER]`. Runs the built
// gateway as one process with a simulated Twilio and reads which functions V8 has run for
//   frame    what the caller says, from the socket to the turn in the workflow engine
//   start    POST /public/agent/workflow/{uuid}, to the request at the provider
//   contact  a started campaign of one contact, to the request at the provider (files of the API left out)
//   webhook  an inbound call, from the provider's request to our answer with the media URL
//   end      a caller who hangs up, to the run that is closed
// It prints two figures of each. `on the way`: files of which a function ran that the way called, from where the event
// loop enters the gateway (a request, data of a websocket, a tick of turn-taking, a due job), also after promises and
// timers. `executed`: files of which a function ran meanwhile, in all of the process; functions that an idle gateway runs
// as well do not count, nor, for `end`, those of a call in silence. Neither counts files that any other may use (std,
// model, errors, metrics, log), nor worker threads.

import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import twilioSdk from 'twilio';
import { ApiClient } from '../demo/api-client.ts';
import { inbound, OWN_NUMBER, recording } from '../demo/scenario.ts';
import { setUp } from '../demo/two-calls.ts';
import { freePort } from '../fakes/free-port.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from '../fakes/twilio/row.ts';
import { CampaignClient } from '../trial/campaign-client.ts';
import { Coverage, type Way } from './coverage.ts';

const START_MS_MAX = 60_000;
const WAY_MS_MAX = 20_000;
/** Every periodic job of the gateway runs at least once. */
const IDLE_MS = 35_000;
/** Long enough for what follows a call's end, short enough for the post-call work not to matter. */
const END_MS = 1_500;
/** How finely a frame is followed. */
const SLICE_MS = 20;

/** From which the campaign calls. */
const CAMPAIGN_NUMBER = '+15005550111';
/** What the caller says: long enough to be speech. */
const SPEECH = recording(inbound.sayings[0]?.audio ?? '');

const SHARED = /^(std|model|errors|metrics)\/|^log$/;

/** `STEP` ends the way of a frame; the others begin and are over at these files. */
const STEP = 'workflow/engine#step';
const DIAL = 'telephony/twilio/control';
const ANSWER = 'telephony/twiml/documents';
const CLOSING = 'call/end/closing/run-closing';
const ENGINE = 'workflow/engine';

type Files = Map<string, Set<string>>;

const { values: options } = parseArgs({
  options: {
    /** Prints the files of each way as well. */
    files: { type: 'boolean', default: false },
    /** The checkout whose `dist/` is started. */
    gateway: { type: 'string', default: '.' },
  },
});

const pause = (ms: number): Promise<void> => new Promise((done) => setTimeout(done, ms));

async function until(isTrue: () => boolean, what: string): Promise<void> {
  for (const deadline = Date.now() + WAY_MS_MAX; !isTrue(); await pause(SLICE_MS / 4))
    if (Date.now() > deadline) throw new Error(`No ${what} within ${WAY_MS_MAX} ms`);
}

function add(all: Files, slice: Files): void {
  for (const [file, names] of slice) all.set(file, new Set([...(all.get(file) ?? []), ...names]));
}

function names(files: Files): string[] {
  return [...files.values()].flatMap((functions) => [...functions]);
}

/** What ran in one and not in the other. */
function without(one: Files, other: Files): Files {
  const rest: Files = new Map();
  for (const [file, names] of one) {
    const left = [...names].filter((name) => other.get(file)?.has(name) !== true);
    if (left.length > 0 && !SHARED.test(file)) rest.set(file, new Set(left));
  }
  return rest;
}

/** The files of ways that reached `target`, and of those that `more` says belong to it. */
function through(ways: readonly Way[], target: string, more: (way: Way) => boolean = () => false) {
  const files = (way: Way): string[] => way.functions.map((id) => id.split('#', 1)[0] ?? '');
  const all = ways.filter((way) => files(way).includes(target) || more(way)).flatMap(files);
  return new Set(all.filter((file) => !SHARED.test(file)));
}

interface Means {
  /** The gateway's. */
  url: string;
  coverage: Coverage;
  twilio: FakeTwilio;
  api: ApiClient;
  campaigns: CampaignClient;
  agents: Awaited<ReturnType<typeof setUp>>;
}

/** A call whose media socket is never opened: the gateway closes it by itself. */
async function answeredWebhook(gatewayUrl: string): Promise<void> {
  const url = `${gatewayUrl}/api/v1/telephony/inbound/run`;
  const form = {
    ['AccountSid']: ACCOUNT_SID,
    ['ApiVersion']: '2010-04-01',
    ['CallSid']: `CA${'0'.repeat(32)}`,
    ['CallStatus']: 'ringing',
    ['Direction']: 'inbound',
    ['From']: inbound.callerNumber,
    ['To']: OWN_NUMBER,
  };
  const signature = twilioSdk.getExpectedTwilioSignature(AUTH_TOKEN, url, form);
  const reply = await fetch(url, {
    method: 'POST',
    headers: { 'x-twilio-signature': signature },
    body: new URLSearchParams(form),
    signal: AbortSignal.timeout(WAY_MS_MAX),
  });
  const document = await reply.text();
  if (!document.includes('<Stream'))
    throw new Error(`The webhook got ${reply.status}: ${document}`);
}

interface Walked {
  onTheWay: Set<string>;
  executed: Files;
}

/** Forgets what ran so far. */
async function begin({ coverage }: Means): Promise<void> {
  await coverage.take();
  await coverage.takeWays();
}

/** What ran since `begin`; the way itself is what reached `target`. */
async function taken({ coverage }: Means, target: string): Promise<Walked> {
  const executed = await coverage.take();
  return { executed, onTheWay: through(await coverage.takeWays(), target) };
}

async function toTurn(means: Means, call: FakeCall): Promise<Walked> {
  const { coverage } = means;
  await call.waitForSilence({ forMs: 1_500 });
  await begin(means);
  await coverage.endWith(STEP);
  void call.say(SPEECH);
  const executed: Files = new Map();
  const hasTurn = (): boolean => names(executed).some((name) => name.startsWith('callerTurn@'));
  for (const deadline = Date.now() + WAY_MS_MAX; !hasTurn(); ) {
    if (Date.now() > deadline) throw new Error(`No turn within ${WAY_MS_MAX} ms`);
    await pause(SLICE_MS);
    add(executed, await coverage.take());
  }
  // Its audio goes on in the recogniser's thread, whose words come as ways of their own.
  const isFrame = ({ entry }: Way): boolean => /#(#read|advance|onPartial|onFinal)$/.test(entry);
  const onTheWay = through(await coverage.takeWays(), ENGINE, isFrame);
  await coverage.endWith(undefined);
  return { onTheWay, executed };
}

async function toEnd(means: Means, call: FakeCall): Promise<Walked> {
  await call.waitForSilence({ forMs: 1_500 });
  await begin(means);
  await pause(END_MS);
  const silence = await means.coverage.take();
  await begin(means);
  call.hangUp();
  await pause(END_MS);
  const { onTheWay, executed } = await taken(means, CLOSING);
  return { onTheWay, executed: without(executed, silence) };
}

/** What `begins` runs until the provider is asked for a call. */
async function toDial(means: Means, begins: () => Promise<unknown>): Promise<Walked> {
  const before = means.twilio.calls.length;
  await begin(means);
  await begins();
  await until(() => means.twilio.calls.length > before, 'dial');
  return taken(means, DIAL);
}

async function waitingCampaign({ campaigns, twilio }: Means): Promise<string> {
  const id = await campaigns.create({
    providerUrl: twilio.baseUrl,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    callers: [CAMPAIGN_NUMBER],
    phoneNumbers: ['+15005550124'],
    concurrency: 1,
    ratePerSecond: 1,
    maxRetries: 0,
  });
  await pause(END_MS);
  return id;
}

async function walk(means: Means) {
  const { url, coverage, twilio, api, campaigns, agents } = means;
  await coverage.take();
  await pause(IDLE_MS);
  const idle = await coverage.take();

  await begin(means);
  await answeredWebhook(url);
  const webhook = await taken(means, ANSWER);

  const call = await twilio.placeInboundCall({ from: inbound.callerNumber, to: OWN_NUMBER });
  await until(() => call.heard.length > 0, 'sound');
  const frame = await toTurn(means, call);
  const end = await toEnd(means, call);

  const phoneNumber = '+15005550123';
  const start = await toDial(means, () =>
    api.startCall(agents.calling.uuid, { phone_number: phoneNumber }),
  );
  await pause(END_MS);
  const campaignId = await waitingCampaign(means);
  const contact = await toDial(means, () => campaigns.start(campaignId));
  for (const file of contact.executed.keys()) {
    if (file.startsWith('api/')) contact.executed.delete(file);
  }
  return { idle, ways: { frame, start, contact, webhook, end } };
}

/** A gateway in one process, with an inspector. */
function startGateway(port: number, inspectorPort: number, folder: string) {
  const child = spawn(
    process.execPath,
    [
      `--inspect=127.0.0.1:${inspectorPort}`,
      `--import=${new URL('./way-recorder.mjs', import.meta.url).href}`,
      resolve(options.gateway, 'dist/main.js'),
    ],
    {
      cwd: resolve(options.gateway),
      env: {
        ...process.env,
        PATCHBAY_HOST: '127.0.0.1',
        PATCHBAY_PORT: String(port),
        PATCHBAY_PUBLIC_URL: `http://127.0.0.1:${port}`,
        PATCHBAY_DATA: join(folder, 'data'),
        PATCHBAY_WORKERS: process.env['PATCHBAY_WORKERS'] ?? '0',
        PATCHBAY_STT: 'auto',
        PATCHBAY_DRAIN_SECONDS: '0',
        OPENAI_BASE_URL: '',
        OPENAI_API_KEY: '',
      },
      stdio: ['ignore', 'ignore', 'pipe'],
    },
  );
  const key = new Promise<string>((found, failed) => {
    let text = '';
    child.stderr.on('data', (chunk: Buffer) => {
      text += chunk.toString();
      const apiKey = /First API key \(shown once\): (\S+)/.exec(text)?.[1];
      if (apiKey !== undefined) found(apiKey);
    });
    child.once('exit', () => failed(new Error(`The gateway ended: ${text}`)));
    setTimeout(() => failed(new Error('The gateway did not start')), START_MS_MAX).unref();
  });
  return { child, key };
}

const folder = mkdtempSync(join(tmpdir(), 'patchbay-ways-'));
const [port, inspectorPort] = [await freePort(), await freePort()];
const { child, key } = startGateway(port, inspectorPort, folder);
try {
  const url = `http://127.0.0.1:${port}`;
  const apiKey = await key;
  const api = new ApiClient(url, apiKey);
  const twilio = await startFakeTwilio({
    publicWebhookBase: url,
    accountSid: ACCOUNT_SID,
    authToken: AUTH_TOKEN,
    numbers: [OWN_NUMBER, CAMPAIGN_NUMBER],
  });
  const agents = await setUp(api, twilio.baseUrl);
  const coverage = await Coverage.attach(inspectorPort);
  const campaigns = new CampaignClient(url, apiKey);
  const { idle, ways } = await walk({ url, coverage, twilio, api, campaigns, agents });
  for (const [name, { onTheWay, executed: all }] of Object.entries(ways)) {
    const executed = new Set(without(all, idle).keys());
    if (onTheWay.size === 0) throw new Error(`The way of ${name} was not seen`);
    process.stdout.write(`${name.padEnd(8)} ${onTheWay.size} files on the way, `);
    process.stdout.write(`${executed.size} executed\n`);
    if (!options.files) continue;
    for (const file of [...onTheWay].sort()) process.stdout.write(`  ${file}\n`);
    for (const file of [...executed].filter((each) => !onTheWay.has(each)).sort()) {
      process.stdout.write(`    meanwhile: ${file}\n`);
    }
  }
  coverage.close();
  await twilio.close();
} finally {
  child.kill('SIGKILL');
  rmSync(folder, { recursive: true, force: true });
}
