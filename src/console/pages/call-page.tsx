// One call, live or past, the same page: who, why it ended, the path in the graph, the sound with everything that
// happened on its axis, the transcript, and what it left. Its parts stand in console/call.

import '../style/call.css';
import { useCallback, useEffect, useMemo, useRef, useState } from 'react';
import { Link, useParams } from 'wouter';
import { api } from '../api/client.ts';
import type { StreamState } from '../api/events.ts';
import { ExportMenu, LiveActions } from '../call/call-actions.tsx';
import { useCallFeed } from '../call/call-feed.ts';
import { CallGraph } from '../call/call-graph.tsx';
import { Answers, Deliveries, Faults, Tools, Usage, Values } from '../call/call-sections.tsx';
import { type CallState, ITEMS_MAX } from '../call/call-state.ts';
import type { Run, RunAddress } from '../call/event-log.ts';
import { PlayerBar, usePlayer } from '../call/player.tsx';
import { addressAt, momentIn, Playhead } from '../call/playhead.ts';
import { RawEvents } from '../call/raw-events.tsx';
import { Timeline } from '../call/timeline.tsx';
import { Transcript } from '../call/transcript.tsx';
import { WhyEnded } from '../call/why-ended.tsx';
import { formatDuration, formatTime, words } from '../format.ts';
import { Badge, Loaded, Notice } from '../parts/notice.tsx';
import { Facts, Page, Section } from '../parts/page.tsx';

const RUN_PATH = '/api/v1/workflow/{workflow_id}/runs/{run_id}';
/** The run of a live call is read again this often: its numbers and status. */
const LIVE_MS = 5_000;
/** Step of the axis while the call goes on. */
const TICK_MS = 250;

export function CallPage() {
  const { agent: workflowId = '', run: runId = '' } = useParams();
  return <OneCall key={runId} address={{ workflow_id: workflowId, run_id: runId }} />;
}

function OneCall({ address }: { address: RunAddress }) {
  const { workflow_id, run_id } = address;
  const path = `/api/v1/workflow/${encodeURIComponent(workflow_id)}/runs/${encodeURIComponent(run_id)}`;
  const query = api.useQuery(
    'get',
    RUN_PATH,
    { params: { path: address } },
    { refetchInterval: ({ state }) => (state.data?.is_completed === false ? LIVE_MS : false) },
  );
  const { call, stream } = useCallFeed(`${path}/events`);
  const { refetch } = query;
  useEffect(() => {
    if (call.isOver) void refetch();
  }, [call.isOver, refetch]);
  if (query.data === undefined) {
    return (
      <Page title="Call" back={{ href: '/runs', name: 'Runs' }}>
        <Loaded query={query}>{() => null}</Loaded>
      </Page>
    );
  }
  return <CallView {...{ address, path, call, stream }} run={query.data} />;
}

interface CallViewProps {
  address: RunAddress;
  path: string;
  run: Run;
  call: CallState;
  stream: StreamState;
}

function CallView({ address, path, run, call, stream }: CallViewProps) {
  const isLive = !run.is_completed && !call.isOver;
  const isChat = run.mode === 'textchat';
  const playhead = useMemo(() => new Playhead(), []);
  const player = usePlayer(playhead);
  const seek = useSeek(playhead, player, run.recording_url !== null);
  const show = useCallback((atMs: number) => seek(atMs, true), [seek]);
  const recordingUrl = run.recording_url === null ? null : localAddress(run.recording_url);
  return (
    <Page
      title={titleOf(run)}
      back={{ href: '/runs', name: 'Runs' }}
      actions={
        <>
          {isLive && !isChat && <LiveActions run={address} />}
          <ExportMenu run={address} call={call} recordingUrl={recordingUrl} />
        </>
      }
    >
      <Header run={run} call={call} isLive={isLive} />
      {isLive && stream === 'broken' && (
        <Notice tone="warn">The connection to the gateway is broken. Reconnecting.</Notice>
      )}
      {call.left > 0 && (
        <Notice tone="warn">
          This call has more than {ITEMS_MAX} events; {call.left} are not shown.
        </Notice>
      )}
      {run.is_completed && <WhyEnded run={address} onSeek={show} />}
      <div className="call-columns">
        <div>
          <Section title="Path">
            <CallGraph run={run} call={call} playhead={playhead} />
          </Section>
          {!isChat && (
            <Section title="Sound">
              <Sound {...{ path, call, playhead, player, isLive, seek }} url={recordingUrl} />
            </Section>
          )}
        </div>
        <Section title="Transcript">
          <Transcript {...{ call, playhead, isLive }} onSeek={show} />
        </Section>
      </div>
      <Faults call={call} onSeek={show} />
      {!isChat && <Answers call={call} onSeek={show} />}
      <Tools call={call} onSeek={show} />
      <Values run={run} />
      <Usage run={run} />
      {run.is_completed && <Deliveries runId={run.id} />}
      <RawEvents run={address} isLive={isLive} />
    </Page>
  );
}

