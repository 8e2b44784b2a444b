// What every resource of the API is built from, and the Fastify instance as its routes see it. What one resource alone
// needs is named there (TextChatDeps, RecordingDeps, ...); server.ts joins them.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { CallService } from '../../call/call-service.ts';
import type { Log } from '../../log.ts';
import type { ProviderName } from '../../model/provider.ts';
import type { SpeechServiceNames } from '../../model/speech-services/services.ts';
import type { DialoguePolicy } from '../../model/workflow.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { Principal } from '../../store/accounts/accounts.ts';
import type { FileStore } from '../../store/files/file-store.ts';
import type { FileLinks } from '../../store/files/signed-links.ts';
import type { Store } from '../../store/store.ts';
import type { HostedProvider, TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { ApiAccess } from '../auth/access.ts';
import type { EventStreams } from './event-streams.ts';

export interface ApiDeps {
  store: Store;
  files: FileStore;
  /** Signs paths below `/api/v1/files`. */
  links: FileLinks;
  access: ApiAccess;
  callService: CallService;
  streams: EventStreams;
  /** Called when a campaign was started or resumed. Must not throw. */
  onCampaignDue?: (() => void) | undefined;
  /** Called when a telephony configuration was created, changed or deleted. Must not throw. */
  onTelephonyChanged?: (() => void) | undefined;
  /** The text of /metrics. Default: what this process has measured. */
  figures?: (() => Promise<string>) | undefined;
  /** Why the gateway should get no new calls, for /ready. Default: it is always ready. */
  notReady?: (() => readonly string[]) | undefined;
  log: Log;
  clock: Clock;
  random: Random;
  /** The provider of that name; undefined for those that this version does not have. */
  providerByName: (name: ProviderName) => TelephonyProvider | undefined;
  /** In the order in which webhooks are matched. */
  hostedProviders: readonly HostedProvider[];
  /** What an agent runs on if nothing else is said. */
  services: SpeechServiceNames;
  /** The secret for the load figures that autoscalers read; undefined: the routes are closed. */
  devopsSecret: string | undefined;
  /** What leads conversations on this gateway. */
  policy: DialoguePolicy;
  /** Where providers and clients reach us, without a trailing slash: `https://gw.example.com`. */
  publicUrl: string;
  version: string;
  deploymentMode: string;
  authProvider: string;
  /** Who may say, by `X-Forwarded-For`, for which client it asks: addresses, networks, or `loopback`
   *  and the like. */
  trustedProxies: readonly string[];
  /** Origins of browsers that may call; `*` for any, without credentials. */
  corsOrigins: '*' | readonly string[];
}

export type Api = FastifyInstance<
  Server,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who asks; null on routes that take no key. */
    principal: Principal | null;
    /** The body as it came; empty if there was none. */
    rawBody: Buffer;
  }
  interface FastifyContextConfig {
    /** The body is a provider's, to be handed on as it is: nothing in it is an error here. */
    providerBody?: boolean;
    /** The route takes the body piece by piece, at its own pace. */
    streamedBody?: boolean;
  }
}
