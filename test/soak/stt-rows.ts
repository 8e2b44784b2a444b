// The recognisers of a soak: how the fake of each protocol is started, and what its client is given.

import { sttServices } from '../../src/model/speech-services/services.ts';
import { createSttService } from '../../src/speech/vendors/stt-registry.ts';
import type { Clock } from '../../src/std/clock.ts';
import { type SttPreset, sttPresets } from '../fakes/described/presets.ts';
import { sttProtocols } from '../fakes/described/stt-servers.ts';
import { startAssemblyAiServer } from '../fakes/services/assemblyai-server.ts';
import { startAzureStt } from '../fakes/services/azure-stt-server.ts';
import { startDeepgramServer } from '../fakes/services/deepgram-server.ts';
import {
  type SttFaults,
  type SttServer,
  type SttServerOptions,
  type SttSession,
  startSttServer,
} from '../fakes/services/stt-server.ts';
import { startVoskServer } from '../fakes/services/vosk-server.ts';
import { KEY } from './soak-run.ts';
import { STT_FAULTS, type SttFaultName } from './stt-faults.ts';
import type { HeardBySoak, SttRow } from './stt-soak.ts';
import { openAiUploads, wyomingUtterances } from './stt-utterances.ts';

/** Without a message that says it is ready. */
const UNREADY: SttFaultName[] = ['late ready', 'never ready'];
const without = (...names: SttFaultName[]) => STT_FAULTS.filter((name) => !names.includes(name));

type Start = (options: SttServerOptions) => Promise<SttServer>;

/** Counts what the sessions of a fake have got, and keeps none that is over. */
const counting =
  (start: Start, billing: 'audio' | 'session' = 'audio') =>
  async (clock: Clock, faults: () => SttFaults): Promise<HeardBySoak> => {
    const open = new Set<SttSession>();
    let count = 0;
    let ms = 0;
    const msOf = ({ audioMs, openedAt, closedAt }: SttSession): number =>
      billing === 'audio' ? audioMs : (closedAt ?? clock.monotonicMs()) - openedAt;
    const fold = (): void => {
      for (const session of open) {
        if (session.closedAt === undefined) continue;
        ms += msOf(session);
        open.delete(session);
      }
    };
    const server = await start({
      clock,
      key: KEY,
      faults,
      isRecording: false,
      onSession(session) {
        fold();
        count += 1;
        open.add(session);
      },
    });
    return {
      url: server.url,
      violations: server.violations,
      sessions: () => count,
      open() {
        fold();
        return [...open].filter(({ isOpen }) => isOpen).length;
      },
      seconds() {
        fold();
        return ms / 1_000;
      },
      close: () => server.close(),
    };
  };

const preset =
  (name: SttPreset): Start =>
  (options) =>
    startSttServer(options, sttProtocols[name](KEY));

export const STT_ROWS: readonly SttRow[] = [
  {
    name: 'nova',
    faults: without(...UNREADY),
    start: counting(startDeepgramServer),
    create(url, means) {
      const row = { provider: 'deepgram', api_key: KEY, model: 'nova-3', base_url: url } as const;
      return createSttService(sttServices.deepgram.parse(row), means);
    },
  },
  {
    name: 'flux',
    faults: STT_FAULTS,
    start: counting(startDeepgramServer),
    create(url, means) {
      const row = { provider: 'deepgram', api_key: KEY, base_url: url, eager_eot_threshold: 0.5 };
      const settings = sttServices.deepgram.parse({ ...row, model: 'flux-general-en' });
      return createSttService(settings, means);
    },
  },
  {
    name: 'assemblyai',
    faults: STT_FAULTS,
    start: counting(startAssemblyAiServer, 'session'),
    create(url, means) {
      const row = { provider: 'assemblyai', api_key: KEY, base_url: url };
      return createSttService(sttServices.assemblyai.parse(row), means);
    },
  },
  {
    name: 'azure',
    faults: without(...UNREADY),
    start: counting(startAzure),
    create(url, means) {
      const row = { provider: 'azure_speech', api_key: KEY, base_url: url };
      return createSttService(sttServices.azure_speech.parse(row), means);
    },
  },
  {
    name: 'vosk',
    // One reply to each message: another one shifts all that follow, which no client can notice.
    faults: without(...UNREADY, 'doubled finals', 'unknown'),
    start: counting(startVoskServer),
    create(url, means) {
      const row = { provider: 'vosk', api_key: KEY, base_url: url };
      return createSttService(sttServices.vosk.parse(row), means);
    },
  },
  wyomingUtterances,
  openAiUploads,
  {
    name: 'described',
    faults: without(...UNREADY),
    start: counting(preset('soniox')),
    create(url, means) {
      const row = { provider: 'websocket_stt', api_key: KEY, base_url: url, language: 'en' };
      const { soniox: description } = sttPresets;
      const given = { ...row, model: 'stt-rt-v5', description };
      return createSttService(sttServices.websocket_stt.parse(given), means);
    },
  },
];

/** Its record of messages is emptied: a soak has too many. */
async function startAzure(options: SttServerOptions): Promise<SttServer> {
  const server = await startAzureStt({
    ...options,
    onSession(session) {
      server.bodies.splice(0, Math.max(0, server.bodies.length - 100));
      options.onSession?.(session);
    },
  });
  return server;
}
