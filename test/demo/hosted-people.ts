// The people on a simulated hosted provider's telephones in the demo: they ring the gateway's number, or are rung.

import type { ProviderName } from '../../src/model/provider.ts';
import type { HostedCall } from '../fakes/hosted/hosted-call.ts';
import type { HostedFake } from '../fakes/hosted/hosted-fake.ts';
import { hostedRow } from '../fakes/hosted/hosted-rows.ts';
import type { CallerLine } from './caller.ts';
import { holdCall, type PersonReport } from './person.ts';
import { OWN_NUMBER } from './scenario.ts';

interface Wishes {
  lines: readonly CallerLine[];
  onLine: (line: CallerLine) => void;
}

export class HostedPeople {
  readonly #fake: HostedFake;

  private constructor(fake: HostedFake) {
    this.#fake = fake;
  }

  static async start(gatewayUrl: string, provider: ProviderName): Promise<HostedPeople> {
    const numbers = [OWN_NUMBER];
    return new HostedPeople(await hostedRow(provider).startFake({ gatewayUrl, numbers }));
  }

  get url(): string {
    return this.#fake.baseUrl;
  }

  async ring(call: Wishes & { from: string; to: string }): Promise<PersonReport> {
    const { from, to } = call;
    return await hold(await this.#fake.placeInboundCall({ from, to }), call);
  }

  async awaitRing(wishes: Wishes): Promise<PersonReport> {
    return await new Promise((resolve, reject) => {
      this.#fake.onOutboundCall((call) => {
        hold(call, wishes).then(resolve, reject);
        call.answer();
      });
    });
  }
}

async function hold(call: HostedCall, { lines, onLine }: Wishes): Promise<PersonReport> {
  const report = await holdCall(call, lines, onLine);
  await call.callbacksSettled();
  const [fault] = call.faults;
  if (fault === undefined) return report;
  throw new Error(`protocol fault: ${JSON.stringify(fault.detail)}`);
}
