// Examination calls that are over as soon as they are started, and ring nobody.

import type {
  ExaminationReport,
  ExaminationWish,
} from '../../../src/call/examination/examination-calls.ts';
import { GatewayError } from '../../../src/errors/gateway-error.ts';
import type { Store } from '../../../src/store/store.ts';

interface Named {
  organizationId: string;
  configurationId: string;
  id: string;
}

export class FakeExaminations {
  readonly #store: Pick<Store, 'telephony'>;
  readonly #started: Named[] = [];

  constructor(store: Pick<Store, 'telephony'>) {
    this.#store = store;
  }

  async start({ organizationId, configurationId }: ExaminationWish): Promise<ExaminationReport> {
    const found = await this.#store.telephony.getConfiguration(organizationId, configurationId);
    if (found === undefined) throw new GatewayError('CONFIGURATION_NOT_FOUND');
    const id = `examination-${this.#started.length}`;
    this.#started.push({ organizationId, configurationId, id });
    return over(id);
  }

  report(of: Named): ExaminationReport | undefined {
    const isTheirs = this.#started.some(
      ({ organizationId, configurationId, id }) =>
        organizationId === of.organizationId &&
        configurationId === of.configurationId &&
        id === of.id,
    );
    return isTheirs ? over(of.id) : undefined;
  }

  hangUp(): void {
    // They are over.
  }

  capture(of: Named): string | undefined {
    return this.report(of) && '{"kind":"capture"}\n';
  }
}

function over(id: string): ExaminationReport {
  const step = { key: 'dial', title: 'Dial', verdict: 'pass', message: 'Accepted.' } as const;
  return { id, isRunning: false, isFaultless: true, steps: [{ ...step, advice: null, atMs: 120 }] };
}
