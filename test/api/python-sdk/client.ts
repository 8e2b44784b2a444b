// The Python SDK as the requests that it sends, and its models over what comes back: what it would refuse is
// an error here. Its builder of workflows is that of the TypeScript SDK (npm @dograh/sdk), which checks the
// same by the same rules. Methods have the TypeScript SDK's names, so that a test can use either.
// Source: see values.ts.

import { ApiError, SpecMismatchError, Workflow } from '@dograh/sdk';
import type { z } from 'zod';
import {
  campaignProgressResponse,
  campaignResponse,
  campaignsResponse,
  createCampaignRequest,
} from './campaigns.ts';
import { nodeSpec, nodeTypesResponse } from './node-types.ts';
import {
  createToolRequest,
  credentialResponse,
  documentListResponse,
  recordingListResponse,
  toolResponse,
  updateToolRequest,
} from './tools.ts';
import { anyObject } from './values.ts';
import {
  createFolderRequest,
  createWorkflowRequest,
  folderResponse,
  initiateCallRequest,
  runResponse,
  runsResponse,
  updateWorkflowRequest,
  validateWorkflowResponse,
  versionSummaryResponse,
  workflowListResponse,
  workflowResponse,
} from './workflows.ts';

const DEADLINE_MS = 10_000;

interface Asked<S extends z.ZodType> {
  /** Schema of the answer. */
  model: S;
  json?: unknown;
  params?: Record<string, string | number | undefined>;
}

interface Body<S extends z.ZodType> {
  body: z.input<S>;
}

type NodeSpec = Awaited<
  ReturnType<ConstructorParameters<typeof Workflow>[0]['client']['getNodeType']>
>;

export class PythonSdk {
  readonly #url: string;
  readonly #apiKey: string | undefined;
  readonly #specs = new Map<string, NodeSpec>();

  constructor({
    baseUrl = process.env['DOGRAH_API_URL'] ?? 'http://localhost:8000',
    apiKey = process.env['DOGRAH_API_KEY'],
  }: {
    baseUrl?: string;
    apiKey?: string | undefined;
  } = {}) {
    this.#url = `${baseUrl.replace(/\/+$/, '')}/api/v1`;
    this.#apiKey = apiKey;
  }

  async listNodeTypes() {
    const listed = await this.#ask('GET', '/node-types', { model: nodeTypesResponse });
    for (const spec of listed.node_types) this.#specs.set(spec.name, spec as NodeSpec);
    return listed;
  }

  async getNodeType(name: string): Promise<NodeSpec> {
    const known = this.#specs.get(name);
    if (known !== undefined) return known;
    const spec = (await this.#specOf(name)) as NodeSpec;
    this.#specs.set(name, spec);
    return spec;
  }

  async #specOf(name: string) {
    try {
      return await this.#ask('GET', `/node-types/${name}`, { model: nodeSpec });
    } catch (error) {
      if (!(error instanceof ApiError) || error.statusCode !== 404) throw error;
      throw new SpecMismatchError(`Unknown node type: '${name}'`);
    }
  }

  createWorkflow({ body }: Body<typeof createWorkflowRequest>) {
    const json = createWorkflowRequest.parse(body);
    return this.#ask('POST', '/workflow/create/definition', { json, model: workflowResponse });
  }

  getWorkflow(id: number) {
    return this.#ask('GET', `/workflow/fetch/${id}`, { model: workflowResponse });
  }

  listWorkflows({ status }: { status?: string } = {}) {
    const model = workflowListResponse.array();
    return this.#ask('GET', '/workflow/fetch', { params: { status }, model });
  }

  updateWorkflow(id: number, { body }: Body<typeof updateWorkflowRequest>) {
    const json = updateWorkflowRequest.parse(body);
    return this.#ask('PUT', `/workflow/${id}`, { json, model: workflowResponse });
  }

  async loadWorkflow(id: number): Promise<Workflow> {
    const { name, workflow_definition: definition } = await this.getWorkflow(id);
    if (Object.keys(definition).length === 0) throw new Error(`Workflow ${id} has no definition`);
    return Workflow.fromJson(definition, { client: this, name });
  }

  saveWorkflow(id: number, workflow: Workflow) {
    const body = { name: workflow.name, workflow_definition: { ...workflow.toJson() } };
    return this.updateWorkflow(id, { body });
  }

  validateWorkflow(id: number) {
    return this.#ask('POST', `/workflow/${id}/validate`, { model: validateWorkflowResponse });
  }

  publishWorkflow(id: number) {
    return this.#ask('POST', `/workflow/${id}/publish`, { model: versionSummaryResponse });
  }

