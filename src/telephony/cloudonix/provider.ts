// Cloudonix as a telephony provider: its declaration, and its parts joined. Its media are the messages of
// telephony/twiml; their format is not documented, so fields that Twilio always sends may be missing. Source: providers
// §5, §7.1.

import type { MediaProtocol } from '../provider/media-protocol.ts';
import { defineProvider } from '../provider/provider-definition.ts';
import { createRest, type HostedOptions } from '../provider/rest-client.ts';
import { createStreamMedia } from '../twiml/stream-media.ts';
import { createCloudonixInspection } from './account.ts';
import { createCloudonixClient } from './client.ts';
import { cloudonixCredentials, cloudonixTrunkSettings } from './config.ts';
import { CLOUDONIX_CALL_S_MAX, createCloudonixControl } from './control.ts';
import { cloudonixWebhook } from './webhook.ts';

export const cloudonixProvider = defineProvider({
  credentials: cloudonixCredentials,
  displayName: 'Cloudonix',
  connectivity: 'sip',
  docsUrl: 'https://developers.cloudonix.com/',
  accountIdField: 'domain_id',
  webhookKeyField: 'application_key',
  addressFields: ['api_base_url'],
  secretDestination: { field: 'api_base_url', secret: 'bearer_token' },
  readableKeys: ['application_id'],
  trunkSettings: cloudonixTrunkSettings,
  capabilities: {
    answerStyle: 'document',
    digitsOut: 'tones', // A document with the keys would end the stream.
    closeEndsCall: true,
    afterMedia: 'asks',
    idempotentDial: false,
    webhookProof: 'shared-key',
    digitsIn: true,
    answeringMachine: false,
    transfer: ['cold', 'warm'],
    transferAwaits: 'acceptance',
    callS: { max: CLOUDONIX_CALL_S_MAX },
  },
  create(
    options: HostedOptions & {
      /** Requests of one domain in ten seconds. Default: Cloudonix' limit. */
      requestsMax?: number;
    },
  ) {
    const { requestsMax, ...rest } = options;
    const client = createCloudonixClient({
      rest: createRest({ provider: 'cloudonix', ...rest }),
      clock: options.clock,
      requestsMax,
    });
    return {
      formatAddress: (addressNormalized) => addressNormalized, // The trunk's form: `+` and digits, or `sip:`.
      control: createCloudonixControl(client),
      inspection: createCloudonixInspection(client),
      webhook: cloudonixWebhook,
      createMedia: createCloudonixMedia,
    };
  },
});

/** One socket's protocol. Its call id is `session`: `start.callSid` is not the token of the session. */
export function createCloudonixMedia(): MediaProtocol {
  return createStreamMedia({ provider: 'cloudonix', callIdField: 'session', isComplete: false });
}
