// The messages between the demo and the process that plays the provider, and the demo's end of them.

import { type ChildProcess, spawn } from 'node:child_process';
import { z } from 'zod';
import type { ProviderName } from '../../src/model/provider.ts';
import { machine } from './machine-pace.ts';

/** A whole call, from ringing to the hang-up, on a free machine. */
const CALL_MS_MAX = 180_000;

/** Who is played: a hosted provider, or an Asterisk (a simulated one, or the one at an address). */
export type ProviderPlayed = { name: Exclude<ProviderName, 'ari'> } | { name: 'ari'; url: string };

const directionSchema = z.enum(['inbound', 'outbound']);

/** Orders to the provider's process. */
export const providerOrder = z.discriminatedUnion('type', [
  /** Ring the gateway, or be ready to be rung by it. */
  z.object({
    type: z.literal('call'),
    direction: directionSchema,
    /** An Asterisk's: the Stasis application to which the gateway's number leads. */
    app: z.string(),
  }),
  /** How slow the machine is at the moment: people wait in proportion. */
  z.object({ type: z.literal('pace'), slowness: z.number() }),
]);
type ProviderOrder = z.infer<typeof providerOrder>;
export type CallOrder = Extract<ProviderOrder, { type: 'call' }>;

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
  readonly #onPace = (slowness: number): void => this.#order({ type: 'pace', slowness });

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
    machine.listeners.add(provider.#onPace);
    provider.#onPace(machine.slowness);
    return { provider, apiUrl };
  }

  /** Rings the gateway (inbound), or answers when it rings (outbound); resolves when the call is over. */
  async call(direction: CallOrder['direction'], app = ''): Promise<CallEnded> {
    const ended = this.#next('ended', direction);
    this.#order({ type: 'call', direction, app });
    return await ended;
  }

  #order(order: ProviderOrder): void {
    if (this.#child.connected) this.#child.send(order);
  }

  stop(): void {
    machine.listeners.delete(this.#onPace);
    this.#listeners.clear();
    this.#child.kill();
  }

  /** The next one of a type, of the call in `direction` if one is given. */
  async #next<T extends ProviderNews['type']>(
    type: T,
    direction?: CallOrder['direction'],
  ): Promise<Extract<ProviderNews, { type: T }>> {
    let listener: (news: ProviderNews) => void = () => undefined;
    const next = new Promise<Extract<ProviderNews, { type: T }>>((resolve, reject) => {
      listener = (news) => {
        if (isOfAnother(news, direction)) return;
        if (isNews(news, type)) resolve(news);
        else if (news.type === 'failed') reject(new Error(news.reason));
      };
    });
    this.#listeners.add(listener);
    try {
      return await machine.within(CALL_MS_MAX, `The provider gave no "${type}" in time`, next);
    } finally {
      this.#listeners.delete(listener);
    }
  }
}

/** It concerns the call in the other direction alone. */
function isOfAnother(news: ProviderNews, direction?: CallOrder['direction']): boolean {
  if (!('direction' in news) || news.direction === undefined) return false;
  return direction !== undefined && news.direction !== direction;
}

function isNews<T extends ProviderNews['type']>(
  news: ProviderNews,
  type: T,
): news is Extract<ProviderNews, { type: T }> {
  return news.type === type;
}
