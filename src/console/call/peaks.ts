// The waveform of a call's recording: lowest and highest samples of both channels, from the gateway.

import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { requireOk } from '../api/client.ts';
import { CONSOLE_HEADERS } from '../api/session.ts';

const REQUEST_MS_MAX = 15_000;
/** Interval of questions while the call goes on. */
const LIVE_MS = 1_000;
/** Waveforms that are not shown are dropped after this: each view of a zoomed call is one. */
const KEPT_MS = 30_000;

export interface Peaks {
  durationMs: number;
  fromMs: number;
  binMs: number;
  /** Four a bin: lowest and highest of the caller, lowest and highest of the agent, -128 to 127. */
  values: Int8Array;
}

/** Peaks of a part of the recording. `data` is null for a call without a recording. */
export function usePeaks({
  path,
  hasSound,
  isLive,
  fromMs,
  toMs,
  bins,
}: {
  /** `/api/v1/workflow/{workflow_id}/runs/{run_id}`. */
  path: string;
  /** False for a call without a recording: nothing is asked. */
  hasSound: boolean;
  isLive: boolean;
  fromMs: number;
  /** Undefined: to the end. */
  toMs: number | undefined;
  bins: number;
}) {
  const span = toMs === undefined ? '' : `&to_ms=${toMs}`;
  const address = `${path}/peaks?bins=${bins}&from_ms=${fromMs}${span}`;
  return useQuery({
    queryKey: ['peaks', address],
    queryFn: ({ signal }) => read(address, signal),
    enabled: hasSound && bins > 0,
    placeholderData: keepPreviousData,
    gcTime: KEPT_MS,
    refetchInterval: isLive ? LIVE_MS : false,
  });
}

async function read(address: string, stopped: AbortSignal): Promise<Peaks | null> {
  const signal = AbortSignal.any([stopped, AbortSignal.timeout(REQUEST_MS_MAX)]);
  const response = await fetch(address, { signal, headers: CONSOLE_HEADERS });
  if (response.status === 404) return null;
  await requireOk(response);
  const figure = (name: string): number => Number(response.headers.get(name) ?? 0);
  return {
    durationMs: figure('X-Duration-Ms'),
    fromMs: figure('X-From-Ms'),
    binMs: figure('X-Bin-Ms'),
    values: new Int8Array(await response.arrayBuffer()),
  };
}
