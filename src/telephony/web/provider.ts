// Browsers as a provider: a page opens the media socket itself, with a token that the API has given for its run. There is
// no account and nothing to configure, and nobody can be called: calls come from `POST /api/v1/web-calls`.

import { GatewayError } from '../../errors/gateway-error.ts';
import type { ProviderControl } from '../provider/provider.ts';
import { defineDirect } from '../provider/provider-definition.ts';
import { createWebMedia } from './media.ts';

/** Longest call: like one over a PBX; the agent's limit applies. */
const CALL_S_MAX = 86_400;

/** A browser's call is its socket: what concerns a call ends or is found there. */
const control: ProviderControl = {
  dial: () => refused('a browser cannot be called'),
  async hangUp() {
    // The call ends with its socket.
  },
  transfer: () => refused('a call from a browser cannot be transferred'),
  async getCall() {
    return undefined;
  },
  async findCalls() {
    return [];
  },
  async ownsNumber() {
    return undefined;
  },
  configureInbound: () => refused('it has no numbers'),
  detachInbound: () => refused('it has no numbers'),
};

export const webProvider = defineDirect({
  name: 'web',
  displayName: 'Browser',
  capabilities: {
    digitsOut: 'tones',
    closeEndsCall: true,
    afterMedia: 'ends',
    idempotentDial: false,
    digitsIn: true,
    answeringMachine: false,
    transfer: [],
    transferAwaits: 'acceptance',
    callS: { max: CALL_S_MAX },
  },
  create: () => ({
    formatAddress: (addressNormalized) => addressNormalized,
    control,
    createMedia: createWebMedia,
    returnMs: 5_000,
  }),
});

async function refused(reason: string): Promise<never> {
  throw new GatewayError('PROVIDER_REFUSED', { provider: 'web', reason });
}
