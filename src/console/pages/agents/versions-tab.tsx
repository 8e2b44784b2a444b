// The versions of an agent: the list, one version to look at, and what differs between two. A draft is published, and an
// old version comes back, here.

import { useState } from 'react';
import { Link, useLocation } from 'wouter';
import { api, client, type Schema } from '../../api/client.ts';
import { formatTime, formatValue } from '../../format.ts';
import { Confirm } from '../../parts/dialog.tsx';
import { SelectField } from '../../parts/field.tsx';
import { Icon } from '../../parts/icon.tsx';
import { Badge, Loaded, Notice, type Tone } from '../../parts/notice.tsx';
import { type Column, Facts, Section, Table } from '../../parts/page.tsx';
import { agentsChanged } from './agents-changed.ts';
import { contentOf } from './content.ts';
import { GraphTab } from './graph-tab.tsx';
import { VersionDiff } from './version-diff.tsx';

type Version = Schema<'WorkflowVersionResponse'>;

/** Versions that are read: each has its whole graph. */
const VERSIONS_MAX = 50;
const TONES: Readonly<Record<Version['status'], Tone>> = {
  draft: 'info',
  published: 'good',
  archived: 'plain',
};

/** `parts` of the address after `/versions`: none, `VERSION`, or `VERSION/compare/OTHER`, by ids. */
export function VersionsTab({ agentId, parts }: { agentId: string; parts: readonly string[] }) {
  const [versionId, word, otherId] = parts;
  if (versionId === undefined || versionId === '') return <VersionList agentId={agentId} />;
  if (word === 'compare' && otherId !== undefined)
    return <Comparison agentId={agentId} beforeId={versionId} afterId={otherId} />;
  return <OneVersion agentId={agentId} versionId={versionId} />;
}

function VersionList({ agentId }: { agentId: string }) {
  const versions = api.useQuery('get', '/api/v1/workflow/{workflow_id}/versions', {
    params: { path: { workflow_id: agentId }, query: { limit: VERSIONS_MAX } },
  });
  const [asked, setAsked] = useState<{ what: 'publish' | 'restore'; version: Version }>();
  return (
    <Loaded query={versions}>
      {(all) => {
        const published = all.find(({ status }) => status === 'published');
        const onAsk = (what: 'publish' | 'restore', version: Version) =>
          setAsked({ what, version });
        return (
          <>
            <Table
              caption="Versions"
              columns={columnsOf({ agentId, published, onAsk })}
              rows={all}
              keyOf={({ id }) => id}
              empty="This agent has no version."
            />
            {all.length === VERSIONS_MAX && (
              <Notice tone="info">{`The newest ${VERSIONS_MAX} versions are shown.`}</Notice>
            )}
            {all.length > 1 && <CompareForm agentId={agentId} versions={all} />}
            {asked !== undefined && (
              <AskVersion
                agentId={agentId}
                hasDraft={all.some(({ status }) => status === 'draft')}
                {...asked}
                onClose={() => setAsked(undefined)}
              />
            )}
          </>
        );
      }}
    </Loaded>
  );
}

function columnsOf({
  agentId,
  published,
  onAsk,
}: {
  agentId: string;
  published: Version | undefined;
  onAsk: (what: 'publish' | 'restore', version: Version) => void;
}): Column<Version>[] {
  const root = `/agents/${agentId}/versions`;
  return [
    {
      name: 'Version',
      cell: ({ id, version_number: number }) => (
        <Link href={`${root}/${id}`}>Version {number}</Link>
      ),
    },
    { name: 'Status', cell: ({ status }) => <Badge tone={TONES[status]}>{status}</Badge> },
    { name: 'Created', cell: ({ created_at: at }) => formatTime(at) },
    {
      name: 'Published',
      cell: ({ published_at: at }) => (at === null ? 'never' : formatTime(at)),
    },
    {
      name: 'Actions',
      cell: (version) => (
        <div className="actions">
          {version.status === 'draft' && (
            <button type="button" className="primary" onClick={() => onAsk('publish', version)}>
              Publish
            </button>
          )}
          {version.status === 'archived' && (
            <button type="button" onClick={() => onAsk('restore', version)}>
              Roll back to {version.version_number}
            </button>
          )}
          {published !== undefined && published.id !== version.id && (
            <Link
              className="button"
              href={`${root}/${inOrder(published, version)
                .map(({ id }) => id)
                .join('/compare/')}`}
            >
              Compare with {published.version_number}
            </Link>
          )}
        </div>
      ),
    },
  ];
}

