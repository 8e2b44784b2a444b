// The demo's calls from beginning to end, as a client of the API holds them: set-up, following a call while
// it runs, fetching what it left. Used by the demo, which prints, and by the end-to-end tests, which do not.

import type { ProviderName } from '../../src/model/provider.ts';
import { ask } from '../fakes/asterisk/scenarios/ari-session.ts';
import { hostedRow } from '../fakes/hosted/hosted-rows.ts';
import { type ApiClient, download, type RunDetail } from './api-client.ts';
import { Conversation, type ConversationLine } from './conversation.ts';
import { machine } from './machine-pace.ts';
import type { CallEnded, ProviderLink } from './provider-link.ts';
import { inbound, OWN_NUMBER, outbound, type Scenario } from './scenario.ts';
import type { CallResult } from './verdict.ts';

const POLL_MS = 300;
/** From the configuration to the connection. */
const CONNECTION_MS_MAX = 30_000;
/** After the line is dead the gateway still writes the run's outcome. */
const COMPLETION_MS_MAX = 15_000;

export interface Agents {
  /** The Stasis application that was given to the configuration of an Asterisk; empty for others. */
  app: string;
  receiving: { id: string; uuid: string };
  calling: { id: string; uuid: string };
}

export interface CallMeans {
  api: ApiClient;
  provider: ProviderLink;
  agents: Agents;
  recogniser: boolean;
  model: boolean;
  /** Told what is said as it becomes known. */
  onLine: (line: ConversationLine) => void;
}

/** As any client would: a key, a configuration, two agents, a number. `apiUrl` is the provider's; that of an
 *  Asterisk brings the login. `number`: the one that is called. */
export async function setUp(
  api: ApiClient,
  apiUrl: string,
  provider: ProviderName = 'twilio',
  number = OWN_NUMBER,
): Promise<Agents> {
  await api.useOwnKey('Demo');
  const configuration =
    provider === 'ari' ? asterisk(apiUrl) : hostedRow(provider).configuration(apiUrl);
  const configurationId = await api.createConfiguration(`The demo's ${provider}`, configuration);
  const receiving = await api.createWorkflow(inbound.agentName, inbound.definition);
  const calling = await api.createWorkflow(outbound.agentName, outbound.definition);
  await api.addNumber(configurationId, {
    address: number,
    inbound_workflow_id: receiving.id,
    is_default_caller_id: true,
  });
  const app = provider === 'ari' ? await api.stasisApp(configurationId) : '';
  if (provider === 'ari') await untilConnected(apiUrl, app);
  return { app, receiving, calling };
}

/** Asterisk knows an application once the gateway has connected for it. */
async function untilConnected(url: string, app: string): Promise<void> {
  const { username: user, password, origin } = new URL(url);
  for (const wait = machine.wait(CONNECTION_MS_MAX); !wait.isOver; ) {
    const request = { method: 'GET', path: `applications/${app}` };
    if ((await ask({ url: origin, user, password }, request)).status === 200) return;
    await pause(POLL_MS);
  }
  throw new Error('The gateway has not connected to Asterisk in time');
}

/** Numbers are dialled into the context from which the people are rung. */
function asterisk(url: string): Record<string, unknown> {
  const { username, password, origin } = new URL(url);
  return {
    provider: 'ari',
    ari_endpoint: origin,
    app_name: username,
    app_password: password,
    dial_template: 'Local/{number}@pbx-in/n',
  };
}

export async function holdInbound(means: CallMeans): Promise<CallResult> {
  const call = means.provider.call('inbound', means.agents.app);
  return await follow(means, { scenario: inbound, workflowId: means.agents.receiving.id, call });
}

export async function holdOutbound(means: CallMeans): Promise<CallResult> {
  const call = means.provider.call('outbound');
  call.catch(() => undefined); // Met again by the follower, unless the start itself fails.
  await means.api.startCall(means.agents.calling.uuid, {
    phone_number: outbound.callerNumber,
    initial_context: outbound.initialContext,
  });
  return await follow(means, { scenario: outbound, workflowId: means.agents.calling.id, call });
}

async function follow(
  means: CallMeans,
  held: { scenario: Scenario; workflowId: string; call: Promise<CallEnded> },
): Promise<CallResult> {
  const { recogniser, model } = means;
  const { scenario } = held;
  const { run, ended } = await watch(means, held);
  const recording = await download(run.recording_url ?? missing('recording'));
  const transcript = await download(run.transcript_url ?? missing('transcript'));
  const caller = ended.facts;
  const { endedBy } = ended;
  const files = { recording, transcript: transcript.toString('utf8') };
  return { scenario, run, ...files, caller, endedBy, recogniser, model };
}

/** Tells what is said until the call is over and its run completed. */
async function watch(
  { api, onLine }: CallMeans,
  { workflowId, call }: { workflowId: string; call: Promise<CallEnded> },
): Promise<{ run: RunDetail; ended: CallEnded }> {
  const conversation = new Conversation();
  let ended: CallEnded | undefined;
  const over = call.then((end) => {
    ended = end;
  });
  for (let completion: ReturnType<typeof machine.wait> | undefined; !completion?.isOver; ) {
    await Promise.race([over, pause(POLL_MS)]);
    if (ended !== undefined) {
      completion ??= machine.wait(COMPLETION_MS_MAX);
      await pause(POLL_MS);
    }
    const [runId] = await api.runIds(workflowId);
    if (runId === undefined) continue;
    const run = await api.run(workflowId, runId);
    for (const line of conversation.take(run.logs?.realtime_feedback_events ?? [])) onLine(line);
    if (run.is_completed && ended !== undefined) return { run, ended };
  }
  throw new Error('The call is over, but its run was not completed in time');
}

async function pause(ms: number): Promise<void> {
  await new Promise((done) => setTimeout(done, ms));
}

function missing(what: string): never {
  throw new Error(`The run has no ${what}`);
}
