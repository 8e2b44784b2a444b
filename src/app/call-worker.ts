// The composition root of a worker behind the front: calls of hosted providers, and nothing else.

import { Switchboard } from '../call/control/call-control.ts';
import { Recovery } from '../call/control/crash-recovery.ts';
import { FRONT } from '../cluster/ipc-message.ts';
import { tellNews } from '../cluster/live-relay.ts';
import { takeHandedOver } from '../cluster/socket-handoff.ts';
import { serveCalls } from '../cluster/worker-calls.ts';
import type { Obedient } from '../cluster/worker-commands.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import { within } from '../std/deadline.ts';
import { openGateway, openMediaDoors, STOP_MS_MAX, type Worker } from './gateway-parts.ts';

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
