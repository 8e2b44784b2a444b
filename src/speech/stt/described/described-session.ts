// Request that opens a session before the connection of a described recogniser. Its answer has the address of the
// websocket.

import type {
  DescriptionValues,
  RecognizerDescription,
} from '../../../model/speech-services/schemas/description.ts';
import { parseJson } from '../../../std/json.ts';
import {
  addressOf,
  headersOf,
  messageText,
  textAt,
} from '../../service/description/message-template.ts';
import { ServiceFault } from '../../service/service-fault.ts';
import type { ServiceHttp } from '../../service/service-http.ts';
import type { VendorSocketOptions } from '../../service/vendor-socket.ts';

/** Deadline of the request: the socket waits no longer to be ready. */
const ANSWER_MS_MAX = 2_500;
const ANSWER_BYTES_MAX = 65_536;
/** Longest address. Its parameters are secrets, and the text of a fault is searched for each of them. With an address
 *  of 64 kB that takes a minute, in which all calls of the process stall. */
const ADDRESS_CHARACTERS_MAX = 2_000;
const PARAMETERS_MAX = 20;

interface Opened {
  service: string;
  baseUrl: string;
  description: RecognizerDescription;
  values: DescriptionValues;
  http?: ServiceHttp | undefined;
}

/** Empty for a description without such a request. */
export function locatorOf(of: Opened): Pick<VendorSocketOptions, 'locate'> {
  const { service, baseUrl, description, values, http } = of;
  const { session } = description;
  if (session === undefined || http === undefined) return {};
  return {
    locate: async (signal) => {
      const answer = await http.request({
        method: 'POST',
        url: addressOf(baseUrl.replace(/^ws/, 'http'), description, values),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json',
          ...headersOf(description.headers, values),
        },
        body: messageText(session.body, values),

        signal,
        answerMsMax: ANSWER_MS_MAX,
      });
      const body = parseJson((await answer.bytes(ANSWER_BYTES_MAX)).toString('utf8'));
      const url = textAt(body, session.url);
      if (url !== undefined && !isTooLong(url)) return url;
      const detail =
        url === undefined
          ? 'the answer has no websocket address'
          : 'the address of the websocket is too long';
      throw new ServiceFault('stt', service, 'protocol', { detail });
    },
  };
}

function isTooLong(url: string): boolean {
  if (url.length > ADDRESS_CHARACTERS_MAX) return true;
  return (URL.parse(url)?.searchParams.size ?? 0) > PARAMETERS_MAX;
}
