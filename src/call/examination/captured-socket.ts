// A media socket whose messages are written to a capture, both ways. Messages go as strings or buffers: the
// paths without strings, for speed, are for calls of runs.

import type { MediaSocket, MediaSocketListener } from '../../transport/media-socket.ts';
import type { CallCapture } from './call-capture.ts';

/** What the gateway sends. */
export function capturedSocket(socket: MediaSocket, capture: CallCapture): MediaSocket {
  return {
    sendText(message) {
      capture.message('gateway', message);
      socket.sendText(message);
    },
    sendBinary(message) {
      capture.binary('gateway', message.length);
      socket.sendBinary(message);
    },
    get bufferedBytes() {
      return socket.bufferedBytes;
    },
    get open() {
      return socket.open;
    },
    close: (code, reason) => socket.close(code, reason),
  };
}

/** What the provider sends. */
export function capturedListener(
  listener: MediaSocketListener,
  capture: CallCapture,
): MediaSocketListener {
  return {
    onText(message) {
      capture.message('provider', message);
      listener.onText(message);
    },
    onBinary(message) {
      capture.binary('provider', message.length);
      listener.onBinary(message);
    },
    onClose(code, reason) {
      capture.closed(code, reason);
      listener.onClose(code, reason);
    },
  };
}
