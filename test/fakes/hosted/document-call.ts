// One phone call that documents drive: TwiML, a dialect of it, or NCCO. What documents and webhooks say is each
// provider's.

import { type FakeStatus, HostedCall } from './hosted-call.ts';

export interface DialedLeg {
  to: string;
  callerId: string | null | undefined;
  ringS: number | undefined;
}

export abstract class DocumentCall<Step> extends HostedCall {
  /** Grows with each document, so that a redirect stops the one before. */
  #document = 0;

  override end(status: FakeStatus): void {
    if (!this.isOver) this.#document += 1;
    super.end(status);
  }

  /** Fetches a document and carries it out; what ran before is over. `event`: why, where the provider says it. */
  async follow(url: string, event = ''): Promise<void> {
    const { status, body } = await this.fetchDocument(url, event);
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
    let steps: readonly Step[];
    try {
      steps = this.read(document);
    } catch (error) {
      this.tell('protocol-fault', { message: String(error) });
      this.end('failed');
      return;
    }
    for (const step of steps) {
      if (this.#document !== mine) return;
      await this.perform(step);
    }
    if (this.#document === mine) this.end('completed');
  }

  /** The provider's own voice. */
  protected async speak(text: string, msPerCharacter: number): Promise<void> {
    this.tell('said', { text });
    await this.pause(text.length * msPerCharacter);
  }

  /** Settles when the call is over: the other leg stays until the person hangs up. */
  protected async dialOut({ to, callerId, ringS }: DialedLeg): Promise<void> {
    this.tell('dialed', { to, callerId, ringS });
    await this.ended;
  }

  /** Asks the gateway for a document. Never rejects. */
  protected abstract fetchDocument(
    url: string,
    event: string,
  ): Promise<{ status: number; body: string }>;

  /** Throws for what the provider would not accept. */
  protected abstract read(document: string): readonly Step[];

  protected abstract perform(step: Step): Promise<void>;
}
