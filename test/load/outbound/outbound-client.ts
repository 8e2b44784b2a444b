// Calls that are placed beside a measurement, as its parent sees them: started over the API in an open loop, or dialled
// by a campaign. They ring until the end and are not answered.

import type { Client } from 'pg';
import { CampaignClient } from '../../trial/campaign-client.ts';
import { goFirst } from '../caller/go-first.ts';
import { Histogram, WAIT_MS_MAX } from '../figures/histogram.ts';
import type { OUTBOUND } from '../load-options.ts';
import type { LoadTarget } from '../load-target.ts';
import { OrderProcess } from '../order-process.ts';
import type { StartFigures } from './open-loop-starts.ts';
import type { Dial, OutboundAnswer, OutboundOrder } from './outbound-process.ts';

export interface OutboundOptions {
  kind: (typeof OUTBOUND)[number];
  perSecond: number;
  /** Duration of the measurement. */
  seconds: number;
}

/** Null: none was dialled. */
export interface OutboundFigures extends StartFigures {
  outboundPerSecond: number;
  /** Requests at the provider. */
  dials: number;
  dialsPerSecond: number;
  /** From a contact's turn at the campaign's pace to its request at the provider. */
  dialLateP50Ms: number | null;
  dialLateP99Ms: number | null;
  dialLateMaxMs: number | null;
}

const NUMBER = '+15550100888';
/** A campaign dials before and after the measured seconds, too. */
const SECONDS_MORE = 20;

export class OutboundClient {
  readonly #process = new OrderProcess<OutboundOrder, OutboundAnswer>(
    new URL('./outbound-process.ts', import.meta.url),
    { name: 'the process that starts calls' },
  );
  readonly #options: OutboundOptions;
  /** Due times of contacts; undefined: there is no campaign. */
  #turns: (() => Promise<ReadonlyMap<string, number>>) | undefined;

  constructor(options: OutboundOptions) {
    this.#options = options;
    goFirst(this.pid);
  }

  get pid(): number {
    return this.#process.pid;
  }

  async measure(): Promise<void> {
    await this.#process.ask({ order: 'measure' });
  }

  async report(): Promise<Partial<OutboundFigures>> {
    const { dials = [], seconds = 0, starts } = await this.#process.ask({ order: 'report' });
    const turns = await this.#turns?.();
    return {
      outboundPerSecond: this.#options.perSecond,
      ...starts,
      dials: dials.length,
      dialsPerSecond: dials.length / seconds,
      ...(turns && latenessOf(dials, turns)),
    };
  }

  end(): void {
    this.#process.stop();
  }

  /** Calls are being placed when this resolves. */
  async start({ agent, connect, webhookUrl, series }: LoadTarget): Promise<void> {
    if (agent === undefined || connect === undefined) throw new Error("needs the tool's gateway");
    const { kind, perSecond, seconds } = this.#options;
    const { api, apiKey } = agent;
    const { origin: url } = new URL(webhookUrl);
    const { url: providerUrl = '' } = await this.#process.ask({ order: 'serve', number: NUMBER });
    const account = { accountSid: `AC${series.toString(16).padStart(32, '7')}`, authToken: 'out' };
    if (kind === 'starts') {
      const configurationId = await api.createConfiguration(
        'outbound',
        {
          provider: 'twilio',
          account_sid: account.accountSid,
          auth_token: account.authToken,
          api_base_url: providerUrl,
        },
        false,
      );
      await api.addNumber(configurationId, { address: NUMBER, is_default_caller_id: true });
      const { uuid: agentUuid } = await api.createWorkflow('outbound', TWO_STEPS);
      const options = { url, apiKey, agentUuid, configurationId, perSecond };
      await this.#process.ask({ order: 'start', options });
      return;
    }
    const contacts = Math.ceil(perSecond * (seconds + SECONDS_MORE));
    const campaignId = await new CampaignClient(url, apiKey).setUp({
      ...account,
      providerUrl,
      callers: [NUMBER],
      phoneNumbers: Array.from({ length: contacts }, (_each, row) => `+1415${2_000_000 + row}`),
      concurrency: null,
      ratePerSecond: perSecond,
      maxRetries: 0,
    });
    this.#turns = async () => turnsOf(await connect(), campaignId);
    await this.#process.ask({ order: 'first-dial' });
  }
}

const position = { x: 0, y: 0 };
const TWO_STEPS = {
  nodes: [
    { id: '1', type: 'startCall', position, data: { name: 'A', prompt: 'Hi' } },
    { id: '2', type: 'endCall', position, data: { name: 'B', prompt: 'Bye' } },
  ],
  edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
};

/** When each number's turn was, in milliseconds since 1970. */
async function turnsOf(database: Client, campaignId: string): Promise<Map<string, number>> {
  try {
    const { rows } = await database.query<{ to: string; turn_ms: number }>(
      `select contact.phone_number as to, extract(epoch from attempt.dial_at)::float8 * 1000 as turn_ms
       from campaign_attempts attempt join campaign_contacts contact on contact.id = attempt.contact_id
       where attempt.campaign_id = $1`,
      [campaignId],
    );
    return new Map(rows.map((row) => [row.to, row.turn_ms]));
  } finally {
    await database.end();
  }
}

/** Lateness of the dials whose turn is known. */
export function latenessOf(dials: readonly Dial[], turns: ReadonlyMap<string, number>) {
  const late = new Histogram(WAIT_MS_MAX);
  for (const { to, atMs } of dials) {
    const turnMs = turns.get(to);
    if (turnMs !== undefined) late.add(atMs - turnMs);
  }
  return { dialLateP50Ms: late.at(0.5), dialLateP99Ms: late.at(0.99), dialLateMaxMs: late.max };
}
