// The composition root of a worker behind the front: calls of hosted providers, and nothing else.

import { CallControl } from '../call/control/call-control.ts';
import { CrashRecovery } from '../call/control/crash-recovery.ts';
import { FRONT } from '../cluster/ipc-message.ts';
import { relayToFront } from '../cluster/live-relay.ts';
import { acceptHandedOffSocket } from '../cluster/socket-handoff.ts';
import { serveWorkerCalls } from '../cluster/worker-calls.ts';
import type { Drainable } from '../cluster/worker-commands.ts';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { systemClock as clock } from '../std/clock.ts';
import { withDeadline } from '../std/deadline.ts';
import { openGatewayParts, openMediaEndpoints, STOP_MS_MAX, type Worker } from './gateway-parts.ts';

/** A worker behind the front: calls of hosted providers, and nothing else. */
export async function startCallWorker(
  config: Config,
  log: Log,
  worker: Worker,
): Promise<Drainable> {
  const { link } = worker;
  const open = await openGatewayParts(config, log, worker);
  const callDeps = open.calls;
  callDeps.closing.onCompleted = () => void link.notify(FRONT, 'completed', {});
  const switchboard = new CallControl(callDeps);
  const recovery = new CrashRecovery(callDeps);
  await recovery.start();
  const media = await openMediaEndpoints(open.providers, switchboard, log);
  acceptHandedOffSocket(link, (request, socket, head) => {
    if (!media.handleUpgrade(request, socket, head)) socket.destroy();
  });
  relayToFront(link, callDeps.events.live, clock);
  const serving = serveWorkerCalls(link, switchboard, clock);
  return {
    async drain() {
      recovery.stop();
      await switchboard.drain(config.drainMs);
    },
    close: () => withDeadline(clock, STOP_MS_MAX, 'stop', closeAll()),
  };

  async function closeAll(): Promise<void> {
    serving.stop();
    await open.closeMedia(media);
    await open.close();
  }
}
