// The provider's end of a media stream for a talk of half a second: silence every 20 ms, then stop.

import twilio from 'twilio';
import { WebSocket } from 'ws';

const FRAME_MS = 20;
const CONNECT_MS = 5_000;
const SILENCE = Buffer.alloc(160, 0xff).toString('base64');

export interface Talk {
  url: string;
  callSid: string;
  accountSid: string;
  authToken: string;
  parameters: Record<string, string>;
  ms: number;
  /** The call may be ended by the gateway meanwhile. */
  isOver: () => boolean;
}

/** True if the stream opened and the gateway stayed until the person hung up. */
export function talk({ url, callSid, accountSid, authToken, parameters, ms, isOver }: Talk) {
  const ws = new WebSocket(url, {
    perMessageDeflate: false,
    handshakeTimeout: CONNECT_MS,
    headers: { ['X-Twilio-Signature']: twilio.getExpectedTwilioSignature(authToken, url, {}) },
  });
  const streamSid = `MZ${callSid.slice(2)}`;
  let stayed = false;
  let frames = 0;
  let ticker: NodeJS.Timeout | undefined;
  const send = (message: object): void => {
    ws.send(JSON.stringify({ ...message, streamSid, sequenceNumber: String(++frames) }));
  };
  const tick = (): void => {
    if (frames * FRAME_MS < ms && !isOver()) {
      const timestamp = String(frames * FRAME_MS);
      send({ event: 'media', media: { track: 'inbound', timestamp, payload: SILENCE } });
      return;
    }
    clearInterval(ticker);
    stayed = !isOver();
    send({ event: 'stop', stop: { accountSid, callSid } });
    ws.close(1000);
  };
  return new Promise<boolean>((resolve) => {
    ws.on('open', () => {
      ws.send(JSON.stringify({ event: 'connected', protocol: 'Call', version: '1.0.0' }));
      const mediaFormat = { encoding: 'audio/x-mulaw', sampleRate: 8000, channels: 1 };
      const tracks = ['inbound'];
      const facts = { accountSid, streamSid, callSid, tracks, mediaFormat };
      send({ event: 'start', start: { ...facts, customParameters: parameters } });
      ticker = setInterval(tick, FRAME_MS);
    });
    ws.on('message', () => undefined);
    ws.on('error', () => undefined);
    ws.on('close', () => {
      clearInterval(ticker);
      resolve(stayed);
    });
  });
}
