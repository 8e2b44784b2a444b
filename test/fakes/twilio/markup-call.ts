// One phone call that TwiML drives, or a dialect of it. What the webhooks say is each provider's.

import { DocumentCall } from '../hosted/document-call.ts';
import type { HostedCallOptions } from '../hosted/hosted-call.ts';
import { readTwiml, type Verb } from './markup.ts';

export abstract class MarkupCall extends DocumentCall<Verb> {
  readonly #sayMsPerCharacter: number;

  /** `sayMsPerCharacter`: how long a character of <Say> takes. */
  constructor(options: HostedCallOptions & { sayMsPerCharacter: number }) {
    super(options);
    this.#sayMsPerCharacter = options.sayMsPerCharacter;
  }

  protected override read(document: string): Verb[] {
    return readTwiml(document);
  }

  protected override async perform(verb: Verb): Promise<void> {
    if (verb.verb !== 'Reject') this.become('in-progress');
    switch (verb.verb) {
      case 'Reject':
        this.end(verb.reason === 'busy' ? 'busy' : 'no-answer');
        break;
      case 'Hangup':
        this.end('completed');
        break;
      case 'Redirect':
        await this.follow(verb.url);
        break;
      case 'Say':
        await this.speak(verb.text, this.#sayMsPerCharacter);
        break;
      case 'Pause':
        this.tell('paused', { seconds: verb.seconds });
        await this.pause(verb.seconds * 1_000);
        break;
      case 'Dial':
        if (verb.resultUrl !== null) this.reportDestination(verb.resultUrl);
        await this.dialOut(verb);
        break;
      case 'Conference':
        await this.conferences.enter(verb.name, this);
        break;
      case 'Stream':
        await this.connectStream(verb.url, verb.parameters);
        break;
    }
  }

  /** The destination of a transfer answers at once: reports it. */
  protected reportDestination(_url: string): void {
    // A dialect without such reports.
  }

  /** Connects the media; settles when they have ended. */
  protected abstract connectStream(url: string, parameters: Record<string, string>): Promise<void>;
}
