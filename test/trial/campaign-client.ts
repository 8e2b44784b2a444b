// A client of the campaign API: sets everything up as a user would, and asks how it goes.

import { z } from 'zod';
import { apiRequest } from '../demo/api-request.ts';

const REQUEST_MS_MAX = 30_000;
/** A gateway that was killed is back within seconds. */
const TRIES_MAX = 60;
const RETRY_DELAY_S = 30;

const withId = z.object({ id: z.string() });
const progress = z.object({ state: z.string(), processed: z.number() });
const counters = z.object({
  contact_count: z.number(),
  executed_count: z.number(),
  total_queued_count: z.number(),
  retry_count: z.number(),
  retry_breakdown: z.object({ busy: z.number(), no_answer: z.number(), voicemail: z.number() }),
  processed_rows: z.number(),
  failed_count: z.number(),
  in_flight_count: z.number(),
  retries_pending: z.number(),
});
export type Counters = z.infer<typeof counters>;

export interface SetUp {
  providerUrl: string;
  accountSid: string;
  authToken: string;
  callers: readonly string[];
  phoneNumbers: readonly string[];
  /** Null: as many as the organization may have. */
  concurrency: number | null;
  ratePerSecond: number;
  maxRetries: number;
}

const agent = {
  nodes: [
    {
      id: '1',
      type: 'startCall',
      position: { x: 0, y: 0 },
      data: { name: 'Start', prompt: 'Greet.', greeting: 'Hi {{name}}.' },
    },
    { id: '2', type: 'endCall', position: { x: 0, y: 9 }, data: { name: 'End', prompt: 'Bye.' } },
  ],
  edges: [{ id: '1-2', source: '1', target: '2', data: { label: 'end', condition: 'always' } }],
};

export class CampaignClient {
  readonly #url: string;
  readonly #apiKey: string;

  constructor(url: string, apiKey: string) {
    this.#url = `${url}/api/v1`;
    this.#apiKey = apiKey;
  }

  /** Creates a campaign and starts it; gives its id. */
  async setUp(wanted: SetUp): Promise<string> {
    const campaignId = await this.create(wanted);
    await this.start(campaignId);
    return campaignId;
  }

  async start(campaignId: string): Promise<void> {
    await this.#post(`/campaign/${campaignId}/start`, undefined);
  }

  /** Creates a campaign with all that it needs; gives its id. */
  async create(wanted: SetUp): Promise<string> {
    const configuration = withId.parse(
      await this.#post('/organizations/telephony-configs', {
        name: 'Crowd',
        is_default_outbound: true,
        config: {
          provider: 'twilio',
          account_sid: wanted.accountSid,
          auth_token: wanted.authToken,
          amd_enabled: true,
          api_base_url: wanted.providerUrl,
        },
      }),
    );
    for (const address of wanted.callers) {
      const path = `/organizations/telephony-configs/${configuration.id}/phone-numbers`;
      await this.#post(path, { address });
    }
    const workflow = withId.parse(
      await this.#post('/workflow/create/definition', {
        name: 'Trial',
        workflow_definition: agent,
      }),
    );
    const campaign = withId.parse(
      await this.#post('/campaign/create', {
        name: 'Trial',
        workflow_id: workflow.id,
        source_type: 'csv',
        source_id: await this.#upload(wanted.phoneNumbers),
        telephony_configuration_id: configuration.id,
        max_concurrency: wanted.concurrency,
        rate_limit_per_second: wanted.ratePerSecond,
        retry_config: { max_retries: wanted.maxRetries, retry_delay_seconds: RETRY_DELAY_S },
        circuit_breaker: { enabled: false },
      }),
    );
    return campaign.id;
  }

  async progress(campaignId: string): Promise<z.infer<typeof progress>> {
    return progress.parse(await this.#get(`/campaign/${campaignId}/progress`));
  }

  async campaign(campaignId: string): Promise<Counters> {
    return counters.parse(await this.#get(`/campaign/${campaignId}`));
  }

  async #upload(phoneNumbers: readonly string[]): Promise<string> {
    const rows = phoneNumbers.map((number, index) => `${number},"Person ${index}"`);
    const body = Buffer.from(['phone_number,name', ...rows].join('\n'));
    const { upload_url, file_key } = z
      .object({ upload_url: z.string(), file_key: z.string() })
      .parse(
        await this.#post('/s3/presigned-upload-url', {
          file_name: 'crowd.csv',
          file_size: body.length,
        }),
      );
    const answer = await fetch(upload_url, {
      method: 'PUT',
      headers: { 'Content-Type': 'text/csv' },
      body,
    });
    if (!answer.ok) throw new Error(`upload: ${answer.status} ${await answer.text()}`);
    return file_key;
  }

  async #get(path: string): Promise<unknown> {
    for (let tries = 1; ; tries += 1) {
      try {
        return await this.#ask('GET', path, undefined);
      } catch (error) {
        if (tries === TRIES_MAX) throw error;
        await new Promise((resolve) => setTimeout(resolve, 500));
      }
    }
  }

  #post(path: string, body: unknown): Promise<unknown> {
    return this.#ask('POST', path, body);
  }

  #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const access = { base: this.#url, apiKey: this.#apiKey, msMax: REQUEST_MS_MAX };
    return apiRequest(access, method, path, body);
  }
}
