// Builds the HTTP API from what its process has opened.

import { fileURLToPath } from 'node:url';
import { createAccess } from '../api/auth/access.ts';
import type { Api } from '../api/http/api-deps.ts';
import { EventStreams, STREAM_LIFE_MS } from '../api/http/event-streams.ts';
import { buildServer, type ServerDeps } from '../api/server.ts';
import type { LiveWatchers } from '../call/events/live-watchers.ts';
import type { LanguageModelSource } from '../call/start/setup/call-services.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { metricsText } from '../metrics/exposition.ts';
import { registry } from '../metrics/metrics.ts';
import { withOldNames } from '../metrics/old-names.ts';
import { busyLoopMeter } from '../runtime/busy-loop.ts';
import type { LanguageModel } from '../speech/llm/llm.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import { RecordingPeaks } from '../store/files/recording-peaks.ts';
import type { StoreHandle } from '../store/open.ts';
import type { Providers } from '../telephony/registry/registry.ts';
import { WorkflowGenerator } from '../workflow/authoring/agent-writer.ts';
import { gatewayNode } from './node-options.ts';
import { ownVersion } from './own-version.ts';

/** The parts that differ between a gateway of one process and an API process. */
export interface ApiParts
  extends Pick<
    ServerDeps,
    | 'callService'
    | 'egress'
    | 'examinations'
    | 'figures'
    | 'notReady'
    | 'onCampaignDue'
    | 'onTelephonyChanged'
    | 'peaksElsewhere'
    | 'system'
    | 'toolRequests'
    | 'textChats'
    | 'sounds'
    | 'services'
  > {
  store: StoreHandle;
  providers: Providers;
  llm: LanguageModel | undefined;
  /** Language models of the organizations. */
  models: LanguageModelSource;
  live: LiveWatchers;
  /** Default: new ones, for a gateway that no other one asks. */
  peaks?: RecordingPeaks;
  /** Whether other gateways report what happens in their calls. Default: they do not. */
  areOthersReporting?: () => boolean;
}

export function buildApi(config: Config, parts: ApiParts, log: Log): Promise<Api> {
  const { store, providers, llm, models, live, areOthersReporting, figures, peaks, ...rest } =
    parts;
  return buildServer({
    ...rest,
    figures: metricsOf(config, figures),
    isLoopBusy: busyLoopMeter(clock),
    store,
    files: store.files,
    directLinks: store.s3?.links,
    links: store.links,
    peaks: peaks ?? new RecordingPeaks(store.files),
    access: createAccess({
      clock,
      random,
      isSignUpOpen: config.isSignUpOpen,
      tokenKeys:
        config.tokenSecret === undefined ? store.tokenKeys : [Buffer.from(config.tokenSecret)],
      tokenHours: config.tokenHours,
      hasConsole: config.hasConsole,
    }),
    streams: new EventStreams({
      places: store.places,
      clock,
      live,
      lifeMs: STREAM_LIFE_MS,
      areOthersReporting,
    }),
    writer: new WorkflowGenerator({
      modelOf: (organizationId) => models.languageModelOf({ organizationId, configurations: {} }),
      clock,
    }),
    log,
    clock,
    random,
    providerByName: (name) => providers.byName(name),
    hostedProviders: providers.hosted,
    pbxProviders: providers.pbx.map(({ name }) => name),
    gatewayName: gatewayNode(config),
    devopsSecret: config.devopsSecret,
    console: config.hasConsole ? consoleOf(config, live) : undefined,
    metricsToken: config.metricsToken,
    policy: llm === undefined ? 'scripted' : 'model',
    publicUrl: config.publicUrl,
    version: ownVersion(),
    deploymentMode: config.deploymentMode,
    authProvider: config.authProvider,
    trustedProxies: config.trustedProxies,
    corsOrigins: '*',
  });
}

/** The built console stands in `dist/`. */
function consoleOf({ s3 }: Config, live: LiveWatchers): ServerDeps['console'] {
  const fileOrigins = s3 === undefined ? [] : [new URL(s3.publicEndpoint ?? s3.endpoint).origin];
  return { folder: fileURLToPath(new URL('../console/', import.meta.url)), fileOrigins, live };
}

/** The text of /metrics: of all processes, or of this one. */
function metricsOf(
  { oldMetricNames }: Config,
  figures: () => Promise<string> = () => metricsText(registry),
): () => Promise<string> {
  return oldMetricNames ? async () => withOldNames(await figures()) : figures;
}
