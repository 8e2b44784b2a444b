// The other gateways of an API process: the channel to them over Redis, the directory of those that are on it, their live
// items and their notes.

import { createHash } from 'node:crypto';
import type { LiveWatchers } from '../call/events/live-watchers.ts';
import { GatewayDirectory, relayToWorkers } from '../cluster/gateway-directory.ts';
import { GatewayNotes, type NotedHere } from '../cluster/gateway-notes.ts';
import { IpcChannel } from '../cluster/ipc-channel.ts';
import { relayFromGateways, relayTo } from '../cluster/live-relay.ts';
import { channelsOf, GATEWAY_BYTES_MAX, RedisTransport } from '../cluster/redis-transport.ts';
import { relayRemoteMessages } from '../cluster/remote-messages.ts';
import { answerPeaks, peaksAt } from '../cluster/remote-peaks.ts';
import type { WorkerDirectory } from '../cluster/worker-directory.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import { systemRandom as random } from '../std/random.ts';
import type { Peaks, PeaksWanted, RecordingPeaks } from '../store/files/recording-peaks.ts';
import type { StoreHandle } from '../store/open.ts';
import { gatewayNode } from './node-options.ts';
import { ownVersion } from './own-version.ts';

/** Digits of the database's identity in the names of channels. */
const IDENTITY_DIGITS = 10;

export interface ClusterBus {
  bus: IpcChannel<string>;
  gateways: GatewayDirectory;
  notes: GatewayNotes;
  /** Whether other gateways can be reached. */
  isUp(): boolean;
  /** Peaks of a recording at the gateway of another process. */
  peaksAt(node: string, key: string, wanted: PeaksWanted): Promise<Peaks | undefined>;
  /** Begins to report this gateway to the others; from then on it is found. */
  start(): void;
  close(): void;
}

export interface ClusterBusDeps {
  store: Pick<StoreHandle, 'gatewayKeys' | 'databaseIdentity'>;
  link: IpcChannel;
  workers: WorkerDirectory;
  live: LiveWatchers;
  /** Recordings of this gateway, for the others. */
  peaks: RecordingPeaks;
  here: NotedHere;
  /** Whether this gateway stops. */
  isLeaving: () => boolean;
  log: Log;
}

/** Opens the channel to the other gateways, without waiting for Redis. Undefined without REDIS_URL. Throws
 *  STORE_UNAVAILABLE. */
export async function openClusterBus(
  config: Config,
  { store, link, workers, live, peaks, here, isLeaving, log }: ClusterBusDeps,
): Promise<ClusterBus | undefined> {
  if (config.redisUrl === undefined) return undefined;
  const { RedisPubSub } = await import('../store/shared/redis-pub-sub.ts');
  const gateway = gatewayNode(config);
  const prefix = await prefixOf(store);
  const channels = channelsOf(prefix, gateway);
  const redis = new RedisPubSub({ url: config.redisUrl, channels, clock, random, log });
  const keys = store.gatewayKeys;
  const transport = new RedisTransport({ redis, gateway, prefix, keys, clock, log });
  const bytesMax = GATEWAY_BYTES_MAX;
  const bus = new IpcChannel<string>(gateway, transport, { clock, log, bytesMax });
  const gateways = new GatewayDirectory(bus, {
    clock,
    random,
    own: () => ({
      url: config.nodeUrl,
      version: ownVersion(),
      isLeaving: isLeaving(),
      workers: workers.reports,
      pbxs: workers.pbxs,
    }),
  });
  relayToWorkers(bus, link);
  answerPeaks(bus, peaks);
  const notifyWorkers = relayRemoteMessages(bus, link, () => workers.numbers);
  transport.onUnsent = (name) => notifyWorkers({ gateway: name, is: 'unsent' });
  const watchGateway = relayFromGateways(bus, live);
  const unwatchGateway = relayTo(bus, live, { clock, place: 'elsewhere' });
  gateways.onJoined = (name) => {
    watchGateway(name);
    notifyWorkers({ gateway: name, is: 'back' });
  };
  gateways.onLeft = (name) => {
    unwatchGateway(name);
    notifyWorkers({ gateway: name, is: 'gone' });
  };
  redis.onState = (isUp) => {
    if (isUp) return;
    gateways.forgetAll();
    live.notifyStored(live.runIdsHere, 'elsewhere'); // Feeds read the database again.
  };
  workers.others = gateways;
  redis.start();
  return {
    bus,
    gateways,
    notes: new GatewayNotes(bus, { clock, here }),
    isUp: () => redis.isUp,
    peaksAt: (node, key, wanted) => {
      const isKnown = (name: string): boolean => gateways.byName(name) !== undefined;
      return peaksAt({ bus, isKnown }, node, { key, ...wanted });
    },
    start: () => gateways.start(),
    close() {
      gateways.stop();
      redis.close();
    },
  };
}

/** Prefix of the channels: gateways on different databases do not meet, even at one Redis. */
async function prefixOf(store: ClusterBusDeps['store']): Promise<string> {
  const identity = createHash('sha256').update(await store.databaseIdentity());
  return `pb:${identity.digest('hex').slice(0, IDENTITY_DIGITS)}`;
}
