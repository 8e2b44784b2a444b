// The fake Cloudonix' requests to the gateway: JSON, unsigned.

/** How long it waits for an answer. */
const ANSWER_MS = 15_000;

export interface Delivered {
  url: string;
  sent: unknown;
  /** 0 if the gateway could not be reached. */
  status: number;
  body: string;
}

export class WebhookSender {
  readonly #reach: (url: string) => string;
  /** Everything that was sent, in the order of the answers. */
  readonly delivered: Delivered[] = [];

  constructor(reach: (url: string) => string) {
    this.#reach = reach;
  }

  /** Never rejects. */
  async post(url: string, sent: unknown, headers: Record<string, string>): Promise<Delivered> {
    let delivered: Delivered;
    try {
      const response = await fetch(this.#reach(url), {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': 'cloudonix', ...headers },
        body: JSON.stringify(sent),
        redirect: 'manual',
        signal: AbortSignal.timeout(ANSWER_MS),
      });
      delivered = { url, sent, status: response.status, body: await response.text() };
    } catch (error) {
      delivered = { url, sent, status: 0, body: String(error) };
    }
    this.delivered.push(delivered);
    return delivered;
  }
}
