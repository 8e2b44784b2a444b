// One phone call that documents drive: TwiML, or a dialect of it. What the webhooks say is each provider's.

import { type FakeStatus, HostedCall, type HostedCallOptions } from '../hosted/hosted-call.ts';
import { readTwiml, type Verb } from './markup.ts';

export abstract class MarkupCall extends HostedCall {
  readonly #sayMsPerCharacter: number;
  /** Grows with each document, so that a redirect stops the one before. */
  #document = 0;

  /** `sayMsPerCharacter`: how long a character of <Say> takes. */
  constructor(options: HostedCallOptions & { sayMsPerCharacter: number }) {
    super(options);
    this.#sayMsPerCharacter = options.sayMsPerCharacter;
  }

  override end(status: FakeStatus): void {
    if (!this.isOver) this.#document += 1;
    super.end(status);
  }

  /** Fetches a document and carries it out; whatever ran before is over. */
  async follow(url: string): Promise<void> {
    const { status, body } = await this.fetchDocument(url);
    this.tell('document', { url, status, body });
    if (status !== 200) {
      this.tell('application-error', { status });
      this.end(this.status === 'in-progress' ? 'completed' : 'failed');
      return;
    }
    await this.run(body);
  }

  /** Carries a document out, to its end or until another takes its place. */
  async run(document: string): Promise<void> {
    this.#document += 1;
    const mine = this.#document;
    this.leaveMedia();
    let verbs: Verb[];
    try {
      verbs = readTwiml(document);
    } catch (error) {
      this.tell('protocol-fault', { message: String(error) });
      this.end('failed');
      return;
    }
    for (const verb of verbs) {
      if (this.#document !== mine) return;
      await this.#perform(verb);
    }
    if (this.#document === mine) this.end('completed');
  }

  async #perform(verb: Verb): Promise<void> {
    if (verb.verb !== 'Reject') this.become('in-progress');
    switch (verb.verb) {
      case 'Reject':
        this.end(verb.reason === 'busy' ? 'busy' : 'no-answer');
        break;
      case 'Hangup':
        this.end('completed');
        break;
      case 'Say':
        this.tell('said', { text: verb.text });
        await this.pause(verb.text.length * this.#sayMsPerCharacter);
        break;
      case 'Pause':
        this.tell('paused', { seconds: verb.seconds });
        await this.pause(verb.seconds * 1_000);
        break;
      case 'Dial':
        this.tell('dialed', { to: verb.to, callerId: verb.callerId, ringS: verb.ringS });
        await this.ended; // The other leg stays until the person hangs up.
        break;
      case 'Stream':
        await this.connectStream(verb.url, verb.parameters);
        break;
    }
  }

  /** Asks the gateway for a document. Never rejects. */
  protected abstract fetchDocument(url: string): Promise<{ status: number; body: string }>;

  /** Connects the media; settles when they have ended. */
  protected abstract connectStream(url: string, parameters: Record<string, string>): Promise<void>;
}
