// What was said and what happened, line by line. A line moves the page to its moment.

import { memo, useEffect, useRef } from 'react';
import { formatMoment } from './call-export.ts';
import { type CallState, type Line, lineAt } from './call-state.ts';
import { type Playhead, useAtPlayhead } from './playhead.ts';

const NAMES: Readonly<Record<Line['kind'], string>> = {
  caller: 'Caller',
  agent: 'Agent',
  keys: 'Keys',
  sent: 'Keys sent',
  node: 'Node',
  interruption: 'Interruption',
  tool: 'Tool',
  fault: 'Fault',
};
/** Lines whose layout and painting the browser leaves out together while they are out of sight. */
const BLOCK_LINES = 50;
/** Height of a line that was never in sight, in pixels. */
const LINE_HEIGHT = 48;

export function Transcript({
  call,
  playhead,
  isLive,
  onSeek,
}: {
  call: CallState;
  playhead: Playhead;
  isLive: boolean;
  onSeek: (atMs: number) => void;
}) {
  const log = useRef<HTMLDivElement>(null);
  const here = useAtPlayhead(playhead, (atMs) =>
    atMs === undefined ? undefined : lineAt(call, atMs)?.id,
  );
  const isFollowing = useAtPlayhead(playhead, (atMs) => atMs === undefined) && isLive;
  const count = call.lines.length;
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new line, or other interim words, scroll to the end
  useEffect(() => {
    if (isFollowing) log.current?.scrollTo({ top: log.current.scrollHeight });
  }, [isFollowing, count, call.interim]);
  useEffect(() => {
    const row = log.current?.querySelector<HTMLElement>(`[data-line="${here}"]`);
    if (row && log.current) scrollTo(log.current, row);
  }, [here]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reached by the keyboard
    <div ref={log} className="transcript" role="log" aria-label="Transcript" tabIndex={0}>
      {count === 0 && (
        <p className="empty">
          {call.isOver ? 'Nothing was said in this call.' : 'Nothing was said yet.'}
        </p>
      )}
      {blocksOf(call.lines).map((lines, index) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: a block is a place, through which lines move
          key={index}
          className="line-block"
          style={{ containIntrinsicHeight: `auto ${lines.length * LINE_HEIGHT}px` }}
        >
          {lines.map((line) => (
            <Row key={line.id} line={line} isHere={line.id === here} onSeek={onSeek} />
          ))}
        </div>
      ))}
      {call.interim !== '' && (
        <p className="line" data-kind="caller">
          <span className="line-who">Caller …</span> <em>{call.interim}</em>
        </p>
      )}
    </div>
  );
}

function blocksOf(lines: readonly Line[]): (readonly Line[])[] {
  return Array.from({ length: Math.ceil(lines.length / BLOCK_LINES) }, (_, index) =>
    lines.slice(index * BLOCK_LINES, (index + 1) * BLOCK_LINES),
  );
}

interface RowProps {
  line: Line;
  isHere: boolean;
  onSeek: (atMs: number) => void;
}

const Row = memo(function LineRow({ line, isHere, onSeek }: RowProps) {
  const { id, kind, atMs, text, unheard } = line;
  return (
    <button
      type="button"
      className="line"
      data-line={id}
      data-kind={kind}
      aria-current={isHere ? 'true' : undefined}
      onClick={() => onSeek(atMs)}
    >
      <span className="line-who">
        <time>{formatMoment(atMs)}</time> {NAMES[kind]}
      </span>
      <span className="line-text">
        {text}
        {unheard !== undefined && (
          <>
            {' '}
            <span className="hidden">Not heard by the caller:</span>
            <del>{unheard}</del>
          </>
        )}
        {line.isInterrupted === true && <em className="line-note"> interrupted</em>}
      </span>
    </button>
  );
});

/** Scrolls the log alone: the page stays where it is. */
function scrollTo(log: HTMLElement, row: HTMLElement): void {
  const { top, bottom } = row.getBoundingClientRect();
  const frame = log.getBoundingClientRect();
  if (top >= frame.top && bottom <= frame.bottom) return;
  log.scrollTo({ top: log.scrollTop + top - frame.top - log.clientHeight / 3 });
}
