// Small definitions for the tests of this folder: a builder that fills in what a case does not care about.

import { type WorkflowDefinition, workflowDefinition } from '../../src/model/workflow.ts';

export type Data = Record<string, unknown>;

export function start(id: string, data: Data = {}): Data {
  return { id, type: 'startCall', data: { name: 'Start', prompt: 'Open the call.', ...data } };
}

export function agent(id: string, data: Data = {}): Data {
  return { id, type: 'agentNode', data: { name: `Agent ${id}`, prompt: 'Ask.', ...data } };
}

export function end(id: string, data: Data = {}): Data {
  return { id, type: 'endCall', data: { name: `End ${id}`, prompt: 'Say goodbye.', ...data } };
}

export function edge(source: string, target: string, data: Data = {}): Data {
  const label = `${source} to ${target}`;
  return {
    id: `${source}-${target}-${String(data['label'] ?? '')}`,
    source,
    target,
    data: { label, condition: 'When it fits.', ...data },
  };
}

export function definition(nodes: Data[], edges: Data[] = []): WorkflowDefinition {
  return workflowDefinition.parse({ nodes, edges });
}
