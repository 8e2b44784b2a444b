// What the pictures need of the API beside `ApiClient`: templates, drafts, chats, keys, a campaign.

import { z } from 'zod';
import { apiRequest } from '../../demo/api-request.ts';

const REQUEST_MS_MAX = 70_000;
const withId = z.object({ id: z.union([z.string(), z.number()]).transform(String) });

export class ExampleApi {
  readonly #url: string;
  readonly #apiKey: string;

  constructor(url: string, apiKey: string) {
    this.#url = `${url}/api/v1`;
    this.#apiKey = apiKey;
  }

  async fromTemplate(templateId: string, name: string): Promise<string> {
    const templates = z
      .array(z.object({ id: z.union([z.string(), z.number()]), template_name: z.string() }))
      .parse(await this.#ask('GET', '/workflow/templates'));
    const template = templates.find((each) =>
      each.template_name.toLowerCase().includes(templateId.split('-')[0] ?? ''),
    );
    if (template === undefined) throw new Error(`no template ${templateId}`);
    const body = { template_id: template.id, workflow_name: name };
    return withId.parse(await this.#ask('POST', '/workflow/templates/duplicate', body)).id;
  }

  /** Adds a line to the prompt of the first node of the agent, as a draft. */
  async draft(agent: string, line: string): Promise<void> {
    const { workflow_definition: definition } = z
      .object({
        workflow_definition: z.looseObject({
          nodes: z.array(z.looseObject({ data: z.looseObject({}) })),
        }),
      })
      .parse(await this.#ask('GET', `/workflow/fetch/${agent}`));
    const [node] = definition.nodes;
    if (node !== undefined) node.data['prompt'] = `${String(node.data['prompt'])}\n${line}`;
    await this.#ask('PUT', `/workflow/${agent}`, { workflow_definition: definition });
  }

  /** A text chat to its end; its run. */
  async chat(agent: string, messages: readonly string[]): Promise<string> {
    const root = `/workflow/${agent}/text-chat/sessions`;
    const { workflow_run_id: run } = z
      .object({ workflow_run_id: z.union([z.string(), z.number()]).transform(String) })
      .parse(await this.#ask('POST', root, {}));
    for (const text of messages) await this.#ask('POST', `${root}/${run}/messages`, { text });
    await this.#ask('POST', `${root}/${run}/end`, {});
    return run;
  }

  async keys(names: readonly string[]): Promise<void> {
    for (const name of names) await this.#ask('POST', '/user/api-keys', { name });
  }

  /** A campaign that has been started; its id. */
  async campaign(wanted: {
    name: string;
    workflow: string;
    configuration: string;
    /** CSV. */
    contacts: string;
  }): Promise<string> {
    const { id } = withId.parse(
      await this.#ask('POST', '/campaign/create', {
        name: wanted.name,
        workflow_id: wanted.workflow,
        source_type: 'csv',
        source_id: await this.#upload(wanted.contacts),
        telephony_configuration_id: wanted.configuration,
        max_concurrency: 3,
        rate_limit_per_second: 1,
        retry_config: { max_retries: 2, retry_delay_seconds: 600 },
        circuit_breaker: { enabled: false },
      }),
    );
    await this.#ask('POST', `/campaign/${id}/start`);
    return id;
  }

  async #upload(text: string): Promise<string> {
    const body = Buffer.from(text);
    const { upload_url: url, file_key: key } = z
      .object({ upload_url: z.string(), file_key: z.string() })
      .parse(
        await this.#ask('POST', '/s3/presigned-upload-url', {
          file_name: 'contacts.csv',
          file_size: body.length,
        }),
      );
    const headers = { 'Content-Type': 'text/csv' };
    const answer = await fetch(url, { method: 'PUT', headers, body });
    if (!answer.ok) throw new Error(`PUT ${url}: ${answer.status}`);
    return key;
  }

  #ask(method: string, path: string, body?: unknown): Promise<unknown> {
    const access = { base: this.#url, apiKey: this.#apiKey, msMax: REQUEST_MS_MAX };
    return apiRequest(access, method, path, body);
  }
}
