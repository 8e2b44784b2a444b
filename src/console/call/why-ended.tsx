// Why the call ended, on top of an ended one: the verdict in words, what proves it, and what to do.

import { api } from '../api/client.ts';
import type { paths } from '../api/schema.d.ts';
import { words } from '../format.ts';
import { Badge, Loaded, type Tone } from '../parts/notice.tsx';
import { Section } from '../parts/page.tsx';
import { formatMoment } from './call-export.ts';
import type { RunAddress } from './event-log.ts';

export function WhyEnded({ run, onSeek }: { run: RunAddress; onSeek: (atMs: number) => void }) {
  const query = api.useQuery('get', '/api/v1/workflow/{workflow_id}/runs/{run_id}/why', {
    params: { path: run },
  });
  return (
    <Section title="Why it ended">
      <Loaded query={query}>
        {(why) => (
          <>
            <Finding finding={why} onSeek={onSeek} />
            {why.also.length > 0 && (
              <>
                <h3>Also</h3>
                <ul className="findings">
                  {why.also.map((finding) => (
                    <li key={`${finding.verdict}-${finding.summary}`}>
                      <Finding finding={finding} onSeek={onSeek} />
                    </li>
                  ))}
                </ul>
              </>
            )}
            {why.events.read < why.events.total && (
              <p className="hint">
                From {why.events.read} of {why.events.total} events.
              </p>
            )}
          </>
        )}
      </Loaded>
    </Section>
  );
}

type Answer = paths['/api/v1/workflow/{workflow_id}/runs/{run_id}/why']['get']['responses']['200'];
type Found = Omit<Answer['content']['application/json'], 'also' | 'is_final' | 'events'>;

function Finding({ finding, onSeek }: { finding: Found; onSeek: (atMs: number) => void }) {
  const { verdict, party, summary, where, evidence, advice } = finding;
  return (
    <div className="finding">
      <p>
        <Badge tone={toneOf(party)}>{party === 'nobody' ? 'as it should' : party}</Badge>{' '}
        <strong>{summary}</strong> <span className="hint">{words(verdict)}</span>
      </p>
      {where.at_ms !== null && (
        <button type="button" className="link" onClick={() => onSeek(where.at_ms ?? 0)}>
          Go to {formatMoment(where.at_ms)}
          {where.node_name !== null && `, ${where.node_name}`}
        </button>
      )}
      {advice.length > 0 && (
        <ul className="why-advice">
          {advice.map((text) => (
            <li key={text}>{text}</li>
          ))}
        </ul>
      )}
      {evidence.length > 0 && (
        <details>
          <summary>What proves it ({evidence.length})</summary>
          <ol className="evidence">
            {evidence.map(({ id, at_ms, type, text }) => (
              <li key={id}>
                <button type="button" className="link" onClick={() => onSeek(at_ms)}>
                  {formatMoment(at_ms)}
                </button>{' '}
                <code>{type}</code> {text}
              </li>
            ))}
          </ol>
        </details>
      )}
    </div>
  );
}

function toneOf(party: Found['party']): Tone {
  if (party === 'nobody') return 'good';
  return party === 'caller' || party === 'unknown' ? 'plain' : 'bad';
}
