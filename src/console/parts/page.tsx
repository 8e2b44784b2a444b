// The parts of every page: its title with actions, sections, facts, tables and tabs.

import { type ReactNode, useEffect } from 'react';
import { Link } from 'wouter';
import { Icon } from './icon.tsx';

/** A page with its title, which is also the window's. */
export function Page({
  title,
  back,
  actions,
  children,
}: {
  title: string;
  /** The page above this one. */
  back?: { href: string; name: string };
  actions?: ReactNode;
  children: ReactNode;
}) {
  useEffect(() => {
    document.title = `${title} · Patchbay`;
  }, [title]);
  return (
    <>
      <header className="page-header">
        <div>
          {back !== undefined && (
            <Link href={back.href} className="back">
              <Icon name="back" size={14} />
              {back.name}
            </Link>
          )}
          <h1>{title}</h1>
        </div>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </>
  );
}

export function Section({
  title,
  actions,
  children,
}: {
  title: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="section" aria-label={title}>
      <header>
        <h2>{title}</h2>
        {actions !== undefined && <div className="actions">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** Names with values; those without a value are left out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ReactNode])[] }) {
  return (
    <dl className="facts">
      {facts.map(([name, value]) =>
        value === null || value === undefined || value === '' ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

export interface Column<Row> {
  name: string;
  cell: (row: Row) => ReactNode;
  /** Numbers stand at the right. */
  isNumber?: boolean;
}

export function Table<Row>({
  caption,
  columns,
  rows,
  keyOf,
  empty,
  className,
}: {
  /** Says to screen readers what the table holds. */
  caption: string;
  columns: readonly Column<Row>[];
  rows: readonly Row[];
  keyOf: (row: Row) => string;
  /** Shown instead of no rows. */
  empty: ReactNode;
  /** Of the table, for another form on a telephone. */
  className?: string;
}) {
  if (rows.length === 0) return <div className="empty">{empty}</div>;
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reached by the keyboard
    <section className="table-scroll" aria-label={caption} tabIndex={0}>
      <table className={className}>
        <caption className="hidden">{caption}</caption>
        <thead>
          <tr>
            {columns.map(({ name, isNumber }) => (
              <th key={name} scope="col" data-number={isNumber}>
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={keyOf(row)}>
              {columns.map(({ name, cell, isNumber }) => (
                <td key={name} data-name={name} data-number={isNumber}>
                  {cell(row)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}

/** Links to the parts of a page, each with an address of its own. */
export function Tabs({
  tabs,
  at,
}: {
  tabs: readonly { href: string; name: string }[];
  at: string;
}) {
  return (
    <nav className="tabs" aria-label="Parts of this page">
      {tabs.map(({ href, name }) => (
        <Link key={href} href={href} aria-current={href === at ? 'page' : undefined}>
          {name}
        </Link>
      ))}
    </nav>
  );
}
