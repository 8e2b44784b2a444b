// The public HTTP API as a client sees it: only what the demo and the measurements need, answers checked.

import { z } from 'zod';
import { apiRequest } from './api-request.ts';
import { machine } from './machine-pace.ts';

const REQUEST_MS_MAX = 15_000;
/** The gateway's own limit is 55 s. */
const EXAMINATION_MS_MAX = 60_000;
const RUNS_PAGE = 100;

const id = z.string().regex(/^\d+$/);

const runItem = z.object({
  type: z.string(),
  timestamp: z.string(),
  node_name: z.string().optional(),
  payload: z.record(z.string(), z.unknown()),
});
export type RunItem = z.infer<typeof runItem>;

const run = z.object({
  id,
  name: z.string(),
  is_completed: z.boolean(),
  call_type: z.enum(['inbound', 'outbound']),
  state: z.string(),
  duration: z.number().nullish(),
  ended_at: z.string().nullish(),
  disposition: z.string().nullish(),
  recording_url: z.string().nullish(),
  transcript_url: z.string().nullish(),
  gathered_context: z.record(z.string(), z.unknown()).nullish(),
  logs: z.object({ realtime_feedback_events: z.array(runItem).default([]) }).nullish(),
});
export type RunDetail = z.infer<typeof run>;

const runList = z.object({ runs: z.array(z.object({ id })), total_count: z.int() });
const workflow = z.object({ id, workflow_uuid: z.string().nullish() });
const withId = z.object({ id });
const configuration = z.object({ id, supports_trunks: z.boolean().default(false) });
const asteriskConfiguration = z.object({
  credentials: z.object({ stasis_app_name: z.string() }),
});
const reach = z.object({ inactive: z.boolean(), inactive_reason: z.string().nullable() });
const started = z.object({ workflow_run_id: id, workflow_run_name: z.string() });
const newKey = z.object({ id, api_key: z.string() });
const newTool = z.object({ tool_uuid: z.string() });
const examination = z.object({
  findings: z.array(
    z.object({
      title: z.string(),
      verdict: z.enum(['pass', 'warn', 'fail', 'skip']),
      message: z.string(),
      advice: z.string().nullable(),
    }),
  ),
});
export type Examination = z.infer<typeof examination>;
const uploads = z.object({
  items: z.tuple([z.object({ upload_url: z.string(), storage_key: z.string() })]),
});
const recordings = z.object({ recordings: z.tuple([withId]) });

export class ApiClient {
  readonly #base: string;
  #key: string;

  constructor(url: string, apiKey: string) {
    this.#base = `${url}/api/v1`;
    this.#key = apiKey;
  }

  /** Makes a key of its own and goes on with it. */
  async useOwnKey(name: string): Promise<void> {
    this.#key = newKey.parse(await this.#ask('POST', '/user/api-keys', { name })).api_key;
  }

  /** Sets the services of the organization's calls. */
  async useSpeech(pipeline: { stt: object; tts: object; llm?: object }): Promise<void> {
    const body = { version: 2, mode: 'byok', byok: { mode: 'pipeline', pipeline } };
    await this.#ask('PUT', '/organizations/model-configurations/v2', body);
  }