  listWorkflowRuns(id: number, { page, limit, filters, sortBy, sortOrder }: RunsQuery = {}) {
    const params = { page, limit, filters, sort_by: sortBy, sort_order: sortOrder };
    return this.#ask('GET', `/workflow/${id}/runs`, { params, model: runsResponse });
  }

  getWorkflowRun(id: number, runId: number) {
    return this.#ask('GET', `/workflow/${id}/runs/${runId}`, { model: runResponse });
  }

  listFolders() {
    return this.#ask('GET', '/folder/', { model: folderResponse.array() });
  }

  createFolder({ body }: Body<typeof createFolderRequest>) {
    const json = createFolderRequest.parse(body);
    return this.#ask('POST', '/folder/', { json, model: folderResponse });
  }

  testPhoneCall({ body }: Body<typeof initiateCallRequest>) {
    const json = initiateCallRequest.parse(body);
    return this.#ask('POST', '/telephony/initiate-call', { json, model: anyObject });
  }

  createTool({ body }: Body<typeof createToolRequest>) {
    const json = createToolRequest.parse(body);
    return this.#ask('POST', '/tools/', { json, model: toolResponse });
  }

  getTool(uuid: string) {
    return this.#ask('GET', `/tools/${uuid}`, { model: toolResponse });
  }

  updateTool(uuid: string, { body }: Body<typeof updateToolRequest>) {
    const json = updateToolRequest.parse(body);
    return this.#ask('PUT', `/tools/${uuid}`, { json, model: toolResponse });
  }

  deleteTool(uuid: string) {
    return this.#ask('DELETE', `/tools/${uuid}`, { model: anyObject });
  }

  listTools(params: { status?: string; category?: string } = {}) {
    return this.#ask('GET', '/tools/', { params, model: toolResponse.array() });
  }

  listCredentials() {
    return this.#ask('GET', '/credentials/', { model: credentialResponse.array() });
  }

  listDocuments(params: { status?: string; limit?: number; offset?: number } = {}) {
    return this.#ask('GET', '/knowledge-base/documents', { params, model: documentListResponse });
  }

  listRecordings({ workflowId, ttsProvider }: { workflowId?: number; ttsProvider?: string } = {}) {
    const params = { workflow_id: workflowId, tts_provider: ttsProvider };
    return this.#ask('GET', '/workflow-recordings/', { params, model: recordingListResponse });
  }

  listCampaigns() {
    return this.#ask('GET', '/campaign/', { model: campaignsResponse });
  }

  createCampaign({ body }: Body<typeof createCampaignRequest>) {
    const json = createCampaignRequest.parse(body);
    return this.#ask('POST', '/campaign/create', { json, model: campaignResponse });
  }

  getCampaign(id: number) {
    return this.#ask('GET', `/campaign/${id}`, { model: campaignResponse });
  }

  getCampaignProgress(id: number) {
    return this.#ask('GET', `/campaign/${id}/progress`, { model: campaignProgressResponse });
  }

  startCampaign(id: number) {
    return this.#ask('POST', `/campaign/${id}/start`, { model: campaignResponse });
  }

  pauseCampaign(id: number) {
    return this.#ask('POST', `/campaign/${id}/pause`, { model: campaignResponse });
  }

  resumeCampaign(id: number) {
    return this.#ask('POST', `/campaign/${id}/resume`, { model: campaignResponse });
  }

  async #ask<S extends z.ZodType>(
    method: string,
    path: string,
    { model, json, params = {} }: Asked<S>,
  ): Promise<z.output<S>> {
    const url = new URL(`${this.#url}${path}`);
    for (const [name, value] of Object.entries(params)) {
      if (value !== undefined) url.searchParams.set(name, String(value));
    }
    const answer = await fetch(url, {
      method,
      headers: {
        accept: 'application/json',
        ...(this.#apiKey === undefined ? {} : { 'x-api-key': this.#apiKey }),
        ...(json === undefined ? {} : { 'content-type': 'application/json' }),
      },
      signal: AbortSignal.timeout(DEADLINE_MS),
      ...(json === undefined ? {} : { body: JSON.stringify(json) }),
    });
    const body: unknown = await answer.json();
    if (answer.ok) return model.parse(body);
    const { detail, message } = anyObject.parse(body);
    throw new ApiError(answer.status, String(detail ?? message), body);
  }
}

export interface RunsQuery {
  page?: number;
  limit?: number;
  filters?: string;
  sortBy?: string;
  sortOrder?: string;
}
