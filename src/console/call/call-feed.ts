// The items of a call as its stream sends them: those of the past at once, then each as it happens. Items that come
// together change the page once.

import { useEffect, useState } from 'react';
import { type StreamState, watch } from '../api/events.ts';
import { type CallItem, itemIn } from './call-items.ts';
import { type CallState, emptyCall, withItems } from './call-state.ts';

/** Time for which items are collected: half a frame of a live call, and pages of a replay together. */
const COLLECT_MS = 30;

export interface CallFeed {
  call: CallState;
  stream: StreamState;
}

export function useCallFeed(path: string): CallFeed {
  const [call, setCall] = useState(emptyCall);
  const [stream, setStream] = useState<StreamState>('opening');
  useEffect(() => {
    let waiting: CallItem[] = [];
    let timer: ReturnType<typeof setTimeout> | undefined;
    setCall(emptyCall);
    const flush = () => {
      timer = undefined;
      const items = waiting;
      waiting = [];
      setCall((state) => withItems(state, items));
    };
    const stop = watch(path, {
      event: ({ event, data }) => {
        const item = itemIn(data);
        if (item === undefined) return;
        waiting.push(item);
        timer ??= setTimeout(flush, COLLECT_MS);
        if (event !== 'completed') return;
        stop();
        setStream('over');
      },
      state: setStream,
    });
    return () => {
      stop();
      clearTimeout(timer);
    };
  }, [path]);
  return { call, stream };
}
