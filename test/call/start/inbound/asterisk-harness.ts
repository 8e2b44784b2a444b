// The call layer with a simulated Asterisk: its configuration, and one clock for both.

import { systemClock } from '../../../../src/std/clock.ts';
import { systemRandom } from '../../../../src/std/random.ts';
import { ariProvider } from '../../../../src/telephony/ari/provider.ts';
import { providersOf } from '../../../../src/telephony/registry/registry.ts';
import type { FakeAsterisk } from '../../../fakes/asterisk/fake-asterisk.ts';
import type { HeardFrame, Phone } from '../../../fakes/asterisk/phone.ts';
import { type FakeClock, settle } from '../../../fakes/fake-clock.ts';
import type { CallHarness } from '../../call-harness.ts';
import { configurePbx, EXTENSION } from './pbx-harness.ts';

export const APP = 'patchbay_0123456789ab';

/** Connects the room's agent, who answers at EXTENSION. Time has to pass meanwhile. */
export async function withAsterisk(
  harness: CallHarness,
  asterisk: FakeAsterisk,
  credentials: object = {},
): Promise<void> {
  // The thread that writes recordings starts with the first, in real time, which this clock outruns.
  const first = await harness.deps.files.create('recordings/first.wav');
  first.append(Uint8Array.of(0));
  await first.close();
  connectsAsterisk(harness);
  harness.configuration = await configurePbx(harness, {
    credentials: {
      ari_endpoint: asterisk.url,
      app_name: 'gw',
      app_password: 'gwsecret',
      ws_client_name: '',
      stasis_app_name: APP,
      ...credentials,
    },
  });
  harness.number = await harness.addNumber(EXTENSION, { inboundWorkflowId: harness.workflow.id });
  await harness.callControl.startJobs({ hasPbxs: true });
  await harness.until(() => asterisk.openEventSockets === 1);
}

/** Has the real connector to Asterisk. */
export function connectsAsterisk(harness: CallHarness): void {
  const ari = ariProvider.create({ clock: harness.clock, random: systemRandom });
  Object.assign(harness.deps.providers, providersOf([ari]));
}

/** Lets time pass, `speed` times as fast as it does: store and sockets take real time. Returns what stops it. */
export function pace(clock: FakeClock, speed: () => number): () => void {
  let isRunning = true;
  const run = async (): Promise<void> => {
    let lastMs = systemClock.monotonicMs();
    while (isRunning) {
      await new Promise<void>((resolve) => void systemClock.after(2, resolve));
      const nowMs = systemClock.monotonicMs();
      let leftMs = (nowMs - lastMs) * speed();
      lastMs = nowMs;
      for (; leftMs > 0 && isRunning; leftMs -= 20) {
        clock.advance(Math.min(20, leftMs));
        await settle();
      }
    }
  };
  void run();
  return () => {
    isRunning = false;
  };
}

export const isLoud = ({ pcm }: HeardFrame): boolean =>
  pcm.some((sample) => Math.abs(sample) > 1_000);

/** Something was said to the telephone, and then nothing for half a second. */
export function hasHeardOut({ heard }: Phone): boolean {
  return heard.some(isLoud) && !heard.slice(-25).some(isLoud);
}
