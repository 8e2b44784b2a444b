// The people on a simulated Twilio's telephones in the demo: they ring the gateway's number, or are rung.

import { type FakeTwilio, startFakeTwilio } from '../fakes/twilio/fake-twilio.ts';
import type { CallerLine } from './caller.ts';
import { holdCall, type PersonReport } from './person.ts';
import { ACCOUNT_SID, AUTH_TOKEN } from './provider-link.ts';
import { OWN_NUMBER } from './scenario.ts';

type FakeCall = Parameters<typeof holdCall>[0];

interface Wishes {
  lines: readonly CallerLine[];
  onLine: (line: CallerLine) => void;
}

export class TwilioPeople {
  readonly #twilio: FakeTwilio;

  private constructor(twilio: FakeTwilio) {
    this.#twilio = twilio;
  }

  static async start(gatewayUrl: string): Promise<TwilioPeople> {
    const twilio = await startFakeTwilio({
      publicWebhookBase: gatewayUrl,
      accountSid: ACCOUNT_SID,
      authToken: AUTH_TOKEN,
      numbers: [OWN_NUMBER],
    });
    return new TwilioPeople(twilio);
  }

  get url(): string {
    return this.#twilio.baseUrl;
  }

  async ring(call: Wishes & { from: string; to: string }): Promise<PersonReport> {
    const { from, to } = call;
    return await hold(await this.#twilio.placeInboundCall({ from, to }), call);
  }

  async awaitRing(wishes: Wishes): Promise<PersonReport> {
    return await new Promise((resolve, reject) => {
      this.#twilio.onOutboundCall((call) => {
        hold(call, wishes).then(resolve, reject);
        call.answer();
      });
    });
  }
}

async function hold(call: FakeCall, { lines, onLine }: Wishes): Promise<PersonReport> {
  const report = await holdCall(call, lines, onLine);
  await call.callbacksSettled();
  const [fault] = call.faults;
  if (fault === undefined) return report;
  throw new Error(`protocol fault: ${JSON.stringify(fault.detail)}`);
}