  async createConfiguration(
    name: string,
    config: Record<string, unknown>,
    isDefault = true,
  ): Promise<string> {
    const body = { name, is_default_outbound: isDefault, config };
    const root = '/organizations/telephony-configs';
    const made = configuration.parse(await this.#ask('POST', root, body));
    if (made.supports_trunks) {
      await this.#ask('POST', `${root}/${made.id}/trunks`, { name: 'main' });
    }
    return made.id;
  }

  /** Fields that are left out keep their values. */
  async updateConfiguration(id: string, config: Record<string, unknown>): Promise<void> {
    await this.#ask('PUT', `/organizations/telephony-configs/${id}`, { config });
  }

  /** The Stasis application that the gateway has given to an Asterisk's configuration. */
  async stasisApp(configurationId: string): Promise<string> {
    const path = `/organizations/telephony-configs/${configurationId}`;
    return asteriskConfiguration.parse(await this.#ask('GET', path)).credentials.stasis_app_name;
  }

  /** Why a PBX cannot be reached; null while nothing is wrong with it. */
  async inactiveReason(configurationId: string): Promise<string | null> {
    const path = `/organizations/telephony-configs/${configurationId}`;
    const { inactive, inactive_reason: reason } = reach.parse(await this.#ask('GET', path));
    return inactive ? (reason ?? '') : null;
  }

  /** What the doctor finds. */
  async examine(
    configurationId: string,
    wishes: { call_numbers?: boolean; context?: string } = {},
  ): Promise<Examination['findings']> {
    const path = `/organizations/telephony-configs/${configurationId}/examine`;
    const answer = await this.#ask('POST', path, wishes, EXAMINATION_MS_MAX);
    return examination.parse(answer).findings;
  }

  async removeConfiguration(id: string, numberIds: readonly string[]): Promise<void> {
    const path = `/organizations/telephony-configs/${id}`;
    for (const number of numberIds) await this.#ask('DELETE', `${path}/phone-numbers/${number}`);
    await this.#ask('DELETE', path);
  }

  async addNumber(configurationId: string, number: Record<string, unknown>): Promise<string> {
    const path = `/organizations/telephony-configs/${configurationId}/phone-numbers`;
    return withId.parse(await this.#ask('POST', path, number)).id;
  }

  async createWorkflow(name: string, definition: unknown): Promise<{ id: string; uuid: string }> {
    const body = { name, workflow_definition: definition };
    const created = workflow.parse(await this.#ask('POST', '/workflow/create/definition', body));
    const fetched = workflow.parse(await this.#ask('GET', `/workflow/fetch/${created.id}`));
    return { id: created.id, uuid: z.string().parse(fetched.workflow_uuid) };
  }

  /** Settings of an agent's calls, in its published version. */
  async configureWorkflow(workflowId: string, settings: Record<string, unknown>): Promise<void> {
    await this.#ask('PUT', `/workflow/${workflowId}`, { workflow_configurations: settings });
    await this.#ask('POST', `/workflow/${workflowId}/publish`, {});
  }

  /** The uuid by which nodes name the tool. */
  async createTool(tool: {
    name: string;
    description: string;
    definition: { type: string; config: Record<string, unknown> };
  }): Promise<string> {
    return newTool.parse(await this.#ask('POST', '/tools/', tool)).tool_uuid;
  }

  /** Sends digits to the far end of a call. */
  async sendDigits(workflowId: string, runId: string, digits: string): Promise<void> {
    await this.#ask('POST', `/workflow/${workflowId}/runs/${runId}/digits`, { digits });
  }

  /** The id of a recording of the library, made of a WAV file. */
  async addRecording(name: string, wav: Buffer, transcript: string): Promise<string> {
    const files = [{ filename: `${name}.wav`, file_size: wav.length }];
    const answer = await this.#ask('POST', '/workflow-recordings/upload-url', { files });
    const [{ upload_url: url, storage_key: key }] = uploads.parse(answer).items;
    const sent = await fetch(url, {
      method: 'PUT',
      headers: { 'Content-Type': 'audio/wav' },
      body: new Uint8Array(wav),
      signal: AbortSignal.timeout(machine.scaled(REQUEST_MS_MAX)),
    });
    if (!sent.ok) throw new Error(`PUT ${url}: ${sent.status} ${await sent.text()}`);
    const recording = { recording_id: name, transcript, storage_key: key };
    const body = { recordings: [recording] };
    return recordings.parse(await this.#ask('POST', '/workflow-recordings/', body)).recordings[0]
      .id;
  }

  /** The id of the run that was started. */
  async startCall(uuid: string, body: Record<string, unknown>): Promise<string> {
    const answer = await this.#ask('POST', `/public/agent/workflow/${uuid}`, body);
    return started.parse(answer).workflow_run_id;
  }

  async runIds(workflowId: string): Promise<string[]> {
    return runList
      .parse(await this.#ask('GET', `/workflow/${workflowId}/runs`))
      .runs.map((each) => each.id);
  }

  /** All runs of an agent. */
  async allRunIds(workflowId: string): Promise<string[]> {
    const ids = new Set<string>();
    for (let page = 1; ; page++) {
      const query = `limit=${RUNS_PAGE}&page=${page}`;
      const answer = runList.parse(await this.#ask('GET', `/workflow/${workflowId}/runs?${query}`));
      for (const each of answer.runs) ids.add(each.id);
      if (answer.runs.length === 0 || ids.size >= answer.total_count) return [...ids];
    }
  }

  /** Takes back what was made: numbers, configurations and recordings are gone, an agent is archived. */
  async remove(made: {
    configurationId: string;
    numberId: string;
    recordings: readonly string[];
    workflowId: string;
  }): Promise<void> {
    await this.removeConfiguration(made.configurationId, [made.numberId]);
    await this.#ask('PUT', `/workflow/${made.workflowId}/status`, { status: 'archived' });
    for (const name of made.recordings) await this.#ask('DELETE', `/workflow-recordings/${name}`);
  }

  /** How many runs an agent has, all or those that are over. */
  async countRuns(workflowId: string, completed: boolean): Promise<number> {
    const filters = JSON.stringify([
      { attribute: 'status', type: 'radio', value: { status: 'completed' } },
    ]);
    const query = `limit=1${completed ? `&filters=${encodeURIComponent(filters)}` : ''}`;
    const answer = await this.#ask('GET', `/workflow/${workflowId}/runs?${query}`);
    return runList.parse(answer).total_count;
  }

  async run(workflowId: string, runId: string): Promise<RunDetail> {
    return run.parse(await this.#ask('GET', `/workflow/${workflowId}/runs/${runId}`));
  }

  #ask(method: string, path: string, body?: unknown, msMax = REQUEST_MS_MAX): Promise<unknown> {
    const access = { base: this.#base, apiKey: this.#key, msMax: machine.scaled(msMax) };
    return apiRequest(access, method, path, body);
  }
}

/** A file behind a URL that works as it is. */
export async function download(url: string): Promise<Buffer> {
  const response = await fetch(url, {
    signal: AbortSignal.timeout(machine.scaled(REQUEST_MS_MAX)),
  });
  if (!response.ok) throw new Error(`GET ${url}: ${response.status}`);
  return Buffer.from(await response.arrayBuffer());
}
