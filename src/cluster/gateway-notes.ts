// Notes between gateways about what has changed: each looks at once for work that it would find a little later by itself.
// A note that is lost costs those seconds, and nothing else.

import { z } from 'zod';
import type { AdoptedCall } from '../call/start/call-adoption.ts';
import type { Clock, Timer } from '../std/clock.ts';
import type { IpcChannel } from './ipc-channel.ts';
import { ALL_GATEWAYS, gatewayOfNode } from './ipc-message.ts';

/** Time in which ended calls are one note: a gateway ends a hundred a second, and one round of campaigns follows. */
const COMPLETED_MS = 200;
/** Longest pause that another gateway may set, the longest of the dispatcher. */
const PAUSE_MS_MAX = 60_000;

const paused = z.object({ configurationId: z.string(), ms: z.number().min(0).max(PAUSE_MS_MAX) });
export const adoptedCall = z.object({ runId: z.string(), from: z.string() });

/** What a gateway does on a note of another one. */
export interface NotedHere {
  /** A campaign was started or changed. */
  onCampaignDue(): void;
  /** Telephony configurations have changed. */
  onTelephonyChanged(): void;
  /** Calls have ended: there is room for others. */
  onCompleted(): void;
  /** A provider has no capacity for a configuration's calls, for `ms`. */
  onPaused(configurationId: string, ms: number): void;
  /** Another gateway has adopted a call of a worker of this one. */
  onAdopted(call: AdoptedCall): void;
}

export class GatewayNotes {
  readonly #bus: IpcChannel<string>;
  readonly #clock: Clock;
  #completed: Timer | undefined;

  constructor(bus: IpcChannel<string>, { clock, here }: { clock: Clock; here: NotedHere }) {
    this.#bus = bus;
    this.#clock = clock;
    bus.onNotification('campaign-due', () => here.onCampaignDue());
    bus.onNotification('telephony-changed', () => here.onTelephonyChanged());
    bus.onNotification('completed', () => here.onCompleted());
    bus.onNotification('paused', (body) => {
      const { configurationId, ms } = paused.parse(body);
      here.onPaused(configurationId, ms);
    });
    bus.onNotification('adopted', (body) => here.onAdopted(adoptedCall.parse(body)));
  }

  campaignDue(): void {
    this.#bus.notify(ALL_GATEWAYS, 'campaign-due', {});
  }

  telephonyChanged(): void {
    this.#bus.notify(ALL_GATEWAYS, 'telephony-changed', {});
  }

  completed(): void {
    this.#completed ??= this.#clock.after(COMPLETED_MS, () => {
      this.#completed = undefined;
      this.#bus.notify(ALL_GATEWAYS, 'completed', {});
    });
  }

  paused(configurationId: string, ms: number): void {
    this.#bus.notify(ALL_GATEWAYS, 'paused', { configurationId, ms });
  }

  /** Notifies the gateway that had the call. */
  adopted(call: AdoptedCall): void {
    this.#bus.notify(gatewayOfNode(call.from), 'adopted', call);
  }
}
