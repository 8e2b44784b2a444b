// Server-sent events of the gateway: `watch` opens a stream by the session's cookie, and again with the last id after
// it broke, until it is over or stopped.

/** An item of a call, or of the list of calls. */
export interface StreamEvent {
  /** Name of the event: `started`, `completed`, `closed`, or `message` for an item of a call. */
  event: string;
  data: { type?: string; payload?: Record<string, unknown>; timestamp?: string } & Record<
    string,
    unknown
  >;
}

export type StreamState = 'opening' | 'open' | 'broken' | 'over';

const NAMES = ['message', 'started', 'completed', 'closed'] as const;

/** Returns a function that stops it. The browser's EventSource reconnects by itself; a stream that is over is closed. */
export function watch(
  path: string,
  on: { event: (event: StreamEvent) => void; state?: (state: StreamState) => void },
): () => void {
  const source = new EventSource(path);
  const report = (state: StreamState): void => on.state?.(state);
  report('opening');
  source.onopen = () => report('open');
  source.onerror = () => report(source.readyState === EventSource.CLOSED ? 'over' : 'broken');
  for (const name of NAMES) {
    source.addEventListener(name, ({ data }: MessageEvent<string>) => {
      on.event({ event: name, data: JSON.parse(data) as StreamEvent['data'] });
    });
  }
  return () => source.close();
}
