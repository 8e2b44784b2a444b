// The messages between the demo and the process that plays the provider, and the demo's end of them.

import { type ChildProcess, spawn } from 'node:child_process';
import { z } from 'zod';
import type { ProviderName } from '../../src/model/provider.ts';

/** A whole call, from ringing to the hang-up. */
const CALL_MS_MAX = 180_000;

/** Who is played: a hosted provider, or an Asterisk (a simulated one, or the one at an address). */
export type ProviderPlayed = { name: Exclude<ProviderName, 'ari'> } | { name: 'ari'; url: string };

const directionSchema = z.enum(['inbound', 'outbound']);

/** To the provider: ring the gateway, or be ready to be rung by it. */
export const providerOrder = z.object({
  type: z.literal('call'),
  direction: directionSchema,
  /** An Asterisk's: the Stasis application to which the gateway's number leads. */
  app: z.string(),
});
export type ProviderOrder = z.infer<typeof providerOrder>;

const callerFacts = z.object({
  waitedMs: z.array(z.number()),
  interruptions: z.array(
    z.object({ overSpeech: z.boolean(), silentAfterMs: z.number().nullable() }),
  ),
  linesSaid: z.number(),
  heardSpeechMs: z.number(),
});

/** From the provider. */
export const providerNews = z.discriminatedUnion('type', [
  z.object({ type: z.literal('ready'), apiUrl: z.string() }),
  z.object({ type: z.literal('said'), text: z.string() }),
  z.object({
    type: z.literal('ended'),
    direction: directionSchema,
    endedBy: z.enum(['caller', 'gateway']),
    facts: callerFacts,
  }),
  /** Without a direction: of both calls. */
  z.object({
    type: z.literal('failed'),
    direction: directionSchema.optional(),
    reason: z.string(),
  }),
]);
export type ProviderNews = z.infer<typeof providerNews>;
export type CallEnded = Extract<ProviderNews, { type: 'ended' }>;

/** The provider as a separate process. */
export class ProviderLink {
  readonly #child: ChildProcess;
  readonly #listeners = new Set<(news: ProviderNews) => void>();

  private constructor(gatewayUrl: string, recogniser: boolean, played: ProviderPlayed) {
    const options = ['--import', 'tsx', 'test/demo/provider-process.ts'];
    const means = recogniser ? 'voice' : 'keys';
    const who = played.name === 'ari' ? [played.name, played.url] : [played.name];
    this.#child = spawn(process.execPath, [...options, gatewayUrl, means, ...who], {
      stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    });
    this.#child.on('message', (message) => {
      const news = providerNews.parse(message);
      for (const listener of this.#listeners) listener(news);
    });
    this.#child.once('exit', (code) => {
      for (const listener of this.#listeners) {
        listener({ type: 'failed', reason: `the provider's process ended (${String(code)})` });
      }
    });
  }

  /** Resolves with the address of the provider's REST interface. */
  static async start(
    gatewayUrl: string,
    recogniser: boolean,
    played: ProviderPlayed = { name: 'twilio' },
  ): Promise<{ provider: ProviderLink; apiUrl: string }> {
    const provider = new ProviderLink(gatewayUrl, recogniser, played);
    const { apiUrl } = await provider.#next('ready');
    return { provider, apiUrl };
  }

  /** Rings the gateway (inbound), or answers when it rings (outbound); resolves when the call is over. */
  async call(direction: ProviderOrder['direction'], app = ''): Promise<CallEnded> {
    const ended = this.#next('ended', direction);
    this.#child.send({ type: 'call', direction, app } satisfies ProviderOrder);
    return await ended;
  }

  stop(): void {
    this.#listeners.clear();
    this.#child.kill();
  }

  /** The next one of a type, of the call in `direction` if one is given. */
  async #next<T extends ProviderNews['type']>(
    type: T,
    direction?: ProviderOrder['direction'],
  ): Promise<Extract<ProviderNews, { type: T }>> {
    return await new Promise((resolve, reject) => {
      const finish = (act: () => void): void => {
        clearTimeout(timer);
        this.#listeners.delete(listener);
        act();
      };
      const listener = (news: ProviderNews): void => {
        if (isOfAnother(news, direction)) return;
        if (isNews(news, type)) finish(() => resolve(news));
        else if (news.type === 'failed') finish(() => reject(new Error(news.reason)));
      };
      const timer = setTimeout(
        () => finish(() => reject(new Error(`The provider gave no "${type}" in time`))),
        CALL_MS_MAX,
      );
      this.#listeners.add(listener);
    });
  }
}

/** It concerns the call in the other direction alone. */
function isOfAnother(news: ProviderNews, direction?: ProviderOrder['direction']): boolean {
  if (!('direction' in news) || news.direction === undefined) return false;
  return direction !== undefined && news.direction !== direction;
}

function isNews<T extends ProviderNews['type']>(
  news: ProviderNews,
  type: T,
): news is Extract<ProviderNews, { type: T }> {
  return news.type === type;
}