interface SoundProps {
  path: string;
  call: CallState;
  playhead: Playhead;
  player: ReturnType<typeof usePlayer>;
  isLive: boolean;
  seek: (atMs: number, isPlayed: boolean) => void;
  url: string | null;
}

/** The timeline and the player: the part of the page that moves while a call goes on. */
function Sound({ seek, url, player, ...shared }: SoundProps) {
  const [durationMs, setDurationMs] = useState(0);
  const endMs = useEnd(shared.call, durationMs, shared.isLive);
  const { playhead, isLive } = shared;
  return (
    <>
      <Timeline
        {...shared}
        hasSound={isLive || url !== null}
        endMs={endMs}
        onSeek={seek}
        onDuration={setDurationMs}
      />
      <PlayerBar {...{ player, playhead, endMs, isLive, url }} />
    </>
  );
}

function Length({ run, call, isLive }: HeaderProps) {
  const endMs = useEnd(call, 0, isLive);
  return formatDuration(isLive || run.duration === null ? endMs : run.duration * 1_000);
}

interface HeaderProps {
  run: Run;
  call: CallState;
  isLive: boolean;
}

function Header(props: HeaderProps) {
  const { run, isLive } = props;
  const duration = <Length {...props} />;
  const text = (name: string): string | undefined => {
    const value = run.initial_context?.[name];
    return typeof value === 'string' ? value : undefined;
  };
  const state = (
    <Badge tone={isLive ? 'info' : 'plain'}>{isLive ? 'live' : words(run.status)}</Badge>
  );
  const agent = <AgentLink id={run.workflow_id} />;
  return (
    <Section title="Facts">
      <Facts
        facts={[
          ['State', state],
          ['Agent', agent],
          ['Direction', run.call_type],
          ['From', text('caller_number')],
          ['To', text('called_number')],
          ['Provider', run.mode === 'textchat' ? 'text chat' : run.mode],
          ['Began', formatTime(run.started_at ?? run.created_at)],
          ['Length', duration],
          ['Result', run.disposition === null ? undefined : words(run.disposition)],
          ['Run', run.id],
        ]}
      />
    </Section>
  );
}

function AgentLink({ id }: { id: string }) {
  const { data } = api.useQuery(
    'get',
    '/api/v1/workflow/fetch/{workflow_id}',
    { params: { path: { workflow_id: id } } },
    { staleTime: Number.POSITIVE_INFINITY, retry: false },
  );
  return <Link href={`/agents/${id}`}>{data?.name ?? `Agent ${id}`}</Link>;
}

function titleOf({ name, call_type: type }: Run): string {
  return name === '' ? `${type} call` : name;
}

/** Links are absolute, with the gateway's public address; the console loads them from where it is itself. */
function localAddress(url: string): string {
  const { pathname, search } = new URL(url, location.origin);
  return `${pathname}${search}`;
}

/** Media time up to which the call is known; of a live call it moves with the clock. */
function useEnd(call: CallState, durationMs: number, isLive: boolean): number {
  const [now, setNow] = useState(() => Date.now());
  useEffect(() => {
    if (!isLive) return;
    const timer = setInterval(() => setNow(Date.now()), TICK_MS);
    return () => clearInterval(timer);
  }, [isLive]);
  const known = Math.max(call.lastMs, durationMs);
  if (!isLive || call.originAt === undefined) return known;
  return Math.max(known, now - call.originAt);
}

/** Moves everything to a moment, and keeps it in the address. */
function useSeek(
  playhead: Playhead,
  player: ReturnType<typeof usePlayer>,
  hasRecording: boolean,
): (atMs: number, isPlayed: boolean) => void {
  const latest = useRef(player);
  latest.current = player;
  const seek = useCallback(
    (atMs: number, isPlayed: boolean) => {
      playhead.set(atMs);
      history.replaceState(history.state, '', addressAt(atMs));
      latest.current.seek(atMs);
      if (isPlayed && hasRecording) latest.current.play();
    },
    [playhead, hasRecording],
  );
  useEffect(() => {
    const toMoment = () => {
      const atMs = momentIn(location.hash);
      if (atMs === undefined) return;
      playhead.set(atMs);
      latest.current.seek(atMs);
    };
    toMoment();
    window.addEventListener('hashchange', toMoment);
    return () => window.removeEventListener('hashchange', toMoment);
  }, [playhead]);
  return seek;
}
