// A media socket whose messages are also written to a capture, in both directions. Messages are strings or buffers: the
// faster paths without strings are for calls of runs.

import type { MediaSocket, MediaSocketListener } from '../../transport/media-socket.ts';
import type { CallCapture } from './call-capture.ts';

/** Wraps the socket: captures messages of the gateway. */
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

/** Wraps the listener: captures messages of the provider. */
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
