// An agent that looks something up at a server, on the caller's key 1, and a model that leads it: for tests of what becomes
// of a conversation whose process dies meanwhile.

import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { RecordedRequest, Reply } from '../fakes/scripted-server.ts';
import {
  calls,
  type FakeOpenAiServer,
  says,
  startOpenAiServer,
} from '../fakes/services/openai-server.ts';
import type { ApiClient } from './api-client.ts';

export const GREETING = 'Hello, this is the office. Press one to look up an order.';
/** What the model says once it has read why there is no result. */
export const UNKNOWN = 'I could not finish looking that up.';
export const NOTED = 'Thank you, that is noted.';
export const FUNCTION = 'look_up';
const MESSAGE = 'Look up the order of the caller.';

interface ModelMessage {
  role: string;
  content: string | null;
}

/** A server with the orders, which answers after `answerMs`, and a model beside it. */
export class LookingUp {
  /** Requests for an order. */
  asked = 0;
  readonly #model: FakeOpenAiServer;
  readonly #orders = createServer((request, response) => {
    request.resume();
    this.asked += 1;
    setTimeout(() => response.end('{"order":"on its way"}'), this.#answerMs);
  });
  readonly #answerMs: number;

  private constructor(model: FakeOpenAiServer, answerMs: number) {
    this.#model = model;
    this.#answerMs = answerMs;
    model.otherwise(answer);
  }

  static async start({ answerMs }: { answerMs: number }): Promise<LookingUp> {
    const made = new LookingUp(await startOpenAiServer(), answerMs);
    await new Promise<void>((resolve) => made.#orders.listen(0, '127.0.0.1', resolve));
    return made;
  }

  /** Settings of a gateway that uses both. */
  get env(): Record<string, string> {
    return {
      OPENAI_BASE_URL: this.#model.baseUrl,
      OPENAI_API_KEY: 'sk-e2e',
      PATCHBAY_OUTSIDE_ALLOW: '127.0.0.1',
    };
  }

  /** What the model has read as results of functions. */
  get results(): string[] {
    return this.#model.requests.flatMap(({ body }) =>
      messagesOf(body).flatMap(({ role, content }) => (role === 'tool' ? [content ?? ''] : [])),
    );
  }

  forget(): void {
    this.asked = 0;
    this.#model.requests.length = 0;
  }

  /** The agent's id. */
  async createAgent(api: ApiClient): Promise<string> {
    const { port } = this.#orders.address() as AddressInfo; // A TCP server has an address of this kind.
    const tool = await api.createTool({
      name: 'Look up',
      description: MESSAGE,
      definition: {
        type: 'http_api',
        config: { method: 'GET', url: `http://127.0.0.1:${port}/orders/7` },
      },
    });
    const start = { name: 'Talk', prompt: 'Help.', greeting: GREETING, tool_uuids: [tool] };
    const { id } = await api.createWorkflow('The office', {
      nodes: [
        { id: 'talk', type: 'startCall', position, data: start },
        { id: 'bye', type: 'endCall', position, data: { name: 'Bye', prompt: 'Say goodbye.' } },
      ],
      edges: [
        {
          id: 'talk-bye',
          source: 'talk',
          target: 'bye',
          data: { label: 'Goodbye', condition: 'The caller says goodbye.' },
        },
      ],
    });
    return id;
  }

  async close(): Promise<void> {
    await this.#model.close();
    await new Promise<void>((resolve) => {
      this.#orders.close(() => resolve());
      this.#orders.closeAllConnections();
    });
  }
}

const position = { x: 0, y: 0 };

function messagesOf(body: Record<string, unknown>): ModelMessage[] {
  return body['messages'] as ModelMessage[]; // The server has checked the request.
}

function answer({ body }: RecordedRequest): Reply {
  if (body['response_format'] !== undefined) return says('{}');
  const messages = messagesOf(body);
  if (messages.at(-1)?.role === 'tool') return says(UNKNOWN);
  const heard = messages.findLast(({ role }) => role === 'user')?.content ?? '';
  return /: 1\)/.test(heard) ? calls(FUNCTION, {}) : says(NOTED);
}
