// Dependencies of every resource of the API, and the Fastify instance as its routes use it. Each resource declares its
// own further dependencies (TextChatDeps, RecordingDeps, ...); server.ts combines them.

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Duplex } from 'node:stream';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import type { CallService } from '../../call/call-service.ts';
import type { Log } from '../../log.ts';
import type { ConfiguredProviderName, ProviderName } from '../../model/provider.ts';
import type { SpeechServiceNames } from '../../model/speech-services/services.ts';
import type { DialoguePolicy } from '../../model/workflow.ts';
import type { Clock } from '../../std/clock.ts';
import type { Random } from '../../std/random.ts';
import type { Principal } from '../../store/accounts/accounts.ts';
import type { FileStore } from '../../store/files/file-store.ts';
import type { DirectLinks } from '../../store/files/s3-file-store.ts';
import type { FileLinks } from '../../store/files/signed-links.ts';
import type { Store } from '../../store/store.ts';
import type { HostedProvider, TelephonyProvider } from '../../telephony/provider/provider.ts';
import type { ApiAccess } from '../auth/access.ts';
import type { EventStreams } from './event-streams.ts';

export interface ApiDeps {
  store: Store;
  files: FileStore;
  /** Links past the gateway; undefined where files are on its disk. */
  directLinks?: DirectLinks | undefined;
  /** Signs paths below `/api/v1/files`. */
  links: FileLinks;
  access: ApiAccess;
  callService: CallService;
  streams: EventStreams;
  /** Called when a campaign was started or resumed. Must not throw. */
  onCampaignDue?: (() => void) | undefined;
  /** Called when a telephony configuration was created, changed or deleted. Must not throw. */
  onTelephonyChanged?: (() => void) | undefined;
  /** The text of /metrics. Default: the figures of this process. */
  figures?: (() => Promise<string>) | undefined;
  /** Reasons why the gateway should get no new calls, for /ready. Default: none. */
  notReady?: (() => readonly string[]) | undefined;
  log: Log;
  clock: Clock;
  random: Random;
  /** The provider of that name; undefined if this version does not have it. */
  providerByName: (name: ProviderName) => TelephonyProvider | undefined;
  /** Providers in the order in which webhooks are matched. */
  hostedProviders: readonly HostedProvider[];
  /** Providers whose configurations have a connection. */
  pbxProviders: readonly ConfiguredProviderName[];
  /** Name of this gateway among those on its database. */
  gatewayName: string;
  /** Services of an agent without settings. */
  services: SpeechServiceNames;
  /** The secret for figures that operators and autoscalers read; undefined: these routes are closed. */
  devopsSecret: string | undefined;
  /** Policy that leads conversations on this gateway. */
  policy: DialoguePolicy;
  /** Public URL for providers and clients, without a trailing slash: `https://gw.example.com`. */
  publicUrl: string;
  version: string;
  deploymentMode: string;
  authProvider: string;
  /** Proxies whose `X-Forwarded-For` is trusted: addresses, networks, or names such as `loopback`. */
  trustedProxies: readonly string[];
  /** Origins from which browsers may call; `*` for any, without credentials. */
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
    /** The authenticated principal; null on routes that take no key. */
    principal: Principal | null;
    /** The body as received; empty if there was none. */
    rawBody: Buffer;
  }
  interface FastifyInstance {
    /** Takes the upgrade to a socket of the console. Returns false, and leaves the socket untouched, for any other path.
     *  Undefined without the console. */
    takeUpgrade?: (request: IncomingMessage, socket: Duplex, head: Buffer) => boolean;
  }
  interface FastifyContextConfig {
    /** Whether the body is a provider's, which is passed on unchanged: nothing in it is an error here. */
    providerBody?: boolean;
    /** Whether the route reads the body piece by piece, at its own rate. */
    streamedBody?: boolean;
  }
}
