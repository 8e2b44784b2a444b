// The API to test with: on the embedded store, Twilio's provider against a REST server on loopback, and a
// call service that only records. Requests are injected.

import { afterAll, beforeAll, beforeEach } from 'vitest';
import { type AccessOptions, type ApiAccess, createAccess } from '../../src/api/auth/access.ts';
import type { Api } from '../../src/api/http/api-deps.ts';
import { EventStreams } from '../../src/api/http/event-streams.ts';
import { buildServer, type ServerDeps } from '../../src/api/server.ts';
import { textChatsOf } from '../../src/app/call-parts.ts';
import { RunClosing } from '../../src/call/end/closing/run-closing.ts';
import { EventLog } from '../../src/call/events/event-log.ts';
import { LiveWatchers } from '../../src/call/events/live-watchers.ts';
import { credentialHeadersFrom } from '../../src/call/session/dialogue/tool-request.ts';
import { ClipLibrary } from '../../src/call/start/setup/sound-library.ts';
import { createEgress } from '../../src/egress/egress-rule.ts';
import { createGuardedHttp } from '../../src/egress/guarded-http.ts';
import { type Clock, systemClock } from '../../src/std/clock.ts';
import { systemRandom } from '../../src/std/random.ts';
import { RecordingPeaks } from '../../src/store/files/recording-peaks.ts';
import { twilioProvider } from '../../src/telephony/twilio/provider.ts';
import { WorkflowGenerator } from '../../src/workflow/authoring/agent-writer.ts';
import { FakeCallService } from '../fakes/call/fake-call-service.ts';
import { FakeExaminations } from '../fakes/call/fake-examinations.ts';
import { openSignUpEgress } from '../fakes/egress.ts';
import { gatewayModel } from '../fakes/gateway-speech.ts';
import { type TestStore, withStore } from '../store/engines.ts';
import { type RestServer, startRestServer } from '../telephony/provider/rest-server.ts';

export const DEVOPS_SECRET = 'devops-secret-of-the-tests';
export const PUBLIC_URL = 'https://gw.example.com';
export const ACCOUNT = 'AC00000000000000000000000000000001';
export const AUTH_TOKEN = '0123456789abcdef0123456789abcdef';

type Method = 'GET' | 'POST' | 'PUT' | 'DELETE' | 'HEAD' | 'OPTIONS' | 'PATCH';

export interface Answer {
  status: number;
  headers: Record<string, unknown>;
  text: string;
  bytes: Buffer;
  /** The parsed body; what it holds is the test's claim. */
  // biome-ignore lint/suspicious/noExplicitAny: tests say what they expect of a body
  body: any;
}

export interface CallOptions {
  body?: unknown;
  headers?: Record<string, string>;
  /** Null sends no key. Default: the first key of the store. */
  key?: string | null;
}

export interface Served {
  api: Api;
  deps: ServerDeps;
  callService: FakeCallService;
  twilio: RestServer;
  test: TestStore;
  call(method: Method, path: string, options?: CallOptions): Promise<Answer>;
  /** `/api/v1` before the path, a 200 expected. */
  ok(method: Method, path: string, body?: unknown): Promise<Answer['body']>;
  /** Another organization, with a key. */
  stranger(): Promise<{ organizationId: string; userId: string; apiKey: string }>;
}

/** Passwords cost nothing, and all the bad keys of a test file are forgiven. */
export function testAccess(
  clock: Clock,
  tokenKeys: readonly Uint8Array[],
  more: Partial<AccessOptions> = {},
): ApiAccess {
  return createAccess({
    clock,
    random: systemRandom,
    isSignUpOpen: true,
    tokenKeys,
    tokenHours: 720,
    passwordCost: { log2N: 4, r: 1, p: 1 },
    badKeys: { attemptsMax: 100_000, windowMs: 60_000 },
    ...more,
  });
}

