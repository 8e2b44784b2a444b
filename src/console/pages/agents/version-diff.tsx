// What differs between two versions, as a page shows it: by its sign and its word, and by colour only beside them.

import { useMemo } from 'react';
import { counted, words } from '../../format.ts';
import { Badge, Notice, type Tone } from '../../parts/notice.tsx';
import { Section } from '../../parts/page.tsx';
import {
  type AgentContent,
  type DiffLine,
  diffAgents,
  type FieldDiff,
  type ItemDiff,
  isEmpty,
} from './agent-diff.ts';

const TONES: Readonly<Record<ItemDiff['change'], Tone>> = {
  added: 'good',
  removed: 'bad',
  changed: 'info',
};
const SIGNS = { same: ' ', removed: '−', added: '+' } as const;

export function VersionDiff({ before, after }: { before: AgentContent; after: AgentContent }) {
  const diff = useMemo(() => diffAgents(before, after), [before, after]);
  if (isEmpty(diff))
    return (
      <Notice tone="info">The two versions are equal, but for the places of their nodes.</Notice>
    );
  return (
    <>
      <Items title="Nodes" items={diff.nodes} />
      <Items title="Edges" items={diff.edges} />
      <FieldSection title="Settings" fields={diff.settings} />
      <FieldSection title="Variables" fields={diff.variables} />
    </>
  );
}

function Items({ title, items }: { title: string; items: readonly ItemDiff[] }) {
  if (items.length === 0) return null;
  return (
    <Section title={title}>
      {items.map(({ id, name, change, fields }) => (
        <article key={id} className="diff-item">
          <h3>
            {name} <Badge tone={TONES[change]}>{change}</Badge>
          </h3>
          <Fields fields={fields} />
        </article>
      ))}
    </Section>
  );
}

function FieldSection({ title, fields }: { title: string; fields: readonly FieldDiff[] }) {
  if (fields.length === 0) return null;
  return (
    <Section title={title}>
      <Fields fields={fields} />
    </Section>
  );
}

function Fields({ fields }: { fields: readonly FieldDiff[] }) {
  return fields.map(({ name, lines }) => (
    <div key={name} className="diff-field">
      <h4>{words(name)}</h4>
      <div className="diff">
        {lines.map((line, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the lines of a comparison do not move
          <Line key={index} line={line} />
        ))}
      </div>
    </div>
  ));
}

function Line({ line }: { line: DiffLine }) {
  if (line.kind === 'skipped')
    return (
      <p className="diff-line" data-kind="skipped">
        {counted(line.count, 'equal line')}
      </p>
    );
  const { kind, words: pieces } = line;
  return (
    <p className="diff-line" data-kind={kind}>
      <span className="diff-sign" aria-hidden="true">
        {SIGNS[kind]}
      </span>
      <span>
        {kind !== 'same' && <span className="hidden">{kind}: </span>}
        {pieces.map(({ text, isChanged }, index) =>
          isChanged && pieces.length > 1 ? (
            // biome-ignore lint/suspicious/noArrayIndexKey: the words of a comparison do not move
            <mark key={index}>{text}</mark>
          ) : (
            text
          ),
        )}
      </span>
    </p>
  );
}
