// Conversations with an agent that has tools, for the tests of the engine.

import type { LlmToolCall } from '../../src/model/llm-message.ts';
import type { Tool } from '../../src/model/tool.ts';
import type { WorkflowDefinition } from '../../src/model/workflow.ts';
import type { DialogueEngineOptions } from '../../src/workflow/engine.ts';
import { parseGraph } from '../../src/workflow/graph/graph.ts';
import { offeredFunctions } from '../../src/workflow/tools/offered-functions.ts';
import { toolTypes } from '../../src/workflow/tools/registry.ts';
import type { ToolType } from '../../src/workflow/tools/tool-type.ts';
import { type Action, Conversation } from './conversation.ts';
import { agent, definition, edge, end, start } from './definitions.ts';
import { storedTool } from './tools/stored-tool.ts';

export const TOOLS: Tool[] = [
  storedTool('find', 'Find order', {
    type: 'http_api',
    config: {
      method: 'GET',
      url: 'https://shop.example/orders/{{id}}',
      parameters: [{ name: 'id', type: 'string', description: 'Number of the order' }],
      customMessage: 'One moment, {{name}}.',
    },
  }),
  storedTool('save', 'Save', {
    type: 'http_api',
    config: { method: 'POST', url: 'https://shop.example/notes' },
  }),
  storedTool('sums', 'Sums', { type: 'calculator' }),
  storedTool('bye', 'Hang up', {
    type: 'end_call',
    config: { endCallReason: true, messageType: 'custom', customMessage: 'Goodbye, {{name}}.' },
  }),
  storedTool('leave', 'Leave', { type: 'end_call', config: {} }),
  storedTool('desk', 'Front desk', {
    type: 'transfer_call',
    config: {
      destination: '{{desk}}',
      messageType: 'custom',
      customMessage: 'I put you through.',
      timeout: 20,
    },
  }),
  storedTool('colleague', 'Colleague', {
    type: 'transfer_call',
    config: {
      destination: '{{desk}}',
      parameters: [{ name: 'topic', type: 'string', description: 'What about' }],
      warm: { message: '{{name}}, {{topic}}.' },
    },
  }),
  storedTool('route', 'Route', {
    type: 'transfer_call',
    config: {
      destination_source: 'dynamic',
      messageType: 'custom',
      customMessage: 'Hold on.',
      resolver: {
        type: 'http',
        url: 'https://pbx.example/route',
        wait_message: 'I look who is there.',
        parameters: [{ name: 'topic', type: 'string', description: 'What about' }],
      },
    },
  }),
];
const uuids = TOOLS.map(({ uuid }) => uuid);

export const shop = definition(
  [
    start('talk', { name: 'Talk', greeting: 'Hello.', tool_uuids: uuids }),
    agent('more', { name: 'More' }),
    end('done', { name: 'Done' }),
  ],
  [edge('talk', 'more', { label: 'More' }), edge('more', 'done', { label: 'Done' })],
);

export class ToolConversation extends Conversation {
  /** The call has begun, the greeting is heard and the caller has spoken. */
  constructor(
    content: WorkflowDefinition = shop,
    initialContext = { name: 'Ana', desk: '+15550100' },
    {
      tools = TOOLS,
      types = toolTypes,
      settings = {},
      more = {},
    }: {
      tools?: Tool[];
      types?: readonly ToolType[];
      settings?: Partial<DialogueEngineOptions['settings']>;
      more?: Partial<DialogueEngineOptions>;
    } = {},
  ) {
    const { offered } = offeredFunctions(parseGraph(content).nodes.values(), tools, types);
    super(content, 'model', { tools: offered, settings, more });
    this.start(initialContext).heard().caller('please');
  }

  /** The model answers the last request with calls. */
  calls(text: string, ...calls: [name: string, given?: Record<string, unknown>][]): this {
    const { requestId } = this.last('generate');
    const toolCalls: LlmToolCall[] = calls.map(([name, given = {}], index) => ({
      id: `c${index}`,
      name,
      arguments: given,
    }));
    return this.tell({ type: 'model-answered', requestId, text, toolCalls });
  }

  replies(status: number, data: unknown, call: Action<'call-out'> = this.last('call-out')): this {
    return this.tell({ type: 'called-out', toolRunId: call.toolRunId, status, data });
  }

  noReply(error: string, isLate = false): this {
    const { toolRunId } = this.last('call-out');
    return this.tell({ type: 'call-out-failed', toolRunId, isLate, error });
  }

  /** Results as the model is shown them in the last request, by the id of the call. */
  get results(): Record<string, unknown> {
    const { messages } = this.last('generate');
    return Object.fromEntries(
      messages.flatMap((message) =>
        message.role === 'tool' ? [[message.callId, JSON.parse(message.content)]] : [],
      ),
    );
  }

  /** Results in the run's log, each call once. */
  get logged(): [name: string, result: unknown][] {
    return this.all.flatMap((action): [string, unknown][] =>
      action.type === 'log' && action.body.type === 'function.returned'
        ? [[action.body.name, JSON.parse(action.body.result)]]
        : [],
    );
  }
}
