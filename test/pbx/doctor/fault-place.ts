// Where a fault of the doctor's is played on a real PBX: a second configuration of the stage's gateway, further lines in
// Asterisk's files, and the findings of an examination. Everything is taken back by `close`.

import type { Examination } from '../../demo/api-client.ts';
import type { Names } from '../../telephony/ari/doctor/fault-table.ts';
import { type IncludedFile, OUT_CONTEXT } from '../asterisk-side.ts';
import type { Stage } from '../stage.ts';
import { until } from '../waiting.ts';

export type Findings = Examination['findings'];

export interface Configured {
  id: string;
  app: string;
}

/** Names of the run's own, for those of the table. */
export const OWN = {
  context: 'patchbay-run-doctor',
  number: '8901',
  reader: 'patchbay-run-reader',
  dead: 'patchbay-run-dead',
  section: 'patchbay-run-section',
} as const;
const CONNECTION_MS_MAX = 30_000;

export class FaultPlace {
  readonly stage: Stage;
  /** What the table calls otherwise. */
  names: Names;
  readonly #close: (() => Promise<unknown>)[] = [];

  constructor(stage: Stage) {
    this.stage = stage;
    this.names = {
      gw: String(stage.configuration['app_name']),
      gwro: OWN.reader,
      dead: OWN.dead,
      media_gw: OWN.section,
      'from-trunk': OWN.context,
      'out-dest': OUT_CONTEXT,
      '8000': OWN.number,
      'Playback(demo-congrats)': 'Wait(30)',
      '192.0.2.9': '127.0.0.1',
    };
  }

  get ariUrl(): string {
    return String(this.stage.configuration['ari_endpoint']);
  }

  /** A configuration like the stage's own, but for `fields`. */
  async configured(
    fields: Record<string, unknown> = {},
    numbers: readonly string[] = [],
  ): Promise<Configured> {
    const { api, agents, configuration } = this.stage;
    const config = { ...configuration, ...fields };
    const id = await api.createConfiguration(`Fault ${performance.now()}`, config, false);
    const numberIds: string[] = [];
    this.#close.push(() => api.removeConfiguration(id, numberIds));
    for (const address of numbers) {
      const number = { address, inbound_workflow_id: agents.short.id };
      numberIds.push(await api.addNumber(id, number));
    }
    const app = await api.stasisApp(id);
    this.names = { ...this.names, patchbay_0123456789ab: app };
    return { id, app };
  }

  /** The same, whose connection is up. */
  async connected(...given: Parameters<FaultPlace['configured']>): Promise<Configured> {
    const made = await this.configured(...given);
    await this.untilUp(made);
    return made;
  }

  async untilUp({ id, app }: Configured): Promise<void> {
    await this.stage.pbx.untilConnected(app, CONNECTION_MS_MAX);
    await until('the second configuration is up', CONNECTION_MS_MAX, async () => {
      return (await this.stage.api.inactiveReason(id)) === null;
    });
  }

  async untilDown({ id }: Configured): Promise<void> {
    await until('the second configuration is down', CONNECTION_MS_MAX, async () => {
      return (await this.stage.api.inactiveReason(id)) !== null;
    });
  }

  async files(more: Partial<Record<IncludedFile, string>>): Promise<void> {
    this.#close.push(() => this.stage.pbx.removeAdded());
    await this.stage.pbx.add(more);
  }

  async withoutModule(module: string): Promise<void> {
    this.#close.push(() => this.stage.pbx.load(module));
    await this.stage.pbx.unload(module);
  }

  atEnd(close: () => Promise<unknown>): void {
    this.#close.push(close);
  }

  async examine(
    { id }: Configured,
    wishes?: Parameters<Stage['api']['examine']>[1],
  ): Promise<Findings> {
    return await this.stage.api.examine(id, wishes);
  }

  /** Findings for a configuration that differs only in these fields. */
  async examined(fields: Record<string, unknown>): Promise<Findings> {
    return await this.examine(await this.configured(fields));
  }

  async close(): Promise<void> {
    for (const close of this.#close.splice(0).reverse()) await close();
  }
}
