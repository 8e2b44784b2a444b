// A whole campaign in one process: the real dispatcher, call layer, store and Twilio provider, against a
// Twilio that rings, answers, streams and calls back over loopback. Only the moment of retries is made up.

import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { type CallParts, createCallControl, withClosing } from '../../src/app/call-parts.ts';
import type { CallControl } from '../../src/call/call-control.ts';
import { EventLog } from '../../src/call/events/event-log.ts';
import { ClipLibrary } from '../../src/call/start/setup/sound-library.ts';
import { Dispatcher } from '../../src/campaign/dispatcher.ts';
import { createGuardedHttp } from '../../src/egress/guarded-http.ts';
import { RETRY_DEFAULT } from '../../src/model/campaign.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { WebhookReply } from '../../src/telephony/provider/provider.ts';
import { createProviders } from '../../src/telephony/registry/registry.ts';
import { createMediaServer, type MediaServer } from '../../src/transport/websocket/media-server.ts';
import { ACCOUNT, AUTH_TOKEN, chat } from '../call/call-harness.ts';
import { gatewaySpeech } from '../fakes/gateway-speech.ts';
import { mediaTokens } from '../fakes/media-tokens.ts';
import { FakeTts, loudnessVad } from '../fakes/speech-services.ts';
import type { FakeCall } from '../fakes/twilio/fake-call.ts';
import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import { rows } from '../store/campaigns/dial-queue-fixture.ts';
import { withStore } from '../store/engines.ts';
import { formPost } from '../telephony/provider/provider-request.ts';

const CONTACTS = 12;
const CALLERS = ['+14155550101', '+14155550102'];

const at = withStore('embedded');
let http: Server;
let media: MediaServer;
let twilio: FakeTwilio;
let callControl: CallControl;
let deps: CallParts;
let dispatcher: Dispatcher;

