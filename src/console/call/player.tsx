// The recording of a call: played from the moment of the page, which moves with it.

import { type RefObject, useEffect, useRef, useState } from 'react';
import { CopyButton } from '../parts/copy.tsx';
import { Icon } from '../parts/icon.tsx';
import { formatMoment } from './call-export.ts';
import { addressAt, type Playhead, useAtPlayhead } from './playhead.ts';

const SPEEDS = [0.75, 1, 1.25, 1.5, 2];

export interface Player {
  audio: RefObject<HTMLAudioElement | null>;
  isPlaying: boolean;
  fault: string | undefined;
  play: () => void;
  pause: () => void;
  /** Moves the recording, if there is one. */
  seek: (atMs: number) => void;
  fail: () => void;
}

export function usePlayer(playhead: Playhead): Player {
  const audio = useRef<HTMLAudioElement>(null);
  const [isPlaying, setPlaying] = useState(false);
  const [fault, setFault] = useState<string>();
  useEffect(() => {
    if (!isPlaying) return;
    let frame = 0;
    const move = () => {
      const { current } = audio;
      if (current !== null) playhead.set(current.currentTime * 1_000);
      frame = requestAnimationFrame(move);
    };
    frame = requestAnimationFrame(move);
    return () => cancelAnimationFrame(frame);
  }, [isPlaying, playhead]);
  const play = () => {
    setFault(undefined);
    const started = audio.current?.play();
    started?.then(
      () => setPlaying(true),
      (error: Error) => error.name !== 'AbortError' && setFault(error.message),
    );
  };
  const pause = () => {
    audio.current?.pause();
    setPlaying(false);
  };
  const seek = (atMs: number) => {
    if (audio.current !== null) audio.current.currentTime = atMs / 1_000;
  };
  const fail = () => {
    setPlaying(false);
    setFault(
      'The recording cannot be loaded. Load the page again: links to recordings end after an hour.',
    );
  };
  return { audio, isPlaying, fault, play, pause, seek, fail };
}

export function PlayerBar({
  player,
  playhead,
  url,
  endMs,
  isLive,
}: {
  player: Player;
  playhead: Playhead;
  /** Of the recording; null: there is none (yet). */
  url: string | null;
  endMs: number;
  isLive: boolean;
}) {
  const { audio, isPlaying, fault, play, pause, seek, fail } = player;
  const start = () => {
    const atMs = playhead.atMs ?? 0;
    seek(atMs >= endMs - 100 ? 0 : atMs);
    play();
  };
  return (
    <div className="player">
      {url !== null && (
        <>
          {/* biome-ignore lint/a11y/useMediaCaption: the transcript of the page is the caption */}
          <audio
            ref={audio}
            src={url}
            preload="metadata"
            onEnded={pause}
            onError={fail}
            onPause={({ currentTarget }) => currentTarget.ended || pause()}
          />
          <button type="button" className="primary" onClick={isPlaying ? pause : start}>
            <Icon name={isPlaying ? 'pause' : 'play'} size={14} />
            {isPlaying ? 'Pause' : 'Play'}
          </button>
          <Speed audio={audio} />
        </>
      )}
      {isLive && <FollowButton playhead={playhead} />}
      <Moment playhead={playhead} endMs={endMs} />
      {fault !== undefined && <p className="field-error">{fault}</p>}
    </div>
  );
}

function Speed({ audio }: Pick<Player, 'audio'>) {
  return (
    <select
      aria-label="Speed"
      defaultValue="1"
      onChange={({ target }) => {
        if (audio.current !== null) audio.current.playbackRate = Number(target.value);
      }}
    >
      {SPEEDS.map((speed) => (
        <option key={speed} value={speed}>
          {speed}×
        </option>
      ))}
    </select>
  );
}

function FollowButton({ playhead }: { playhead: Playhead }) {
  const isFollowing = useAtPlayhead(playhead, (atMs) => atMs === undefined);
  return (
    <button type="button" aria-pressed={isFollowing} onClick={() => playhead.set(undefined)}>
      <Icon name="live" size={14} />
      {isFollowing ? 'Following' : 'Follow'}
    </button>
  );
}

/** The moment in words, and a link to it. */
function Moment({ playhead, endMs }: { playhead: Playhead; endMs: number }) {
  const atMs = useAtPlayhead(playhead, (at) =>
    at === undefined ? undefined : Math.floor(at / 100) * 100,
  );
  return (
    <>
      <span className="moment">
        {formatMoment(atMs ?? endMs)} / {formatMoment(endMs)}
      </span>
      <CopyButton text={addressAt(atMs)} label="Copy link to this moment" />
    </>
  );
}
