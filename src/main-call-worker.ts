// The composition root of a worker behind the front: calls of hosted providers, and nothing else.

import { Switchboard } from './call/control/call-control.ts';
import { Recovery } from './call/control/crash-recovery.ts';
import type { Config } from './config.ts';
import { serveCalls } from './crew/calls.ts';
import type { Obedient } from './crew/command.ts';
import { tellNews } from './crew/live.ts';
import { FRONT } from './crew/message.ts';
import { takeHandedOver } from './crew/upgrade.ts';
import type { Log } from './log.ts';
import { openGateway, openMediaDoors, STOP_MS_MAX, type Worker } from './main-parts.ts';
import { systemClock as clock } from './std/clock.ts';
import { within } from './std/deadline.ts';

/** A worker behind the front: calls of hosted providers, and nothing else. */
export async function startCallWorker(config: Config, log: Log, worker: Worker): Promise<Obedient> {
  const { link } = worker;
  const open = await openGateway(config, log, worker);
  const onCompleted = (): void => void link.note(FRONT, 'completed', {});
  const callDeps = { ...open.calls, onCompleted };
  const switchboard = new Switchboard(callDeps);
  const recovery = new Recovery(callDeps);
  await recovery.start();
  const media = openMediaDoors(open.providers, switchboard, log);
  takeHandedOver(link, (request, socket, head) => {
    if (!media.handleUpgrade(request, socket, head)) socket.destroy();
  });
  tellNews(link, callDeps.events.live);
  const serving = serveCalls(link, switchboard, clock);
  return {
    async drain() {
      recovery.stop();
      await switchboard.drain(config.drainMs);
    },
    close: () => within(clock, STOP_MS_MAX, 'stop', closeAll()),
  };

  async function closeAll(): Promise<void> {
    serving.stop();
    await open.closeMedia(media);
    await open.close();
  }
}