beforeEach(async () => {
  http = createServer((request, response) => {
    void answered(request).then(({ status, contentType, body }) => {
      response.writeHead(status, { 'content-type': contentType }).end(body);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  const { port } = http.address() as AddressInfo; // A TCP server has an address of this kind.
  const publicUrl = `http://127.0.0.1:${port}`;
  const clock = { ...systemClock, now: () => at.clock.now() };
  const { store, log } = at;
  deps = withClosing({
    store,
    files: store.spool,
    providers: createProviders({ clock: systemClock, random: systemRandom }),
    events: new EventLog({ sink: store.runs, clock, log }),
    clock,
    random: systemRandom,
    log,
    services: {
      mediaClock: new MediaClock(systemClock),
      vad: loudnessVad(),
      speech: gatewaySpeech({
        stt: undefined,
        tts: new FakeTts(systemClock),
        voice: undefined,
        llm: undefined,
      }),
    },
    sounds: new ClipLibrary({ store, files: store.files, clock, log }),
    tokens: mediaTokens({ clock }),
    gatewayLabel: 'gw1',
    http: {
      outside: createGuardedHttp(),
      credentialHeaders: () => Promise.resolve({}),
    },
    publicUrl,
  });
  deps.closing.onCompleted = () => dispatcher.noteCompleted();
  callControl = createCallControl(deps);
  const authorize = callControl.admit.bind(callControl);
  media = createMediaServer({ clock: systemClock, log, authorize });
  http.on('upgrade', (request, socket, head) => void media.handleUpgrade(request, socket, head));
  twilio = await startFakeTwilio({
    publicWebhookBase: publicUrl,
    accountSid: ACCOUNT,
    authToken: AUTH_TOKEN,
    numbers: CALLERS,
  });
  dispatcher = new Dispatcher({
    store,
    calls: callControl.campaignCalls,
    node: store.node,
    clock,
    random: systemRandom,
    log,
    syncNext: () => Promise.resolve(false),
    interruptedExtra: 0,
  });
});

afterEach(async () => {
  await dispatcher.stop();
  await twilio.close();
  await callControl.drain(2_000);
  await media.close(1001);
  deps.services.mediaClock.close();
  await new Promise<void>((resolve) => {
    http.close(() => resolve());
    http.closeAllConnections();
  });
});

/** What the API does with a provider's webhooks. */
async function answered(request: IncomingMessage): Promise<WebhookReply> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(Buffer.from(chunk));
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const form = Buffer.concat(chunks).toString();
  const asked = formPost(`${deps.publicUrl}${request.url}`, form, headers);
  const [route, runId = ''] = (request.url ?? '').split('/').slice(-2);
  return route === 'answer'
    ? callControl.answer('twilio', runId, asked)
    : callControl.event('twilio', runId, asked);
}

/** A running campaign whose agent hangs up on machines. */
async function campaignOf(contacts: number): Promise<string> {
  const { store, owner } = at;
  const { organizationId } = owner;
  const { workflow } = await store.workflows.create(owner, {
    name: 'Caller',
    triggerPaths: [],
    definition: chat,
    configurations: { voicemail_detection: { enabled: true } },
    templateContextVariables: {},
  });
  const configuration = await store.telephony.createConfiguration(organizationId, {
    name: 'Main',
    provider: 'twilio',
    isDefaultOutbound: true,
    credentials: {
      provider: 'twilio',
      account_sid: ACCOUNT,
      auth_token: AUTH_TOKEN,
      amd_enabled: true,
      api_base_url: twilio.baseUrl,
    },
    accountId: ACCOUNT,
    secretFields: ['account_sid', 'auth_token'],
  });
  for (const address of CALLERS) {
    await store.telephony.createNumber(organizationId, configuration.id, {
      address,
      addressNormalized: address,
      addressType: 'pstn',
      countryCode: null,
      label: null,
      inboundWorkflowId: null,
      isActive: true,
      isDefaultCallerId: false,
      extraMetadata: {},
    });
  }
  const { id } = await store.campaigns.create(organizationId, {
    name: 'c',
    workflowId: workflow.id,
    sourceId: `campaigns/${organizationId}/a.csv`,
    configurationId: null,
    retry: { ...RETRY_DEFAULT, onVoicemail: true },
    maxConcurrency: 6,
    schedule: null,
    breaker: null,
    ratePerSecond: 1_000,
  });
  await store.contacts.add(id, rows(contacts));
  await at.sql("update campaigns set state = 'running' where id = $1", [id]);
  return id;
}

/** The last digits say who it is: of each four a person, a machine, a busy line, nobody. */
function pickUp(call: FakeCall): void {
  const kind = Number(call.to.slice(-4)) % 4;
  if (kind > 1) {
    call.refuse(kind === 2 ? 'busy' : 'no-answer');
    return;
  }
  if (kind === 1) call.answeredBy = 'machine_start';
  call.answer();
  if (kind === 0) void call.waitForSpeech().then(() => call.hangUp());
}

it('a campaign calls answered numbers once, and machines, busy and unanswered numbers as often as is set', async () => {
  const id = await campaignOf(CONTACTS);
  const counts = async () => (await at.store.contacts.counts([id])).get(id);
  let callsMax = 0;
  twilio.onOutboundCall((call) => {
    callsMax = Math.max(callsMax, twilio.calls.filter(({ isOver }) => !isOver).length);
    pickUp(call);
  });
  const until = (holds: () => Promise<void>) =>
    vi.waitFor(holds, { timeout: 20_000, interval: 30 });
  await dispatcher.start();
  await until(async () => {
    expect(await counts()).toMatchObject({ reached: 3, retriesPending: 9, inFlight: 0 });
  });
  expect(await counts()).toMatchObject({
    failed: 0,
    executed: 12,
    retriesBy: { busy: 3, no_answer: 3, voicemail: 3 },
  });
  at.clock.advance(120_000);
  await until(async () => {
    const campaign = await at.store.campaigns.get(at.owner.organizationId, id);
    expect(campaign?.state).toBe('completed');
  });
  expect(await counts()).toMatchObject({ reached: 3, failed: 9, executed: 21, attempts: 21 });
  expect(twilio.calls).toHaveLength(21);
  expect(callsMax).toBeLessThanOrEqual(6);
  const froms = CALLERS.map((caller) => twilio.calls.filter(({ from }) => from === caller).length);
  expect(Math.min(...froms)).toBeGreaterThanOrEqual(5);
  expect(at.lines().filter(({ level }) => level === 'error')).toEqual([]);
}, 60_000);
