// The TypeScript SDK (npm @dograh/sdk 0.1.7), and methods that the reference platform's sources have added to
// it since (October 2026): one request each.

import { DograhClient } from '@dograh/sdk';
import type { PythonSdk, RunsQuery } from './python-sdk/client.ts';

type Answer<Method extends keyof PythonSdk> = Awaited<ReturnType<PythonSdk[Method]>>;
type Body<Method extends keyof PythonSdk> = Parameters<PythonSdk[Method]>[0];

export class TypeScriptSdk extends DograhClient {
  validateWorkflow(id: number) {
    return this.request<Answer<'validateWorkflow'>>('POST', `/workflow/${id}/validate`);
  }

  publishWorkflow(id: number) {
    return this.request<Answer<'publishWorkflow'>>('POST', `/workflow/${id}/publish`);
  }

  listWorkflowRuns(id: number, { page, limit, filters, sortBy, sortOrder }: RunsQuery = {}) {
    const params = { page, limit, filters, sort_by: sortBy, sort_order: sortOrder };
    return this.request<Answer<'listWorkflowRuns'>>('GET', `/workflow/${id}/runs`, { params });
  }

  getWorkflowRun(id: number, runId: number) {
    return this.request<Answer<'getWorkflowRun'>>('GET', `/workflow/${id}/runs/${runId}`);
  }

  createCampaign({ body }: Body<'createCampaign'>) {
    return this.request<Answer<'createCampaign'>>('POST', '/campaign/create', { json: body });
  }

  getCampaignProgress(id: number) {
    return this.request<Answer<'getCampaignProgress'>>('GET', `/campaign/${id}/progress`);
  }

  startCampaign(id: number) {
    return this.request<Answer<'startCampaign'>>('POST', `/campaign/${id}/start`);
  }

  pauseCampaign(id: number) {
    return this.request<Answer<'pauseCampaign'>>('POST', `/campaign/${id}/pause`);
  }

  resumeCampaign(id: number) {
    return this.request<Answer<'resumeCampaign'>>('POST', `/campaign/${id}/resume`);
  }
}
