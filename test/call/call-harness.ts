// The call layer under test: call control, Twilio provider, store and files are the real ones;
// Twilio's REST interface is a server on loopback, time and the speech services are under the test's
// control.

import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, vi } from 'vitest';
import { type CallParts, createCallControl, withClosing } from '../../src/app/call-parts.ts';
import type { CallControl } from '../../src/call/call-control.ts';
import { EventLog } from '../../src/call/events/event-log.ts';
import type { StartCall, StartedCall, TestCall } from '../../src/call/start/setup/call-start.ts';
import { ClipLibrary } from '../../src/call/start/setup/sound-library.ts';
import { createGuardedHttp } from '../../src/egress/guarded-http.ts';
import type { CallEvent, CallEventBody } from '../../src/model/call-event.ts';
import type { Run } from '../../src/model/run.ts';
import type { PhoneNumber } from '../../src/model/telephony.ts';
import type { Workflow, WorkflowDefinition, WorkflowVersion } from '../../src/model/workflow.ts';
import { MediaClock } from '../../src/pipeline/media-clock.ts';
import type { SpeechPlan } from '../../src/speech/speech-plan.ts';
import { systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import type { Spool } from '../../src/store/files/file-store.ts';
import type { ConfigurationSummary } from '../../src/store/telephony/configurations.ts';
import { normalizeAddress } from '../../src/telephony/provider/phone-address.ts';
import type { ProviderRequest, WebhookReply } from '../../src/telephony/provider/provider.ts';
import { providersOf } from '../../src/telephony/registry/registry.ts';
import { twilioProvider } from '../../src/telephony/twilio/provider.ts';
import { webProvider } from '../../src/telephony/web/provider.ts';
import type { MediaPath } from '../../src/transport/media-token.ts';
import { FakePbx } from '../fakes/call/fake-pbx.ts';
import { type FakeClock, settle } from '../fakes/fake-clock.ts';
import { gatewaySpeech } from '../fakes/gateway-speech.ts';
import { mediaTokens } from '../fakes/media-tokens.ts';
import { FakeStt, FakeTts, loudnessVad } from '../fakes/speech-services.ts';
import { type TestStore, withStore } from '../store/engines.ts';
import { formPost } from '../telephony/provider/provider-request.ts';
import { type Asked, type RestServer, startRestServer } from '../telephony/provider/rest-server.ts';
import { agent, definition, edge, end, start } from '../workflow/definitions.ts';
import { Stream } from './stream.ts';

export const PUBLIC_URL = 'https://gw.example.com';
export const ACCOUNT = 'AC00000000000000000000000000000001';
export const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';
export const NUMBER = '+14155550101';
export const CALLER = '+14155550100';
export const CALL = 'CA00000000000000000000000000000001';
/** For what happens in real time: the database and the loopback server. */
const REAL_MS_MAX = 8_000;

export const GREETING = 'Hello. Tea or coffee?';
export const GOODBYE = 'Tea it is. Goodbye.';

/** One question, two ends. */
export const drinks = definition(
  [
    start('ask', {
      name: 'Ask',
      say: GREETING,
      reprompt: 'Please say tea or coffee.',
      extraction_enabled: true,
      extraction_variables: [{ name: 'drink', type: 'string', prompt: 'tea or coffee' }],
    }),
    end('tea', { name: 'Tea', say: GOODBYE }),
    end('coffee', { name: 'Coffee', say: 'Coffee it is. Goodbye.' }),
  ],
  [
    edge('ask', 'tea', { label: 'Tea', phrases: ['tea'], dtmf: '1', slot: 'drink' }),
    edge('ask', 'coffee', { label: 'Coffee', phrases: ['coffee'], dtmf: '2', slot: 'drink' }),
  ],
);

/** A conversation that does not end by itself. */
export const chat = definition(
  [
    start('talk', { name: 'Talk', greeting: 'Hello, how can I help?' }),
    agent('more', { name: 'More' }),
    end('bye', { name: 'Bye' }),
  ],
  [
    edge('talk', 'more', { label: 'Go on' }),
    edge('talk', 'bye', { label: 'Finish' }),
    edge('more', 'bye', { label: 'Finish' }),
  ],
);

export class CallHarness {
  readonly clock: FakeClock;
  readonly stt: FakeStt;
  readonly tts: FakeTts;
  readonly at: TestStore;
  readonly rest: RestServer;
  /** Store and files are copies: a test may break a part of them. */
  readonly deps: CallParts;
  readonly callControl: CallControl;
  readonly streams: Stream[] = [];
  /** The provider `ari`. */
  readonly pbx: FakePbx;
  configuration!: ConfigurationSummary;
  number!: PhoneNumber;
  /** Speech services of every call; a test may change them before the call. */
  readonly speech: SpeechPlan;
  readonly #linesBefore: number;
  workflow!: Workflow;
  version!: WorkflowVersion;

  /** Without `load` calls are taken whatever it is. `label`: of its gateway. */
  constructor(at: TestStore, rest: RestServer, load?: CallParts['load'], label = 'gw1') {
    this.at = at;
    this.rest = rest;
    this.clock = at.clock;
    this.#linesBefore = at.lines().length;
    this.stt = new FakeStt(this.clock);
    this.tts = new FakeTts(this.clock);
    this.tts.msPerCharacter = 30;
    this.speech = { stt: this.stt, tts: this.tts, voice: undefined, llm: undefined };
    const { clock } = this;
    this.pbx = new FakePbx(this.clock, (callId) => this.#stream({ callId }));
    const { log } = at;
    const store = { ...at.store, runs: { ...at.store.runs } };
    const files = breakable(at.store.spool);
    this.deps = withClosing({
      store,
      files,
      providers: providersOf([
        twilioProvider.create({ clock: systemClock }),
        this.pbx,
        webProvider.create(),
      ]),
      events: new EventLog({ sink: store.runs, clock, log }),
      clock,
      random: systemRandom,
      log,
      services: {
        mediaClock: new MediaClock(clock),
        vad: loudnessVad(),
        speech: gatewaySpeech(this.speech),
      },
      sounds: new ClipLibrary({ store, files, clock, log }),
      tokens: mediaTokens({ clock, label }),
      gatewayLabel: label,
      http: {
        outside: loopback,
        credentialHeaders: () => Promise.resolve({ ['X-Key']: 'of the credential' }),
      },
      publicUrl: PUBLIC_URL,
      load,
    });
    this.callControl = createCallControl(this.deps);
    rest.asked.length = 0;
    rest.answer = twilioAnswers;
  }

  /** A configuration, its number and the agent that answers it. */
  async prepare(content: WorkflowDefinition = drinks, settings = {}): Promise<this> {
    const { store, owner } = this.at;
    const made = await store.workflows.create(owner, {
      name: 'Drinks',
      triggerPaths: [],
      definition: content,
      configurations: settings,
      templateContextVariables: {},
    });
    this.workflow = made.workflow;
    this.version = made.version;
    this.configuration = await this.configure('Main');
    this.number = await this.addNumber(NUMBER, { inboundWorkflowId: this.workflow.id });
    return this;
  }

  configure(name: string, more: { accountId?: string } = {}): Promise<ConfigurationSummary> {
    const accountId = more.accountId ?? ACCOUNT;
    const { url } = this.rest;
    return this.at.store.telephony.createConfiguration(this.at.owner.organizationId, {
      name,
      provider: 'twilio',
      isDefaultOutbound: false,
      credentials: {
        provider: 'twilio',
        account_sid: accountId,
        auth_token: AUTH_TOKEN,
        amd_enabled: false,
        api_base_url: url,
      },
      accountId,
      secretFields: ['account_sid', 'auth_token'],
    });
  }

  addNumber(
    address: string,
    more: {
      configurationId?: string;
      inboundWorkflowId?: string | null;
      countryCode?: string;
      isActive?: boolean;
      isDefaultCallerId?: boolean;
    } = {},
  ): Promise<PhoneNumber> {
    const countryCode = more.countryCode ?? null;
    const normal = normalizeAddress(address, countryCode);
    if (normal === undefined) throw new Error('no address');
    const { organizationId } = this.at.owner;
    const configurationId = more.configurationId ?? this.configuration.id;
    return this.at.store.telephony.createNumber(organizationId, configurationId, {
      address,
      addressNormalized: normal.normalized,
      addressType: normal.type,
      countryCode,
      label: null,
      inboundWorkflowId: more.inboundWorkflowId ?? null,
      isActive: more.isActive ?? true,
      isDefaultCallerId: more.isDefaultCallerId ?? false,
      extraMetadata: {},
    });
  }

  // What Twilio asks.

  /** The webhook of an inbound call; `form` replaces fields of it. */
  ring(form = ''): Promise<WebhookReply> {
    return this.callControl.inbound(inboundRequest(form), null);
  }

  /** The answer URL of an outbound call. */
  pickUp(runId: string, callId = CALL): Promise<WebhookReply> {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/answer/${runId}`;
    const form = `CallSid=${callId}&AccountSid=${ACCOUNT}&CallStatus=in-progress`;
    return this.callControl.answer('twilio', runId, signed(url, form));
  }

  /** A status callback; `form` adds to it. */
  status(runId: string, form: string, callId = CALL): Promise<WebhookReply> {
    const url = `${PUBLIC_URL}/api/v1/telephony/twilio/status-callback/${runId}`;
    const request = signed(url, `CallSid=${callId}&AccountSid=${ACCOUNT}&${form}`);
    return this.callControl.event('twilio', runId, request);
  }

  /** Opens the socket that an answer names. Throws with the close code if it is refused. */
  async connect(reply: WebhookReply, options: { oneWayMs?: number } = {}): Promise<Stream> {
    return this.connectTo(mediaUrlIn(reply), options);
  }

  async connectTo(
    url: string,
    options: { oneWayMs?: number; callId?: string; headers?: Record<string, string> } = {},
  ): Promise<Stream> {
    const signature = { ['x-twilio-signature']: signatureOf(url) };
    const admission = await this.callControl.admit(pathOf(url), options.headers ?? signature);
    if ('refuse' in admission) throw new Error(String(admission.refuse));
    const stream = this.#stream(options);
    stream.listen(admission.accept(stream));
    return stream;
  }

  #stream({ callId = CALL, oneWayMs = 0 }: { callId?: string; oneWayMs?: number }): Stream {
    const stream = new Stream({ clock: this.clock, callId, oneWayMs });
    this.streams.push(stream);
    return stream;
  }

  /** An inbound call whose media flows. */
  async inboundCall(
    options: { oneWayMs?: number; callId?: string } = {},
  ): Promise<{ stream: Stream; run: Run }> {
    const { callId = CALL, oneWayMs = 0 } = options;
    const url = mediaUrlIn(await this.ring(`CallSid=${callId}`));
    const stream = await this.connectTo(url, { oneWayMs, callId });
    stream.start();
    await settle();
    return { stream, run: await this.run(pathOf(url).runId) };
  }

  start(more: Partial<StartCall> = {}): Promise<{ runId: string; runName: string }> {
    return this.callControl.start({
      organizationId: this.at.owner.organizationId,
      apiKeyId: '7',
      apiKeyCreatedBy: '1',
      agent: { type: 'workflow_uuid', identifier: this.workflow.uuid },
      mode: 'production',
      phoneNumber: CALLER,
      initialContext: {},
      configurationId: null,
      fromPhoneNumberId: null,
      idempotencyKey: null,
      ...more,
    });
  }

  startTest(more: Partial<TestCall> = {}): Promise<StartedCall> {
    return this.callControl.startTest({
      organizationId: this.at.owner.organizationId,
      apiKeyId: '7',
      apiKeyCreatedBy: '1',
      workflowId: this.workflow.id,
      runId: null,
      phoneNumber: CALLER,
      configurationId: null,
      fromPhoneNumberId: null,
      idempotencyKey: null,
      ...more,
    });
  }

  // Time.

  /** Time passes, the callers' frames come in. */
  async pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 20) {
      this.clock.advance(20);
      for (const stream of this.streams) stream.frame();
      await settle();
    }
  }

  /** Time passes until `condition`; a test that waits for ever fails. */
  async passUntil(condition: () => boolean, msMax = 30_000): Promise<void> {
    for (let passed = 0; passed < msMax && !condition(); passed += 20) await this.pass(20);
    expect(condition()).toBe(true);
  }

  /** The agent speaks, and has said everything that it has to say. */
  async heardOut(stream: Stream): Promise<void> {
    let quiet = 0;
    await this.passUntil(() => stream.frames > stream.framesAwaited);
    await this.passUntil(() => {
      stream.framesAwaited = stream.frames;
      const { marksPending } = stream.farEnd;
      quiet = marksPending.length === 0 && this.isSilent(stream) ? quiet + 20 : 0;
      return quiet >= 200 || stream.closed !== undefined;
    });
  }

  isSilent({ farEnd }: Stream): boolean {
    return farEnd.silentSince(Number.POSITIVE_INFINITY) <= this.clock.monotonicMs();
  }

  /** The caller says something: the words come while they speak. */
  async says(stream: Stream, text: string, ms = 600): Promise<void> {
    stream.line = 'voice';
    await this.pass(ms / 2);
    this.stt.understand(text);
    await this.pass(ms / 2);
    stream.line = 'silence';
  }

  /** What needs the database or the loopback server comes true without time passing. */
  async until(condition: () => boolean | Promise<boolean>): Promise<void> {
    await vi.waitFor(async () => expect(await condition()).toBe(true), {
      interval: 5,
      timeout: REAL_MS_MAX,
    });
  }

  /** Time passes until `condition`, which needs the database or the loopback server as well. */
  passThrough(condition: () => boolean | Promise<boolean>): Promise<void> {
    return this.until(async () => {
      if (await condition()) return true;
      await this.pass(500);
      return condition();
    });
  }

  /** Closing what is left open takes no time on the fake clock. */
  async ended(run: { id: string }): Promise<Run> {
    await this.completed(run);
    await this.until(() => this.callControl.activeCalls === 0);
    return this.run(run.id);
  }

  /** While other calls may go on. */
  async completed(run: { id: string }): Promise<Run> {
    await this.until(async () => (await this.run(run.id)).state === 'completed');
    return this.run(run.id);
  }

  // What came of it.

  async run(id: string): Promise<Run> {
    const run = await this.at.store.runs.find(id);
    if (run === undefined) throw new Error('no such run');
    return run;
  }

  async runs(): Promise<Run[]> {
    const { store } = this.at;
    const page = { filter: {}, descending: false, limit: 100, offset: 0 };
    const { id: workflowId, organizationId } = this.workflow;
    const scope = { organizationId, workflowId };
    const { runs } = await store.runs.list(scope, { ...page, sortBy: 'created_at' });
    // A list leaves out what is long.
    const whole = await Promise.all(runs.map(({ id }) => store.runs.find(id)));
    return whole.filter((run) => run !== undefined);
  }

  async events(run: { id: string }): Promise<CallEvent[]> {
    await this.deps.events.flush();
    return this.at.store.runs.events(run.id);
  }

  async bodies<T extends CallEventBody['type']>(
    run: { id: string },
    type: T,
  ): Promise<Extract<CallEventBody, { type: T }>[]> {
    const bodies = (await this.events(run)).map(({ body }) => body);
    return bodies.filter((body): body is Extract<CallEventBody, { type: T }> => body.type === type);
  }

  async transcript(run: Run): Promise<string[]> {
    if (run.transcriptKey === null) return [];
    const text = (await this.deps.files.readAll(run.transcriptKey)).toString();
    return text.split('\n').flatMap((line) => (line === '' ? [] : [line.replace(/^\[.*?\] /, '')]));
  }

  get hangUps(): Asked[] {
    return this.rest.asked.filter(({ body }) => body === 'Status=completed');
  }

  get dials(): Asked[] {
    return this.rest.asked.filter(({ path }) => path.endsWith('/Calls.json'));
  }

  /** This test's log lines at `error`. */
  get errors(): Record<string, unknown>[] {
    return this.lines.filter(({ level }) => level === 'error');
  }

  get lines(): Record<string, unknown>[] {
    return this.at.lines().slice(this.#linesBefore);
  }

  close(): void {
    for (const stream of this.streams) stream.lose();
    this.deps.services.mediaClock.close();
  }
}

function breakable(files: Spool): Spool {
  return {
    create: (key, from) => files.create(key, from),
    write: (key, bytes) => files.write(key, bytes),
    receive: (key, source, bytesMax) => files.receive(key, source, bytesMax),
    stat: (key) => files.stat(key),
    read: (key, range) => files.read(key, range),
    readAll: (key) => files.readAll(key),
    remove: (key) => files.remove(key),
  };
}

/** Tests' receivers are on loopback. */
const loopback = createGuardedHttp();

/** A room per test; store and server per file. */
export function withCallHarness(load?: CallParts['load']): { harness: CallHarness } {
  const at = withStore('embedded');
  const held = {} as { harness: CallHarness }; // Filled before each test.
  let rest: RestServer;
  beforeAll(async () => {
    rest = await startRestServer();
  });
  beforeEach(() => {
    held.harness = new CallHarness(at, rest, load);
  });
  afterEach(async () => {
    held.harness.close();
    await held.harness.callControl.pbxLines.stop();
    await held.harness.until(() => held.harness.callControl.activeCalls === 0);
    await held.harness.deps.events.flush();
  });
  afterAll(() => rest.close());
  return held;
}

const INBOUND_URL = `${PUBLIC_URL}/api/v1/telephony/inbound/run`;
const INBOUND = `CallSid=${CALL}&AccountSid=${ACCOUNT}&From=%2B14155550100&To=%2B14155550101&CallStatus=ringing&Direction=inbound&ApiVersion=2010-04-01`;

/** `form` replaces fields of a call from CALLER to NUMBER. */
export function inboundRequest(form = '', token = AUTH_TOKEN): ProviderRequest {
  const fields = new URLSearchParams(INBOUND);
  for (const [name, value] of new URLSearchParams(form)) fields.set(name, value);
  return signed(INBOUND_URL, fields.toString(), token);
}

/** A form as Twilio posts it. */
export function signed(url: string, form: string, token = AUTH_TOKEN): ProviderRequest {
  return formPost(url, form, {
    ['x-twilio-signature']: signatureOf(url, form, token),
    ['user-agent']: 'TwilioProxy/1.1',
  });
}

export function signatureOf(url: string, form = '', token = AUTH_TOKEN): string {
  const fields = [...new URLSearchParams(form)].sort(([a], [b]) => (a < b ? -1 : 1));
  const text = fields.reduce((all, [name, value]) => all + name + value, url);
  return createHmac('sha1', token).update(text).digest('base64');
}

export function mediaUrlIn({ body }: WebhookReply): string {
  const url = /<Stream url="([^"]+)"/.exec(body)?.[1];
  if (url === undefined) throw new Error(`no stream in ${body}`);
  return url;
}

export function pathOf(url: string): MediaPath {
  const parts = new URL(url).pathname.split('/').slice(5);
  const [workflowId = '', organizationId = '', runId = '', token = ''] = parts;
  return { workflowId, organizationId, runId, token };
}

export function twilioAnswers(asked: Asked): { status: number; body: unknown } {
  if (asked.path.endsWith('/Calls.json')) {
    return { status: 201, body: { sid: CALL, status: 'queued' } };
  }
  return { status: 200, body: { sid: CALL, status: 'completed', duration: '3' } };
}
