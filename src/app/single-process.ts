// Composition root of a gateway of one process (PATCHBAY_WORKERS=0): calls share their event loop with the API and all
// background jobs, and are not isolated from either.

import type { CallControl } from '../call/call-control.ts';
import { isHttp11 } from '../cluster/upgrade-router.ts';
import type { Drainable } from '../cluster/worker-commands.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { seriesOf } from '../metrics/exposition.ts';
import { sampledMetrics } from '../metrics/metric-history.ts';
import { registry } from '../metrics/metrics.ts';
import type { SpeechServiceNames } from '../model/speech-services/services.ts';
import { closeAnswered } from '../runtime/http-closing.ts';
import type { LanguageModel } from '../speech/llm/llm.ts';
import { serviceStates } from '../speech/service/service-states.ts';
import type { SpeechToText } from '../speech/stt/stt.ts';
import { systemClock as clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import type { StoreHandle } from '../store/open.ts';
import { refuseUpgrade } from '../transport/upgrade-refusal.ts';
import { buildApi } from './api-server.ts';
import { BackgroundJobs } from './background-jobs.ts';
import { createCallControl } from './call-parts.ts';
import { OwnCondition, startConditionReport } from './condition-report.ts';
import { openExaminations } from './examinations.ts';
import { openForeignUpgrades } from './foreign-upgrades.ts';
import { openGatewayParts, openMediaEndpoints } from './gateway-parts.ts';
import { openLineWatch } from './line-watch.ts';
import { STOP_MS_MAX } from './node-parts.ts';
import { Readiness } from './readiness.ts';
import { checkS3 } from './s3-check.ts';
import { logEndingModels, logOversizedAgents, resealSecrets } from './startup-checks.ts';
import type { FirstApiKey } from './supervisor-store.ts';
import { SystemWatch } from './system-watch.ts';
import { onWebsocketUpgrade, takeUpgrades, withConsole } from './upgrades.ts';

export interface SingleProcess extends Drainable {
  accounts: FirstApiKey;
  /** Notes that the first API key is printed. The gateway is not ready before. */
  announced(): void;
}

export async function startSingleProcess(config: Config, log: Log): Promise<SingleProcess> {
  const [open] = await Promise.all([
    openGatewayParts(config, log, undefined),
    checkS3(config, log),
  ]);
  const { store, providers, speech, egress } = open;
  await resealSecrets(store, log);
  const callDeps = open.calls;
  const control = createCallControl(callDeps);
  store.onReentered = () => void control.endTakenCalls(store);
  const jobs = new BackgroundJobs(
    config,
    { ...callDeps, ...callDeps.http, models: callDeps.services.speech, store },
    control.campaignCalls,
  );
  callDeps.closing.onCompleted = (completed) => jobs.noteCompleted(completed);
  await jobs.recover();
  control.textChats.start();
  const media = await openMediaEndpoints(open, control, log);
  const readiness = readinessOf(store, control);
  const notReady = () => readiness.reasons;
  const reported = { notReady, workers: () => 0 };
  const condition = startConditionReport(config, { store, ...reported, clock, log });
  const own = new OwnCondition(config, reported);
  const watch = new SystemWatch({
    sample: async (names) => sampledMetrics.parse(await seriesOf(registry, names)),
    notes: async () => serviceStates.all,
    condition: () => own.read(),
    clock,
    log,
  });
  const parts = { store, providers, egress, callService: control, readiness };
  const examinations = openExaminations(config, parts, log);
  const api = await buildApi(
    config,
    {
      store,
      providers,
      llm: speech.llm,
      models: callDeps.services.speech,
      egress,
      live: callDeps.events.live,
      ...examinations.services,
      onCampaignDue: () => jobs.dispatcher.wake(),
      onTelephonyChanged: () => void control.pbxLines.wake(),
      toolRequests: { ...callDeps.http, clock },
      textChats: control.textChats,
      notReady,
      system: watch,
      sounds: callDeps.sounds,
      services: serviceNames(speech),
    },
    log,
  );
  const lines = openLineWatch(
    config,
    {
      store,
      providers,
      examinations: examinations.services.examinations,
      takesCalls: () => readiness.reasons.length === 0 && control.campaignCalls.takesCalls,
    },
    log,
  );
  const take = examinations.takeUpgrades(takeUpgrades(open, media));
  const foreign = openForeignUpgrades(config, {
    store,
    providers,
    hasApplication: (each) => providers.pbx.some(({ pbx }) => pbx.applications.includes(each)),
    log,
  });
  const takeAny = withConsole(api, foreign.takeUpgrades(take));
  onWebsocketUpgrade(api.server, (request, socket, head) => {
    if (isHttp11(request)) takeAny(request, socket, head);
    else refuseUpgrade(socket, '400 Bad Request');
  });
  await api.listen({ host: config.host, port: config.port });
  await control.startJobs({ hasPbxs: true, isShared: config.databaseUrl !== undefined });
  jobs.continueLeftCalls({
    answerAgain: (runId) => control.answerAgain(runId),
    resume: (runId) => control.resumeLeft(runId),
  });
  await jobs.dispatcher.start();
  lines.start();
  watch.start();
  void logOversizedAgents(store, log);
  void logEndingModels(store, { clock, log });

  return {
    accounts: store.accounts,
    announced: () => readiness.announced(),
    async drain() {
      readiness.drain();
      await new Promise<void>((resolve) => clock.after(config.drainGraceMs, resolve));
      await Promise.all([jobs.drain(), lines.stop()]);
      await Promise.all([control.drain(config.drainMs), foreign.drain(config.drainMs)]);
    },
    close: () => withDeadline(clock, STOP_MS_MAX, 'stop', closeAll()),
  };

  async function closeAll(): Promise<void> {
    readiness.close();
    await Promise.all([condition?.stop(), watch.stop(), lines.stop()]);
    await examinations.close();
    foreign.close();
    await open.closeMedia(media);
    await closeAnswered(api.server, [], { clock, close: () => api.close() });
    await jobs.close();
    await open.close();
  }
}

function readinessOf(store: StoreHandle, { campaignCalls }: CallControl): Readiness {
  const calls = {
    isThere: true,
    get takesCalls() {
      return campaignCalls.takesCalls;
    },
  };
  return new Readiness({ clock, isDatabaseThere: () => store.alive(), calls });
}

/** Services of agents without settings. */
function serviceNames(speech: {
  llm: LanguageModel | undefined;
  stt: SpeechToText | undefined;
}): SpeechServiceNames {
  return {
    llm: speech.llm === undefined ? 'scripted' : 'openai',
    stt: speech.stt === undefined ? null : 'pocketsphinx',
    tts: 'flite',
  };
}
