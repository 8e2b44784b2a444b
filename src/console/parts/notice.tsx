// What a page says about itself: a notice, an error with its way out, waiting, and a query's answer.

import type { UseQueryResult } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { textOf } from '../api/errors.ts';
import { Icon, type IconName } from './icon.tsx';

export type Tone = 'good' | 'bad' | 'warn' | 'info' | 'plain';

const ICONS: Readonly<Record<Tone, IconName>> = {
  good: 'check',
  bad: 'alert',
  warn: 'alert',
  info: 'info',
  plain: 'info',
};

export function Notice({ tone, children }: { tone: Tone; children: ReactNode }) {
  return (
    <div className="notice" data-tone={tone} role={tone === 'bad' ? 'alert' : 'status'}>
      <Icon name={ICONS[tone]} />
      <div>{children}</div>
    </div>
  );
}

export function Busy({ label = 'Loading' }: { label?: string }) {
  return (
    <p className="busy" role="status">
      {label} …
    </p>
  );
}

/** A state by its colour and its word. */
export function Badge({ tone = 'plain', children }: { tone?: Tone; children: ReactNode }) {
  return (
    <span className="badge" data-tone={tone}>
      {children}
    </span>
  );
}

/** Shows a query's answer, or that it is awaited, or its error with a button to ask again. */
export function Loaded<Data>({
  query,
  children,
}: {
  query: Pick<UseQueryResult<Data, unknown>, 'data' | 'error' | 'refetch'>;
  children: (data: Data) => ReactNode;
}) {
  const { data, error, refetch } = query;
  return (
    <>
      {error !== null && error !== undefined && (
        <Notice tone="bad">
          {textOf(error)}{' '}
          <button type="button" className="link" onClick={() => void refetch()}>
            Try again
          </button>
        </Notice>
      )}
      {data === undefined ? (error === null || error === undefined) && <Busy /> : children(data)}
    </>
  );
}