function inOrder(one: Version, other: Version): [Version, Version] {
  return one.version_number < other.version_number ? [one, other] : [other, one];
}

function CompareForm({ agentId, versions }: { agentId: string; versions: readonly Version[] }) {
  const [before, setBefore] = useState(versions[1]?.id ?? '');
  const [after, setAfter] = useState(versions[0]?.id ?? '');
  const [, navigate] = useLocation();
  const options = versions.map(({ id, version_number: number, status }) => ({
    value: id,
    label: `${number} (${status})`,
  }));
  return (
    <form
      className="filters compare-form"
      onSubmit={(event) => {
        event.preventDefault();
        navigate(`/agents/${agentId}/versions/${before}/compare/${after}`);
      }}
    >
      <SelectField
        label="From version"
        value={before}
        options={options}
        onChange={({ target }) => setBefore(target.value)}
      />
      <SelectField
        label="To version"
        value={after}
        options={options}
        onChange={({ target }) => setAfter(target.value)}
      />
      <button type="submit">Compare</button>
    </form>
  );
}

function AskVersion({
  agentId,
  what,
  version: { id, version_number: number },
  hasDraft,
  onClose,
}: {
  agentId: string;
  what: 'publish' | 'restore';
  version: Version;
  hasDraft: boolean;
  onClose: () => void;
}) {
  const path = { workflow_id: agentId };
  const publish = async () => {
    try {
      await client.POST('/api/v1/workflow/{workflow_id}/publish', { params: { path } });
    } finally {
      await agentsChanged();
    }
  };
  if (what === 'publish')
    return (
      <Confirm
        title={`Publish version ${number}?`}
        action="Publish"
        onConfirm={publish}
        onClose={onClose}
      >
        <p>New calls use it. Active calls keep the version they have.</p>
      </Confirm>
    );
  const restore = async () => {
    await client.POST('/api/v1/workflow/{workflow_id}/versions/{version_id}/restore', {
      params: { path: { ...path, version_id: id } },
    });
    await publish();
  };
  return (
    <Confirm
      title={`Roll back to version ${number}?`}
      action="Roll back"
      onConfirm={restore}
      onClose={onClose}
    >
      <p>
        Its graph, settings and variables become a new version, which is published at once. Active
        calls keep the version they have.
      </p>
      {hasDraft && (
        <Notice tone="warn">There is a draft: what it changes is lost. Export it first.</Notice>
      )}
    </Confirm>
  );
}

function useVersion(agentId: string, versionId: string) {
  return api.useQuery('get', '/api/v1/workflow/{workflow_id}/versions/{version_id}', {
    params: { path: { workflow_id: agentId, version_id: versionId } },
  });
}

function OneVersion({ agentId, versionId }: { agentId: string; versionId: string }) {
  const version = useVersion(agentId, versionId);
  return (
    <Loaded query={version}>
      {(loaded) => {
        const { definition, settings, variables } = contentOf(loaded);
        return (
          <>
            <h2 className="part-title">
              Version {loaded.version_number}{' '}
              <Badge tone={TONES[loaded.status]}>{loaded.status}</Badge>
            </h2>
            <GraphTab definition={definition} />
            <Values title="Settings" values={settings} empty="All settings have their defaults." />
            <Values title="Variables" values={variables} empty="No variable has a value." />
          </>
        );
      }}
    </Loaded>
  );
}

function Values({
  title,
  values,
  empty,
}: {
  title: string;
  values: Readonly<Record<string, unknown>>;
  empty: string;
}) {
  const entries = Object.entries(values);
  return (
    <Section title={title}>
      {entries.length === 0 && <p className="hint">{empty}</p>}
      <Facts facts={entries.map(([name, value]) => [name, formatValue(value)] as const)} />
    </Section>
  );
}

function Comparison({
  agentId,
  beforeId,
  afterId,
}: {
  agentId: string;
  beforeId: string;
  afterId: string;
}) {
  const before = useVersion(agentId, beforeId);
  const after = useVersion(agentId, afterId);
  return (
    <Loaded query={before}>
      {(old) => (
        <Loaded query={after}>
          {(changed) => (
            <>
              <Link href={`/agents/${agentId}/versions`} className="back">
                <Icon name="back" size={14} />
                All versions
              </Link>
              <h2 className="part-title">
                From version {old.version_number} ({old.status}) to {changed.version_number} (
                {changed.status})
              </h2>
              <VersionDiff before={contentOf(old)} after={contentOf(changed)} />
            </>
          )}
        </Loaded>
      )}
    </Loaded>
  );
}