export function withApi(more: (test: TestStore) => Partial<ServerDeps> = () => ({})): Served {
  const test = withStore();
  const served = { test } as Served; // Filled before the first test.

  beforeAll(async () => {
    served.twilio = await startRestServer();
    const clock = { ...systemClock, now: () => test.clock.now() };
    const twilio = twilioProvider.create({ clock, deadlineMs: 500 });
    served.callService = new FakeCallService();
    const events = new EventLog({ sink: test.store.runs, clock: systemClock, log: test.log });
    served.deps = {
      store: test.store,
      files: test.store.files,
      links: test.store.links,
      peaks: new RecordingPeaks(test.store.files),
      access: testAccess(clock, test.store.tokenKeys),
      callService: served.callService,
      egress: createEgress(),
      examinations: new FakeExaminations(test.store),
      toolRequests: {
        outside: createGuardedHttp(openSignUpEgress()),
        credentialHeaders: credentialHeadersFrom(test.store),
        clock: systemClock,
      },
      streams: new EventStreams({
        places: test.store.places,
        clock: systemClock,
        live: new LiveWatchers(),
        lifeMs: 300,
      }),
      textChats: textChatsOf({
        store: test.store,
        events,
        closing: new RunClosing({
          store: test.store,
          files: test.store.files,
          events,
          clock,
          log: test.log,
        }),
        clock,
        random: systemRandom,
        log: test.log,
        models: gatewayModel(undefined),
        http: {
          outside: createGuardedHttp(openSignUpEgress()),
          credentialHeaders: credentialHeadersFrom(test.store),
        },
      }),
      sounds: new ClipLibrary({
        store: test.store,
        files: test.store.files,
        clock,
        log: test.log,
      }),
      writer: new WorkflowGenerator({ modelOf: () => Promise.resolve(undefined), clock }),
      log: test.log,
      clock,
      random: systemRandom,
      providerByName: (name) => (name === 'twilio' ? twilio : undefined),
      hostedProviders: [twilio],
      services: { llm: 'scripted', stt: null, tts: 'flite' },
      devopsSecret: DEVOPS_SECRET,
      pbxProviders: ['ari'],
      gatewayName: 'gw1',
      policy: 'scripted',
      publicUrl: PUBLIC_URL,
      version: '1.2.3',
      deploymentMode: 'oss',
      authProvider: 'local',
      trustedProxies: ['loopback'],
      corsOrigins: '*',
      ...more(test),
    };
    served.api = await buildServer(served.deps);
  }, 30_000);

  beforeEach(() => {
    served.callService.started.length = 0;
    served.callService.taken.length = 0;
    served.callService.refusal = undefined;
    served.twilio.asked.length = 0;
    served.twilio.answer = { status: 200, body: { incoming_phone_numbers: [] } };
  });

  afterAll(async () => {
    await served.api?.close();
    await served.twilio?.close();
  });

  served.call = async (method, path, { body, headers = {}, key = test.apiKey } = {}) => {
    const response = await served.api.inject({
      method,
      url: path,
      headers: { ...(key === null ? {} : { 'x-api-key': key }), ...headers },
      ...(body === undefined ? {} : { payload: asPayload(body) }),
    });
    const text = response.payload;
    const isJson = String(response.headers['content-type']).startsWith('application/json');
    return {
      status: response.statusCode,
      headers: response.headers,
      text,
      bytes: response.rawPayload,
      body: isJson && text !== '' ? JSON.parse(text) : undefined,
    };
  };
  served.ok = async (method, path, body) => {
    const answer = await served.call(method, `/api/v1${path}`, { body });
    if (answer.status !== 200)
      throw new Error(`${method} ${path}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  served.stranger = async () => {
    const [organization] = await test.sql(
      "insert into organizations (name, created_at) values ('Others', now()) returning id",
    );
    const organizationId = String(organization?.['id']);
    const [user] = await test.sql(
      "insert into users (organization_id, name, created_at) values ($1, 'Other', now()) returning id",
      [organizationId],
    );
    const owner = { organizationId, userId: String(user?.['id']) };
    const { apiKey } = await test.store.accounts.createApiKey(owner, 'other');
    return { ...owner, apiKey };
  };
  return served;
}

function asPayload(body: unknown): string | Buffer | object {
  if (typeof body === 'string' || Buffer.isBuffer(body)) return body;
  return body as object; // Arrays and objects are sent as JSON.
}

/** Twilio's answer to a search for a number of the account. */
export function ownedNumber(address: string, voiceUrl = '') {
  return {
    incoming_phone_numbers: [{ sid: 'PN01', phone_number: address, ['voice_url']: voiceUrl }],
  };
}

export const twilioConfig = (url: string) => ({
  provider: 'twilio',
  account_sid: ACCOUNT,
  auth_token: AUTH_TOKEN,
  api_base_url: url,
});

/** A whole conversation in two nodes. */
export const smallWorkflow = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: { name: 'Start', prompt: 'Greet the caller.', greeting: 'Hello.' },
    },
    {
      id: '2',
      type: 'endCall',
      position: { x: 0, y: 200 },
      data: { name: 'End', prompt: 'Say goodbye.' },
    },
  ],
  edges: [
    { id: '1-2', source: '1', target: '2', data: { label: 'Done', condition: 'All is said.' } },
  ],
};
