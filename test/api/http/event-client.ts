// A client of event streams on a real socket. Source: WHATWG HTML, "Server-sent events", parsing.

import { type ClientRequest, get, type IncomingMessage } from 'node:http';

export interface Heard {
  id: string | undefined;
  event: string | undefined;
  data: Record<string, unknown>;
}

export class EventClient {
  readonly heard: Heard[] = [];
  comments = 0;
  isOver = false;
  readonly #request: ClientRequest;
  readonly response: IncomingMessage;
  #rest = '';

  private constructor(request: ClientRequest, response: IncomingMessage) {
    this.#request = request;
    this.response = response;
    response.setEncoding('utf8');
    response.on('data', (text: string) => this.#take(text));
    response.on('close', () => {
      this.isOver = true;
    });
    response.on('error', () => undefined); // The end says it as well.
  }

  static open(url: string, headers: Record<string, string> = {}): Promise<EventClient> {
    return new Promise((resolve, reject) => {
      const request = get(url, { headers }, (response) => {
        resolve(new EventClient(request, response));
      });
      request.on('error', reject);
    });
  }

  get status(): number {
    return this.response.statusCode ?? 0;
  }

  /** The words of what was said; of other messages their names. */
  get words(): string[] {
    return this.heard.map(({ event, data }) => {
      const payload = data['payload'] as { text?: string } | undefined;
      return event ?? payload?.text ?? String(data['type']);
    });
  }

  get lastId(): string {
    return this.heard.findLast(({ id }) => id !== undefined)?.id ?? '';
  }

  leave(): void {
    this.#request.destroy();
  }

  #take(text: string): void {
    const blocks = (this.#rest + text).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) this.#block(block);
  }

  #block(block: string): void {
    const field = (name: string) =>
      block
        .split('\n')
        .find((line) => line.startsWith(`${name}: `))
        ?.slice(name.length + 2);
    if (block.startsWith(':')) this.comments += 1;
    const data = field('data');
    if (data === undefined) return;
    this.heard.push({ id: field('id'), event: field('event'), data: JSON.parse(data) });
  }
}
